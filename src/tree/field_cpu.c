/* The scales of the targets: how strong field and potential are at each cell, from the weights of
 * cells alone, so that errors can be compared with them. */

#include "tree/solve.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "ranks/ranks.h"
#include "tree/pull_kernel.h"
#include "tree/walk.h"

/* Of one thread and a target. */
static const double seconds_of_target = 100e-9;

struct field_run {
    const struct tree_sides *targets, *sources;
    struct tree_pull *pull; /* of each target cell */
    tree_pull_kernel *add;  /* of one softening by 1/s or ln s */
    double softening2;
    enum expansion_law law;
    const struct tree_law_bins *bins;
    const struct tree_softening *softening[2]; /* of the cells of both, or NULL */
};

static void add_pull(const struct field_run *run, int32_t target, int32_t source, bool is_near)
{
    const struct tree_side *a = &run->targets->side[target], *b = &run->sources->side[source];
    const double net = run->sources->tree->net_weight[source];
    const double softening2 =
        run->softening2 +
        (run->softening[0] ? run->softening[0][target].most + run->softening[1][source].mean : 0);
    if (run->law == expansion_series)
        tree_add_pull_of_law(a, b, net, run->softening2, run->bins, is_near, &run->pull[target]);
    else
        tree_add_pull(a, b, net, softening2, run->law, is_near, &run->pull[target]);
}

static void add_pulls(const struct field_run *run, int32_t target, const int32_t *sources,
                      int64_t count, bool is_near)
{
    const struct tree_sides *of = run->sources;
    if (run->law != expansion_series && !run->softening[0])
        run->add(&run->targets->side[target], of->side, of->tree->net_weight, sources, count,
                 run->softening2, run->law, is_near, &run->pull[target]);
    else
        for (int64_t k = 0; k < count; k++)
            add_pull(run, target, sources[k], is_near);
}

static void far(void *user, int32_t target, const int32_t *sources, int64_t count)
{
    add_pulls(user, target, sources, count, false);
}

static void descend(void *user, int32_t target)
{
    const struct field_run *run = user;
    const struct octree_cell *cell = &run->targets->tree->cell[target];
    for (int32_t k = 0; k < cell->children; k++)
        run->pull[cell->child + k] = run->pull[target];
}

static void leaf(void *user, struct tree_walker *walker, int32_t target,
                 const struct cell_list *far_cells, const struct cell_list *points,
                 const struct cell_list *near_cells)
{
    (void)walker;
    (void)far_cells;
    (void)points;
    const struct field_run *run = user;
    const bool self = run->targets->tree == run->sources->tree;
    const int32_t *cells = near_cells->cell;
    int64_t own = 0; /* how near its points are is not known */
    while (own < near_cells->count && !(self && cells[own] == target))
        own++;
    add_pulls(run, target, cells, own, true);
    if (own < near_cells->count)
        add_pulls(run, target, cells + own + 1, near_cells->count - own - 1, true);
}

/* A cell's scale is that of its weakest leaf. */
static void gather_cell(const struct field_run *run, int32_t k, struct tree_side *side)
{
    const struct octree_cell *cell = &run->targets->tree->cell[k];
    side[k].field = side[k].potential = INFINITY;
    if (cell->children == 0)
        tree_scales_of_leaf(&run->pull[k], &side[k]);
    for (int32_t j = cell->child; j < cell->child + cell->children; j++) {
        side[k].field = fmin(side[k].field, side[j].field);
        side[k].potential = fmin(side[k].potential, side[j].potential);
    }
}

static void gather(const struct field_run *run, struct tree_side *side)
{
    for (int32_t k = run->targets->tree->cell_count - 1; k >= 0; k--)
        gather_cell(run, k, side);
}

/* Collective: this rank's cells, the branches of all, and then what is above them. */
static kith_status gather_ranks(const struct field_run *run, struct tree_essential *essential)
{
    const struct tree_division *division = essential->division;
    struct tree_side *const side = essential->side;
    double(*scales)[2] = NULL;
    KITH_TRY(ranks_agree(division->context, kith_allocate(division->branch_count, sizeof *scales,
                                                          "fields of a tree", &scales)));
    for (int32_t k = essential->base - 1; k >= 0; k--)
        if (essential->kind[k] == tree_own)
            gather_cell(run, k, side);
    for (int64_t k = 0; k < division->branch_count; k++) {
        scales[k][0] = side[division->branch[k]].field;
        scales[k][1] = side[division->branch[k]].potential;
    }
    tree_division_gather(division, scales, sizeof *scales);
    for (int64_t k = 0; k < division->branch_count; k++) {
        side[division->branch[k]].field = scales[k][0];
        side[division->branch[k]].potential = scales[k][1];
    }
    for (int32_t k = division->count - 1; k >= 0; k--)
        if (division->cell[k].children > 0)
            gather_cell(run, k, side);
    free(scales);
    return KITH_OK;
}

static kith_status find_field(kith_context *context, const struct tree_sides *targets,
                              struct tree_actions *actions)
{
    const struct tree_rule rule = tree_field_rule();
    struct field_run *const run = actions->user;
    struct tree_counts counts;
    KITH_TRY(kith_allocate(targets->tree->cell_count, sizeof *run->pull, "fields of a tree",
                           &run->pull));
    run->add = tree_pull_kernel_of(context->isa);
    actions->far = far;
    actions->descend = descend;
    actions->leaf = leaf;
    return tree_walk_cpu(context, &rule, targets, run->sources, actions,
                         seconds_of_target * (double)targets->tree->count, &counts);
}

struct tree_rule tree_field_rule(void)
{
    return (struct tree_rule){.walk = tree_walk_one_way, .theta = TREE_FIELD_THETA};
}

kith_status tree_find_field_cpu(kith_context *context, const struct tree_problem *problem,
                                const struct tree_sides *targets, const struct tree_sides *sources,
                                const struct tree_law_bins *bins,
                                const struct tree_softenings *const softenings[2],
                                struct tree_side *target_side)
{
    struct field_run run = {.targets = targets,
                            .sources = sources,
                            .softening2 = problem->softening2,
                            .law = problem->law,
                            .bins = bins,
                            .softening = {softenings[0]->of_cell, softenings[1]->of_cell}};
    struct tree_actions actions = {.user = &run};
    const kith_status status = find_field(context, targets, &actions);
    if (status == KITH_OK)
        gather(&run, target_side);
    free(run.pull);
    return status;
}

kith_status tree_find_field_ranks(kith_context *context, const struct tree_problem *problem,
                                  const struct tree_law_bins *bins,
                                  struct tree_essential *of_targets,
                                  const struct tree_essential *of_sources)
{
    const struct tree_sides targets = tree_essential_sides(of_targets);
    const struct tree_sides sources = tree_essential_sides(of_sources);
    struct field_run run = {
        .targets = &targets,
        .sources = &sources,
        .softening2 = problem->softening2,
        .law = problem->law,
        .bins = bins,
        .softening = {of_targets->softenings.of_cell, of_sources->softenings.of_cell}};
    struct tree_actions actions = {.user = &run, .targets = of_targets, .sources = of_sources};
    kith_status status = find_field(context, &targets, &actions);
    if (status == KITH_OK)
        status = gather_ranks(&run, of_targets);
    free(run.pull);
    return status;
}
