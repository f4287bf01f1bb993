/* The tree over ranks that each have a part of it. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "tree/accuracy.h"
#include "tree/solve.h"

/* With more work than this times the mean on a rank, of branches divided by their points, they are
 * divided again. */
static const double most_imbalance = 1.05;

struct ranks_run {
    kith_context *context;
    const struct tree_problem *problem;
    const struct tree_request *request;
    struct tree_state *state;
    struct tree_division division;
    struct tree_essential essential;
    struct tree_run run;
    struct tree_rule rule;
};

/* What tree_branches_weigh and tree_work_keep read, of a division. */
static struct tree_branches branches_of(const struct tree_division *division, struct octree *top)
{
    *top = (struct octree){.cell = division->cell, .count = division->points};
    return (struct tree_branches){.tree = top,
                                  .count = division->branch_count,
                                  .cell = division->branch,
                                  .work = division->work,
                                  .counts = division->counts};
}

static bool recall_work(struct ranks_run *of)
{
    struct octree top;
    struct tree_branches branches = branches_of(&of->division, &top);
    return tree_work_recall(&of->state->work, &branches);
}

/* Of the branches as the last walk counted it. */
static void weigh(struct ranks_run *of)
{
    const struct tree_costs costs = tree_costs_of(of->problem, of->request);
    struct octree top;
    struct tree_branches branches = branches_of(&of->division, &top);
    tree_branches_weigh(&branches, costs.of_expansion, costs.of_point);
}

static kith_status keep_work(struct ranks_run *of)
{
    struct octree top;
    weigh(of);
    const struct tree_branches branches = branches_of(&of->division, &top);
    return ranks_agree(of->context, tree_work_keep(&branches, &of->state->work));
}

static kith_status divide(struct ranks_run *of)
{
    const struct tree_problem *problem = of->problem;
    struct tree_state *state = of->state;
    const struct ranks *ranks = of->context->ranks;
    const int64_t points = problem->source_count;
    const int64_t offset = ranks_first(points, ranks->size, ranks->rank);
    const struct octree all = {.count = points};
    struct sort_points slice = {.dtype = problem->dtype, .dimensions = problem->dimensions};
    const int64_t bytes = problem->is_slice ? 0 : offset * kith_dtype_bytes(problem->dtype);
    slice.count = ranks_first(points, ranks->size, ranks->rank + 1) - offset;
    for (int32_t c = 0; c < problem->dimensions; c++)
        slice.position[c] = (const char *)problem->source_position[c] + bytes;
    state->is_sliced = true;
    state->slice_first = offset;
    state->slice_count = slice.count;
    return tree_division_create(of->context, &slice,
                                problem->weight ? (const char *)problem->weight + bytes : NULL,
                                points, tree_branch_points(&all, ranks->size), &of->division);
}

/* The multipoles of this rank's cells and the top, and what decides about them. */
static kith_status expand(struct ranks_run *of)
{
    struct tree_essential *essential = &of->essential;
    struct tree_run *run = &of->run;
    const int32_t base = essential->base;
    KITH_TRY(ranks_agree(of->context, tree_make_expansions(of->context, of->problem, of->request,
                                                           base, base, base, of->state, run)));
    tree_write_heads(&essential->own, essential->side, &run->expansions, 0);
    KITH_TRY(tree_expand_ranks(of->context, essential, &run->expansions));
    if (run->expansions.points)
        KITH_TRY(
            ranks_agree(of->context, tree_make_bounds(of->request, essential->side, base, run)));
    return of->rule.order == 0
               ? KITH_OK
               : tree_essential_take_powers(essential, of->rule.order + 1,
                                            run->expansions.points ? run->bounds : run->power);
}

/* The tree of this rank with all cells that its walk visits. */
static kith_status find_essential(struct ranks_run *of)
{
    struct tree_essential *essential = &of->essential;
    const struct tree_rule field_rule = tree_field_rule();
    KITH_TRY(tree_essential_create(&of->division, of->request->leaf, essential));
    of->run.targets = of->run.sources = tree_essential_sides(essential);
    KITH_TRY(ranks_agree(of->context, tree_make_bins(of->problem, of->request, &of->run)));
    of->rule = tree_rule_for(of->problem, of->request);
    of->rule.decay = of->problem->law == expansion_series ? &of->run.bins.decay : NULL;
    if (of->request->error > 0) {
        KITH_TRY(tree_essential_complete(essential, &field_rule));
        KITH_TRY(tree_find_field_ranks(of->context, of->problem, &of->run.bins, essential));
    }
    KITH_TRY(expand(of));
    return tree_essential_complete(essential, &of->rule);
}

/* Whether the work that was counted is divided evenly. */
static bool is_balanced(const struct tree_division *division)
{
    const int32_t ranks = division->context->ranks->size;
    double total = 0, largest = 0;
    for (int32_t rank = 0; rank < ranks; rank++) {
        double sum = 0;
        for (int64_t k = division->first[rank]; k < division->first[rank + 1]; k++)
            sum += division->work[k];
        total += sum;
        largest = sum > largest ? sum : largest;
    }
    return largest * ranks <= most_imbalance * total;
}

/* The same, of branches divided by their work: as the last call measured it, or a walk counts it.
 */
static kith_status find_balanced(struct ranks_run *of)
{
    const bool is_measured = recall_work(of);
    KITH_TRY(find_essential(of));
    if (is_measured)
        return KITH_OK;
    const struct tree_sides sides = tree_essential_sides(&of->essential);
    KITH_TRY(tree_count_cpu(of->context, &of->rule, &sides, &sides, NULL, &of->essential));
    weigh(of);
    if (is_balanced(&of->division))
        return KITH_OK;
    tree_essential_free(&of->essential);
    tree_run_free(&of->run);
    return find_essential(of);
}

/* Room for the records of all cells; those that are there stay. */
static kith_status widen_records(struct ranks_run *of, int64_t record_bytes)
{
    struct tree_state *state = of->state;
    const int64_t bytes = of->essential.tree.cell_count * record_bytes;
    void *grown = NULL;
    if (bytes <= state->record_bytes)
        return KITH_OK;
    KITH_TRY(kith_allocate_unset(bytes, 1, "multipoles of a tree", &grown));
    memcpy(grown, state->records, (size_t)(of->essential.base * record_bytes));
    free(state->records);
    state->records = of->run.expansions.records = grown;
    state->record_bytes = bytes;
    return KITH_OK;
}

static kith_status sum_forces(struct ranks_run *of, struct tree_counts *counts)
{
    const struct tree_expansions *expansions = &of->run.expansions;
    const struct octree *own = &of->essential.own;
    const int64_t slice = of->state->slice_count;
    const int64_t record_bytes =
        expansion_record_length(&expansions->expansion) * kith_dtype_bytes(of->problem->dtype);
    kith_status status = widen_records(of, record_bytes);
    if (status == KITH_OK)
        status = tree_make_results(of->problem, own->count > slice ? own->count : slice, of->state);
    KITH_TRY(ranks_agree(of->context, status));
    octree_free_points(&of->division.slice); /* nothing is sent again */
    KITH_TRY(tree_essential_fetch(&of->essential, record_bytes, of->state->records));
    const struct tree_sides sides = tree_essential_sides(&of->essential);
    return tree_sum_cpu(of->context, of->problem, &of->rule, &sides, &sides, NULL, &of->essential,
                        expansions, of->state, counts);
}

static kith_status bring_home(struct ranks_run *of)
{
    struct tree_state *state = of->state;
    const struct octree *own = &of->essential.own;
    KITH_TRY(tree_division_bring_home(&of->division, own, state->potential, state->potential));
    for (int32_t c = 0; c < of->problem->dimensions; c++)
        KITH_TRY(
            tree_division_bring_home(&of->division, own, state->gradient[c], state->gradient[c]));
    return KITH_OK;
}

static kith_status run_stages(struct ranks_run *of)
{
    struct tree_counts counts = {0};
    double error = 0;
    KITH_TRY(ranks_agree(of->context, KITH_OK)); /* a rank may have failed before */
    KITH_TRY(divide(of));
    KITH_TRY(find_balanced(of));
    KITH_TRY(sum_forces(of, &counts));
    KITH_TRY(keep_work(of));
    if (of->request->estimates)
        KITH_TRY(tree_estimate_ranks(of->context, of->problem, &of->essential, &of->run.expansions,
                                     of->state, &error));
    of->state->report =
        tree_report_of(of->problem, of->request, &counts, tree_essential_cells(&of->essential));
    of->state->report.error_estimated = tree_reported_error(of->request, &counts, error);
    return bring_home(of);
}

kith_status tree_solve_ranks(kith_context *context, const struct tree_problem *problem,
                             const struct tree_request *request, struct tree_state *state)
{
    struct ranks_run of = {
        .context = context, .problem = problem, .request = request, .state = state};
    const kith_status status = run_stages(&of);
    tree_run_free(&of.run);
    tree_essential_free(&of.essential);
    tree_division_free(&of.division);
    return status;
}
