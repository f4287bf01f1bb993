/* The trees over ranks that each have parts of them. */

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

/* One side of the problem. */
struct side_of_ranks {
    const void *const *position, *weight, *half_softening2; /* columns of the problem */
    int64_t count;                                          /* of all ranks */
    struct tree_division division;
    struct tree_essential essential;
};

struct ranks_run {
    kith_context *context;
    const struct tree_problem *problem;
    const struct tree_request *request;
    struct tree_state *state;
    struct side_of_ranks sources, own_targets, *targets; /* targets: the one or the other */
    struct tree_run run;
    struct tree_rule rule;
};

static void begin(struct ranks_run *of)
{
    const struct tree_problem *problem = of->problem;
    of->sources = (struct side_of_ranks){.position = problem->source_position,
                                         .weight = problem->weight,
                                         .half_softening2 = problem->source_half_softening2,
                                         .count = problem->source_count};
    of->own_targets = (struct side_of_ranks){.position = problem->target_position,
                                             .half_softening2 = problem->target_half_softening2,
                                             .count = problem->target_count};
    of->targets = problem->self ? &of->sources : &of->own_targets;
}

/* Of the branches as the last walk counted it. */
static void count_work(struct ranks_run *of)
{
    const struct tree_costs costs = tree_costs_of(of->problem, of->request);
    tree_work_count(&of->targets->division, costs.of_expansion, costs.of_point);
}

static kith_status keep_work(struct ranks_run *of)
{
    count_work(of);
    return ranks_agree(of->context, tree_work_keep(&of->targets->division, &of->state->work));
}

/* This rank's slice of a side. */
static int64_t slice_first(const struct ranks_run *of, const struct side_of_ranks *side)
{
    const struct ranks *ranks = of->context->ranks;
    return ranks_first(side->count, ranks->size, ranks->rank);
}

/* A column from this rank's slice on. */
static const void *slice_of(const struct ranks_run *of, const struct side_of_ranks *side,
                            const void *column)
{
    const int64_t first = of->problem->is_slice ? 0 : slice_first(of, side);
    return column ? (const char *)column + first * kith_dtype_bytes(of->problem->dtype) : NULL;
}

static kith_status divide_side(const struct ranks_run *of, struct side_of_ranks *side)
{
    const struct tree_problem *problem = of->problem;
    const struct ranks *ranks = of->context->ranks;
    struct sort_points slice = {.dtype = problem->dtype, .dimensions = problem->dimensions};
    slice.count = ranks_first(side->count, ranks->size, ranks->rank + 1) - slice_first(of, side);
    for (int32_t c = 0; c < problem->dimensions; c++)
        slice.position[c] = slice_of(of, side, side->position[c]);
    return tree_division_create(of->context, &slice, slice_of(of, side, side->weight), side->count,
                                tree_branch_points(side->count, ranks->size), &side->division);
}

static kith_status divide(struct ranks_run *of)
{
    struct tree_state *state = of->state;
    state->is_sliced = true;
    state->slice_first = slice_first(of, of->targets);
    KITH_TRY(divide_side(of, &of->sources));
    if (!of->problem->self)
        KITH_TRY(divide_side(of, &of->own_targets));
    state->slice_count = of->targets->division.slice.count;
    return KITH_OK;
}

static kith_status make_side(const struct ranks_run *of, struct side_of_ranks *side)
{
    KITH_TRY(tree_essential_create(&side->division, of->request->leaf, &side->essential));
    return side->half_softening2
               ? tree_essential_soften(&side->essential, slice_of(of, side, side->half_softening2))
               : KITH_OK;
}

/* The multipoles of this rank's cells and the top, and what decides about them. */
static kith_status expand(struct ranks_run *of)
{
    struct tree_essential *essential = &of->sources.essential;
    struct tree_run *run = &of->run;
    const int32_t base = essential->base;
    const struct tree_softenings *softenings[] = {&of->targets->essential.softenings,
                                                  &essential->softenings};
    KITH_TRY(
        ranks_agree(of->context, tree_make_expansions(of->context, of->problem, of->request,
                                                      softenings, base, base, of->state, run)));
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

/* The trees of this rank, of the sources with all cells that its walk visits. */
static kith_status find_essential(struct ranks_run *of)
{
    struct tree_essential *sources = &of->sources.essential, *targets = &of->targets->essential;
    const struct tree_rule field_rule = tree_field_rule();
    KITH_TRY(make_side(of, &of->sources));
    if (!of->problem->self)
        KITH_TRY(make_side(of, &of->own_targets));
    of->run.targets = tree_essential_sides(targets);
    of->run.sources = tree_essential_sides(sources);
    KITH_TRY(ranks_agree(of->context, tree_make_bins(of->problem, of->request, &of->run)));
    of->rule = tree_rule_for(of->problem, of->request);
    of->rule.decay = of->problem->law == expansion_series ? &of->run.bins.decay : NULL;
    if (of->request->error > 0) {
        KITH_TRY(tree_essential_complete(sources, targets, &field_rule));
        KITH_TRY(tree_find_field_ranks(of->context, of->problem, &of->run.bins, targets, sources));
    }
    KITH_TRY(expand(of));
    tree_allow_points(sources->own.net_weight[0], sources->own.weight_sum[0], &of->run, &of->rule);
    return tree_essential_complete(sources, targets, &of->rule);
}

static void free_essential(struct ranks_run *of)
{
    tree_essential_free(&of->sources.essential);
    tree_essential_free(&of->own_targets.essential);
    tree_run_free(&of->run);
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
    struct side_of_ranks *targets = of->targets;
    const bool is_measured = tree_work_recall(&of->state->work, &targets->division);
    KITH_TRY(find_essential(of));
    if (is_measured)
        return KITH_OK;
    const struct tree_sides of_targets = tree_essential_sides(&targets->essential);
    const struct tree_sides of_sources = tree_essential_sides(&of->sources.essential);
    KITH_TRY(tree_count_cpu(of->context, &of->rule, &of_targets, &of_sources, &targets->essential,
                            &of->sources.essential));
    count_work(of);
    if (is_balanced(&targets->division))
        return KITH_OK;
    free_essential(of);
    return find_essential(of);
}

/* Memory of the force pass. */
static kith_status make_room(struct ranks_run *of)
{
    const struct tree_essential *sources = &of->sources.essential;
    const int64_t own = of->targets->essential.own.count, slice = of->state->slice_count;
    KITH_TRY(tree_place_targets(of->problem, of->request, sources->base, sources->tree.cell_count,
                                of->targets->essential.base, of->state, &of->run));
    KITH_TRY(tree_make_results(of->problem, own > slice ? own : slice, of->state));
    if (!of->request->estimates)
        of->state->stratum = NULL;
    return KITH_OK;
}

static kith_status sum_forces(struct ranks_run *of, struct tree_counts *counts)
{
    const struct tree_expansions *expansions = &of->run.expansions;
    struct tree_essential *sources = &of->sources.essential, *targets = &of->targets->essential;
    const int64_t record_bytes =
        expansion_record_length(&expansions->expansion) * kith_dtype_bytes(of->problem->dtype);
    KITH_TRY(ranks_agree(of->context, make_room(of)));
    if (!of->problem->self)
        tree_write_heads(&targets->own, targets->side, expansions, expansions->target_record);
    octree_free_points(&of->sources.division.slice); /* nothing is sent again */
    octree_free_points(&of->own_targets.division.slice);
    KITH_TRY(tree_essential_fetch(sources, record_bytes, of->state->records));
    const struct tree_sides of_targets = tree_essential_sides(targets);
    const struct tree_sides of_sources = tree_essential_sides(sources);
    return tree_sum_cpu(of->context, of->problem, &of->rule, &of_targets, &of_sources, targets,
                        sources, expansions, of->state, counts);
}

static kith_status bring_home(struct ranks_run *of)
{
    struct tree_state *state = of->state;
    struct tree_division *division = &of->targets->division;
    const struct octree *own = &of->targets->essential.own;
    KITH_TRY(tree_division_bring_home(division, own, state->potential, state->potential));
    for (int32_t c = 0; c < of->problem->dimensions; c++)
        KITH_TRY(tree_division_bring_home(division, own, state->gradient[c], state->gradient[c]));
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
        KITH_TRY(tree_estimate_ranks(of->context, of->problem, &of->targets->essential,
                                     &of->sources.essential, &of->run.expansions, of->state,
                                     &error));
    of->state->report = tree_report_of(of->problem, of->request, &counts,
                                       tree_essential_cells(&of->sources.essential));
    of->state->report.error_estimated = error;
    return bring_home(of);
}

kith_status tree_solve_ranks(kith_context *context, const struct tree_problem *problem,
                             const struct tree_request *request, struct tree_state *state)
{
    struct ranks_run of = {
        .context = context, .problem = problem, .request = request, .state = state};
    begin(&of);
    const kith_status status = run_stages(&of);
    free_essential(&of);
    tree_division_free(&of.sources.division);
    tree_division_free(&of.own_targets.division);
    return status;
}
