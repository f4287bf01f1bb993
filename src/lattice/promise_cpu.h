#ifndef COLLISIONS_PROMISE_CPU_H
#define COLLISIONS_PROMISE_CPU_H

#include "lattice/backend.h"

/* Promises on the CPU: a context's worker thread, started by its first launch, computes them in
 * their order, with a context of its own. */
kith_status collisions_launch_cpu(kith_context *context, const struct collisions_problem *problem,
                                  bool on_host, kith_collisions_method method,
                                  struct collisions_promise_state **state);
kith_status collisions_fetch_cpu(kith_context *context, struct collisions_promise_state *state,
                                 int64_t *count);
void collisions_release_cpu(kith_context *context, struct collisions_promise_state *state);

#endif
