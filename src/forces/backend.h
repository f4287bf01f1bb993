#ifndef FORCES_BACKEND_H
#define FORCES_BACKEND_H

#include "forces/arguments.h"
#include "forces/excluded_cuda.h"
#include "forces/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of a device for forces beyond device/services.h, whose contract applies. */
struct forces_backend {
    /* All-pairs forces: see forces/problem.h. */
    kith_status (*evaluate)(kith_context *context, const struct forces_problem *problem);

    /* The whole of kith_forces_compute for checked arguments in the device's memory: packed, solved
     * and unpacked there, on its stream. Nothing waits, and a second call with the same sizes
     * allocates nothing, except for the tree solvers, whose sizes depend on the positions. NaN or
     * infinity in the input makes all results NaN and is a deferred error. NULL if the device uses
     * the host's memory. */
    kith_status (*evaluate_in_place)(kith_context *context,
                                     const struct forces_arguments *arguments);
    /* Where, in the device's memory, it is that numbers are not finite. */
    const bool *(*bad_of)(const struct forces_measured *measured);

    const struct forces_tree_backend *trees; /* forces/tree_sums.h */
    const struct cutoff_backend *cutoff;     /* forces/cutoff.h; NULL: the host's functions */
    const struct pme_backend *pme;           /* mesh/pme.h; NULL: the host's functions */
    /* forces/excluded_cuda.h; NULL likewise */
    kith_status (*take_excluded)(kith_context *context, const struct forces_problem *problem,
                                 struct excluded_cuda *excluded);
    void (*free_excluded)(kith_context *context, struct excluded_cuda *excluded);
};

/* The context's. */
const struct forces_backend *forces_backend_of(const kith_context *context);

#ifdef __cplusplus
}
#endif

#endif
