#ifndef FORCES_BACKEND_H
#define FORCES_BACKEND_H

#include "forces/arguments.h"
#include "forces/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What forces need of a device beyond device/services.h, whose contract holds here too. */
struct forces_backend {
    /* All-pairs forces: forces/problem.h says what. */
    kith_status (*evaluate)(kith_context *context, const struct forces_problem *problem);

    /* The whole of kith_forces_compute for checked arguments in the device's memory: packed, solved
     * and unpacked there, on its stream. Nothing waits, and a second call with the same sizes
     * allocates nothing, but for the solvers of trees, whose sizes are those of what they find. A
     * number that is not finite makes all results NaN and is a deferred error. NULL where that
     * memory is the host's. */
    kith_status (*evaluate_in_place)(kith_context *context,
                                     const struct forces_arguments *arguments);

    const struct forces_tree_backend *trees; /* forces/tree_sums.h */
    const struct cutoff_backend *cutoff;     /* forces/cutoff.h; NULL: the host's functions */
};

/* The context's. */
const struct forces_backend *forces_backend_of(const kith_context *context);

#ifdef __cplusplus
}
#endif

#endif
