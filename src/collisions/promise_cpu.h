#ifndef COLLISIONS_PROMISE_CPU_H
#define COLLISIONS_PROMISE_CPU_H

#include "collisions/backend.h"

/* Promises on the CPU: a context's worker thread, started by its first launch, computes them in
 * their order, with a context of its own. */
struct collisions_worker;

kith_status collisions_launch_cpu(kith_context *context, const struct collisions_problem *problem,
                                  bool on_host, kith_collisions_method method,
                                  struct collisions_promise_state **state);
kith_status collisions_fetch_cpu(kith_context *context, struct collisions_promise_state *state,
                                 int64_t *count);
void collisions_release_cpu(kith_context *context, struct collisions_promise_state *state);

/* Ends the thread, after the promise that it is computing; NULL is fine. */
void collisions_worker_free(struct collisions_worker *worker);

#endif
