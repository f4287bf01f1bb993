#ifndef COLLISIONS_BACKEND_H
#define COLLISIONS_BACKEND_H

#include "lattice/problem.h"

struct collisions_promise_state;

/* The functions of a backend for this room; the contract of device/services.h applies. Every
 * backend accepts beads on the host and copies them. */
struct collisions_backend {
    /* Counts by a method, and waits. on_host: the beads are on the host. */
    kith_status (*count)(kith_context *context, const struct collisions_problem *problem,
                         bool on_host, kith_collisions_method method, int64_t *count);

    /* The method that KITH_COLLISIONS_AUTO selects. */
    kith_status (*choose)(kith_context *context, const struct collisions_problem *problem,
                          bool on_host, kith_collisions_method *method);

    /* The functions of a promise; release waits if necessary. */
    kith_status (*launch)(kith_context *context, const struct collisions_problem *problem,
                          bool on_host, kith_collisions_method method,
                          struct collisions_promise_state **state);
    kith_status (*fetch)(kith_context *context, struct collisions_promise_state *state,
                         int64_t *count);
    void (*release)(kith_context *context, struct collisions_promise_state *state);

    /* All conformations of a checked batch; everything in it is on the host, or nothing but
     * hydrophobic is. */
    kith_status (*batch)(kith_context *context, const struct collisions_batch_problem *problem,
                         bool on_host);
};

extern const struct collisions_backend collisions_cpu;
#ifdef KITH_HAS_CUDA
extern const struct collisions_backend collisions_cuda;
#endif

/* The context's. */
const struct collisions_backend *collisions_backend_of(const kith_context *context);

#endif
