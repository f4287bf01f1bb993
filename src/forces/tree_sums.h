#ifndef FORCES_TREE_SUMS_H
#define FORCES_TREE_SUMS_H

#include "forces/problem.h"
#include "forces/weights.h"
#include "tree/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A problem of forces as sums that trees solve. */
struct forces_tree_sums {
    const struct forces_problem *problem;
    struct forces_weights weights;
    struct tree_problem sums; /* without the softening, which is in the device's memory */
    struct tree_request wanted;
};

/* What the solvers tree and fmm need of a device. */
struct forces_tree_backend {
    /* *state = memory that is kept from call to call, in the host's memory; free it with free(). */
    kith_status (*prepare)(void **state);

    /* Fills in the problem's outputs, or adds to them, and reports the settings and the work. */
    kith_status (*evaluate)(kith_context *context, const struct forces_tree_sums *sums, void *state,
                            struct tree_report *report);
    void (*free)(kith_context *context, void *state);
    bool (*may_keep)(void *state); /* for any later problem, in the context; NULL: no */
};

extern const struct forces_tree_backend forces_tree_cpu, forces_tree_cuda;

#ifdef __cplusplus
}
#endif

#endif
