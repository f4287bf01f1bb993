#ifndef TREE_SOLVE_H
#define TREE_SOLVE_H

/* The stages of tree_solve_cpu. */

#include "tree/branches_ranks.h"
#include "tree/law_bins.h"
#include "tree/near_kernel.h"
#include "tree/near_law_problem.h"
#include "tree/softening.h"
#include "tree/tree.h"
#include "tree/walk.h"

/* Fills in the scales F and Φ of every target cell: lower bounds, to some percent, of max(|∇φ_i|,
 * 0.1 Σ_j |∇φ_ij|) and of Σ_j |φ_ij| (by the logarithm Σ_j |w_j|) at its points, from the weights
 * of cells found by a separate walk; nothing is kept from call to call.
 *
 *   branches  of the targets, over ranks, all of whom get the scales; NULL: one process
 *   bins      of the law, or NULL
 *   softenings of the targets and the sources */
kith_status tree_find_field_cpu(kith_context *context, const struct tree_problem *problem,
                                const struct tree_sides *targets, const struct tree_sides *sources,
                                const struct tree_branches *branches,
                                const struct tree_law_bins *bins,
                                const struct tree_softenings *const softenings[2],
                                struct tree_side *target_side);

/* The expansions of a problem. Record k is that of source cell k; those of the target cells begin
 * at target_record, which is 0 if the targets are the sources. */
struct tree_expansions {
    const struct expansion_operators *operators;
    struct expansion expansion;
    kith_dtype dtype;
    int32_t target_record;
    void *records, *locals;
    double *power;                               /* of the sources, for tree_error */
    bool points;                                 /* far cells act as points */
    const struct tree_softenings *softenings[2]; /* of the targets and the sources */
    /* Of a law that is neither 1/s nor ln s: its near kernel, and what that reads. */
    tree_near_law_kernel *near_law;
    struct tree_near_law near;
};

/* The multipoles of all sources, from the leaves to the root, and their powers.
 *
 *   branches  of the sources, over ranks, all of whom get the multipoles; NULL: one process */
kith_status tree_expand_cpu(kith_context *context, const struct octree *sources,
                            const struct tree_side *side, const struct tree_branches *branches,
                            struct tree_expansions *expansions);

/* The near kernels of the context's instruction set. */
const struct tree_near_kernels *tree_near_kernels_of(const kith_context *context);

/* Over ranks, before the force pass: the pairs that it will find in each branch, into
 * branches->counts. */
kith_status tree_count_cpu(kith_context *context, const struct tree_rule *rule,
                           const struct tree_sides *targets, const struct tree_sides *sources,
                           const struct tree_branches *branches);

/* The force pass: every far and near pair, into state->potential and gradient.
 *
 *   branches  of the targets, over ranks, all of whom get the results; NULL: one process */
kith_status tree_sum_cpu(kith_context *context, const struct tree_problem *problem,
                         const struct tree_rule *rule, const struct tree_sides *targets,
                         const struct tree_sides *sources, const struct tree_branches *branches,
                         const struct tree_expansions *expansions, struct tree_state *state,
                         struct tree_counts *counts);

/* The error of the gradients in state (tree/estimate.h), by the direct sum at a few targets. */
kith_status tree_estimate_cpu(kith_context *context, const struct tree_problem *problem,
                              const struct tree_sides *targets,
                              const struct tree_expansions *expansions,
                              const struct tree_state *state, double *error);

#endif
