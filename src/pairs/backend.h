#ifndef PAIRS_BACKEND_H
#define PAIRS_BACKEND_H

#include "pairs/problem.h"
#include "pairs/verlet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of a device for pairs beyond device/services.h, whose contract applies. */
struct pairs_backend {
    /* Pairs nearer than a cutoff, or the nearest: see pairs/problem.h, and pairs/list.h for how the
     * list is made. */
    kith_status (*list)(kith_context *context, const struct pairs_problem *problem,
                        kith_pairs *pairs);

    /* Lists that are kept, of arrays in the device's memory: see pairs/verlet.h. */
    const struct pairs_verlet *verlet;
};

/* The context's. */
const struct pairs_backend *pairs_backend_of(const kith_context *context);

#ifdef __cplusplus
}
#endif

#endif
