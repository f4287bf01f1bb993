/* The scales of the targets: how strong field and potential are at each cell, from the weights of
 * cells alone, so that errors can be compared with them. */

#include "tree/solve.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "tree/walk.h"

/* Cells nearer than this are opened: the scale is good to a few percent. */
static const double field_theta = 0.9;

/* Of one thread and a target. */
static const double seconds_of_target = 100e-9;

/* Where contributions cancel, this part of the sum of their magnitudes is the scale. */
static const double part_of_magnitudes = 0.1;

struct pull {
    double vector[3], magnitude, near, potential; /* sums of magnitudes, but for the vector */
};

struct field_run {
    const struct tree_sides *targets, *sources;
    struct pull *pull; /* of each target cell */
    double softening2;
    enum expansion_law law;
};

/* Of what is near only the cell is known, whose radius is then added to the distance. What is
 * within the softening pulls with r / s³. */
static void add_pull(const struct field_run *run, int32_t target, int32_t source, bool is_near)
{
    const struct tree_side *a = &run->targets->side[target], *b = &run->sources->side[source];
    struct pull *pull = &run->pull[target];
    double d[3], r2 = 0;
    for (int32_t c = 0; c < 3; c++) {
        d[c] = b->center[c] - a->center[c];
        r2 += d[c] * d[c];
    }
    r2 += is_near ? b->radius * b->radius : 0;
    const double s2 = r2 + run->softening2;
    if (s2 == 0)
        return;
    const bool inverse = run->law == expansion_inverse;
    const double s = sqrt(s2), power = inverse ? s2 * s : s2;
    const double net = run->sources->tree->net_weight[source];
    const double magnitude = b->weight / power * sqrt(r2);
    pull->magnitude += magnitude;
    pull->potential += inverse ? b->weight / s : b->weight;
    pull->near += is_near ? magnitude : 0;
    for (int32_t c = 0; c < 3 && !is_near; c++)
        pull->vector[c] += net / power * d[c];
}

static void far(void *user, int32_t target, const int32_t *sources, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        add_pull(user, target, sources[k], false);
}

static void descend(void *user, int32_t target)
{
    const struct field_run *run = user;
    const struct octree_cell *cell = &run->targets->tree->cell[target];
    for (int32_t k = 0; k < cell->children; k++)
        run->pull[cell->child + k] = run->pull[target];
}

static void leaf(void *user, struct tree_walker *walker, int32_t target,
                 const struct cell_list *far_cells, const struct cell_list *near_cells)
{
    (void)walker;
    (void)far_cells;
    const struct field_run *run = user;
    const bool self = run->targets->tree == run->sources->tree;
    for (int64_t k = 0; k < near_cells->count; k++)
        if (!self || near_cells->cell[k] != target) /* how near its points are is not known */
            add_pull(user, target, near_cells->cell[k], true);
}

/* A cell's scale is that of its weakest leaf. */
static void gather(const struct field_run *run, struct tree_side *side)
{
    const struct octree *tree = run->targets->tree;
    for (int32_t k = tree->cell_count - 1; k >= 0; k--) {
        const double *v = run->pull[k].vector;
        const double strength = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        const struct octree_cell *cell = &tree->cell[k];
        const bool is_leaf = cell->children == 0;
        side[k].field = is_leaf ? fmax(strength - run->pull[k].near,
                                       part_of_magnitudes * run->pull[k].magnitude)
                                : INFINITY;
        side[k].potential = is_leaf ? run->pull[k].potential : INFINITY;
        for (int32_t j = cell->child; j < cell->child + cell->children; j++) {
            side[k].field = fmin(side[k].field, side[j].field);
            side[k].potential = fmin(side[k].potential, side[j].potential);
        }
    }
}

kith_status tree_find_field_cpu(kith_context *context, const struct tree_problem *problem,
                                const struct tree_sides *targets, const struct tree_sides *sources,
                                struct tree_side *target_side)
{
    const struct tree_rule rule = {.walk = tree_walk_one_way, .theta = field_theta};
    struct field_run run = {targets, sources, NULL, problem->softening2, problem->law};
    struct tree_counts counts;
    const struct tree_actions actions = {
        .far = far, .descend = descend, .leaf = leaf, .user = &run};
    KITH_TRY(
        kith_allocate(targets->tree->cell_count, sizeof *run.pull, "fields of a tree", &run.pull));
    const kith_status status =
        tree_walk_cpu(context, &rule, targets, sources, &actions,
                      seconds_of_target * (double)targets->tree->count, &counts);
    if (status == KITH_OK)
        gather(&run, target_side);
    free(run.pull);
    return status;
}
