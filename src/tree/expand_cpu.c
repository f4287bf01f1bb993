/* The upward pass: multipoles of leaves from points, of the others from their children. */

#include <math.h>
#include <stddef.h>

#include "device/context.h"
#include "device/threads.h"
#include "ranks/ranks.h"
#include "tree/solve.h"

enum { cells_of_task = 16 };

/* Of one thread, a point and a coefficient. */
static const double seconds_of_term = 1e-9;

struct expand_run {
    const struct octree *tree;
    const struct tree_side *side;
    const struct tree_branches *branches;
    const struct tree_expansions *expansions;
    struct expansion_bodies bodies;
    int32_t first, end;
    double binomial[expansion_max_order + 1];
};

static void find_powers(const struct expand_run *run, int32_t first, int32_t count)
{
    const struct tree_expansions *all = run->expansions;
    const int32_t order = all->expansion.order, terms = order + 1;
    double powers[cells_of_task * (expansion_max_order + 1)];
    all->operators->powers(&all->expansion, all->records, first, count, powers);
    for (int32_t k = 0; k < count; k++) {
        double *const power = all->power + (int64_t)(first + k) * terms;
        for (int32_t n = 0; n < terms; n++)
            power[n] = all->dtype == KITH_F64
                           ? powers[k * terms + n]
                           : (double)((const float *)(const void *)powers)[k * terms + n];
        tree_find_estimates(order, run->binomial, &run->side[first + k], power);
    }
}

static void expand_cell(const struct expand_run *run, int32_t k)
{
    const struct tree_expansions *all = run->expansions;
    const struct octree_cell *cell = &run->tree->cell[k];
    if (cell->children == 0)
        all->operators->p2m(&all->expansion, &run->bodies, cell->first, cell->count, all->records,
                            k);
    else
        all->operators->m2m(&all->expansion, all->records, k, cell->child, cell->children);
}

static bool is_above_branches(const struct expand_run *run, int32_t k)
{
    return run->branches && run->tree->cell[k].count > run->branches->most_points;
}

static void expand_cells(void *argument, int64_t task)
{
    const struct expand_run *run = argument;
    const int32_t first = run->first + (int32_t)task * cells_of_task;
    const int32_t end = first + cells_of_task < run->end ? first + cells_of_task : run->end;
    for (int32_t k = first; k < end; k++)
        if (!is_above_branches(run, k))
            expand_cell(run, k);
    find_powers(run, first, end - first);
}

/* Over ranks: their branches' expansions, and then those of the cells above, by every rank. */
static void expand_above(const struct expand_run *run)
{
    const struct tree_expansions *all = run->expansions;
    const int64_t real = kith_dtype_bytes(all->dtype);
    tree_branches_gather_cells(run->branches, all->records,
                               real * expansion_record_length(&all->expansion));
    tree_branches_gather_cells(run->branches, all->power,
                               (all->expansion.order + 1) * (int64_t)sizeof *all->power);
    for (int32_t k = run->tree->cell_count - 1; k >= 0; k--)
        if (is_above_branches(run, k)) {
            expand_cell(run, k);
            find_powers(run, k, 1);
        }
}

kith_status tree_expand_cpu(kith_context *context, const struct octree *sources,
                            const struct tree_side *side, const struct tree_branches *branches,
                            struct tree_expansions *expansions)
{
    const int32_t order = expansions->expansion.order;
    struct expand_run run = {.tree = sources,
                             .side = side,
                             .branches = branches,
                             .expansions = expansions,
                             .bodies = {{sources->position[0], sources->position[1],
                                         sources->dimensions == 3 ? sources->position[2] : NULL},
                                        sources->weight}};
    run.binomial[0] = 1;
    for (int32_t k = 1; k <= order; k++)
        run.binomial[k] = run.binomial[k - 1] * (order + 1 - k) / k;
    const double seconds =
        seconds_of_term * (double)sources->count * (double)expansion_count(&expansions->expansion);
    kith_status status = KITH_OK;
    for (int32_t g = sources->generations - 1; g >= 0 && status == KITH_OK; g--) {
        run.first = sources->generation[g];
        run.end = sources->generation[g + 1];
        if (branches)
            tree_branches_cells(branches, g, &run.first, &run.end);
        const int64_t cells = run.end - run.first;
        status = kith_for_each(context, kith_threads_for(context, seconds / sources->generations),
                               (cells + cells_of_task - 1) / cells_of_task, expand_cells, &run);
    }
    if (!branches)
        return status;
    KITH_TRY(ranks_agree(context, status));
    expand_above(&run);
    return KITH_OK;
}
