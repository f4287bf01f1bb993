#ifndef TREE_SOLVE_H
#define TREE_SOLVE_H

/* The stages of tree_solve_cpu. */

#include "tree/essential_ranks.h"
#include "tree/law_bins.h"
#include "tree/near_kernel.h"
#include "tree/near_law_problem.h"
#include "tree/softening.h"
#include "tree/tree.h"
#include "tree/walk.h"
#include "tree/work_ranks.h"

/* Fills in the scales F and Φ of every target cell: lower bounds, to some percent, of max(|∇φ_i|,
 * 0.1 Σ_j |∇φ_ij|) and of Σ_j |φ_ij| (by the logarithm Σ_j |w_j|) at its points, from the weights
 * of cells found by a separate walk; nothing is kept from call to call.
 *
 *   bins      of the law, or NULL
 *   softenings of the targets and the sources */
kith_status tree_find_field_cpu(kith_context *context, const struct tree_problem *problem,
                                const struct tree_sides *targets, const struct tree_sides *sources,
                                const struct tree_law_bins *bins,
                                const struct tree_softenings *const softenings[2],
                                struct tree_side *target_side);

/* The rule of that walk; and the same over ranks, of the sources that it has completed. Collective.
 */
struct tree_rule tree_field_rule(void);
kith_status tree_find_field_ranks(kith_context *context, const struct tree_problem *problem,
                                  const struct tree_law_bins *bins,
                                  struct tree_essential *of_targets,
                                  const struct tree_essential *of_sources);

/* The expansions of a problem. Record k is that of source cell k; those of the target cells begin
 * at target_record, which is 0 if the targets are the sources. */
struct tree_expansions {
    const struct expansion_operators *operators;
    struct expansion expansion;
    kith_dtype dtype;
    int32_t target_record;
    void *records, *locals;
    double *power;                               /* of the sources, for tree_error */
    const struct tree_orders *orders;            /* of M2L; NULL: all have that of the expansion */
    bool points;                                 /* far cells act as points */
    bool rough;                                  /* near points may use estimates of 1/s³ */
    const struct tree_softenings *softenings[2]; /* of the targets and the sources */
    /* Of a law that is neither 1/s nor ln s: its near kernel, and what that reads. */
    tree_near_law_kernel *near_law;
    struct tree_near_law near;
};

/* The multipoles of all sources, from the leaves to the root, and their powers. */
kith_status tree_expand_cpu(kith_context *context, const struct octree *sources,
                            const struct tree_side *side, struct tree_expansions *expansions);

/* Collective: the multipoles of this rank's cells and the top. */
kith_status tree_expand_ranks(kith_context *context, const struct tree_essential *essential,
                              struct tree_expansions *expansions);

/* What one call makes and frees. */
struct tree_run {
    struct tree_sides targets, sources;
    struct tree_side *target_side, *source_side;
    double *power, *bounds;
    double as_point[expansion_max_order + 1]; /* of the rule */
    struct tree_orders *orders;
    struct expansion_angles *angles;
    struct expansion_tables *tables;
    struct tree_expansions expansions;
    struct tree_softenings source_softenings, target_softenings;
    struct tree_law_bins bins; /* of a law that is neither 1/s nor ln s */
};

void tree_run_free(struct tree_run *run);

/* What is to be known of the law, and how far apart the points of run->targets and sources are. */
kith_status tree_make_bins(const struct tree_problem *problem, const struct tree_request *request,
                           struct tree_run *run);

/* Memory for the multipoles of source cells, and room for those of `spare` more cells.
 *
 *   softenings  of the targets and the sources, which must exist as long as the run */
kith_status tree_make_expansions(kith_context *context, const struct tree_problem *problem,
                                 const struct tree_request *request,
                                 const struct tree_softenings *const softenings[2], int64_t sources,
                                 int64_t spare, struct tree_state *state, struct tree_run *run);

/* Records for all cells that the force pass reads, and the local expansions of the targets: of the
 * records that are there, `kept` stay. */
kith_status tree_place_targets(const struct tree_problem *problem,
                               const struct tree_request *request, int64_t kept, int64_t sources,
                               int64_t targets, struct tree_state *state, struct tree_run *run);

/* The heads of the records of a tree's cells, the first of which is record `first`. */
void tree_write_heads(const struct octree *tree, const struct tree_side *side,
                      const struct tree_expansions *expansions, int64_t first);

/* Lets cells act on larger leaves as points, where momentum is conserved so, of sources whose root
 * has these sums of weights and of their magnitudes. */
void tree_allow_points(double net, double sum, struct tree_run *run, struct tree_rule *rule);

/* What the error of cells that act as points is found from (tree/acceptance.h): run->bounds. */
kith_status tree_make_bounds(const struct tree_request *request, const struct tree_side *sides,
                             int32_t cells, struct tree_run *run);

/* Zeros in the results of all targets. */
kith_status tree_make_results(const struct tree_problem *problem, int64_t targets,
                              struct tree_state *state);

/* The work of an expansion and of a point in units of a pair of points, about. */
struct tree_costs {
    double of_expansion, of_point;
};
struct tree_costs tree_costs_of(const struct tree_problem *problem,
                                const struct tree_request *request);

/* Collective: tree_solve_cpu over ranks, of at least one target and one source: each has parts of
 * both trees (tree/essential_ranks.h), and gets the results of a slice of the targets. */
kith_status tree_solve_ranks(kith_context *context, const struct tree_problem *problem,
                             const struct tree_request *request, struct tree_state *state);

/* The near kernels of the context's instruction set. */
const struct tree_near_kernels *tree_near_kernels_of(const kith_context *context, kith_dtype dtype);

/* Over ranks, before the force pass: the pairs that it will find in each branch, into the counts of
 * the targets' division. */
kith_status tree_count_cpu(kith_context *context, const struct tree_rule *rule,
                           const struct tree_sides *targets, const struct tree_sides *sources,
                           const struct tree_essential *of_targets,
                           const struct tree_essential *of_sources);

/* The force pass: every far and near pair, into state->potential and gradient.
 *
 *   of_targets, of_sources  the trees of both sides, over ranks that have parts of them, and get
 * the results of their own targets; else NULL */
kith_status tree_sum_cpu(kith_context *context, const struct tree_problem *problem,
                         const struct tree_rule *rule, const struct tree_sides *targets,
                         const struct tree_sides *sources, const struct tree_essential *of_targets,
                         const struct tree_essential *of_sources,
                         const struct tree_expansions *expansions, struct tree_state *state,
                         struct tree_counts *counts);

/* The error of the gradients in state (tree/estimate.h), by the direct sum at a few targets. */
kith_status tree_estimate_cpu(kith_context *context, const struct tree_problem *problem,
                              const struct tree_sides *targets,
                              const struct tree_expansions *expansions,
                              const struct tree_state *state, double *error);

/* Collective: the same over ranks. */
kith_status tree_estimate_ranks(kith_context *context, const struct tree_problem *problem,
                                const struct tree_essential *of_targets,
                                const struct tree_essential *of_sources,
                                const struct tree_expansions *expansions,
                                const struct tree_state *state, double *error);

#endif
