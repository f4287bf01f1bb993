/* The upward pass: multipoles of leaves from points, of the others from their children. */

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
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

static void expand_cells(void *argument, int64_t task)
{
    const struct expand_run *run = argument;
    const int32_t first = run->first + (int32_t)task * cells_of_task;
    const int32_t end = first + cells_of_task < run->end ? first + cells_of_task : run->end;
    for (int32_t k = first; k < end; k++)
        expand_cell(run, k);
    find_powers(run, first, end - first);
}

static struct expand_run begin(const struct octree *sources, const struct tree_side *side,
                               const struct tree_expansions *expansions)
{
    const int32_t order = expansions->expansion.order;
    struct expand_run run = {.tree = sources,
                             .side = side,
                             .expansions = expansions,
                             .bodies = {{sources->position[0], sources->position[1],
                                         sources->dimensions == 3 ? sources->position[2] : NULL},
                                        sources->weight}};
    run.binomial[0] = 1;
    for (int32_t k = 1; k <= order; k++)
        run.binomial[k] = run.binomial[k - 1] * (order + 1 - k) / k;
    return run;
}

/* The cells of a generation from run->first to run->end − 1. */
static kith_status expand_generation(kith_context *context, struct expand_run *run)
{
    const double terms = expansion_count(&run->expansions->expansion);
    const double seconds = seconds_of_term * (double)run->tree->count * terms;
    const int64_t cells = run->end - run->first;
    return kith_for_each(context, kith_threads_for(context, seconds / run->tree->generations),
                         (cells + cells_of_task - 1) / cells_of_task, expand_cells, run);
}

kith_status tree_expand_cpu(kith_context *context, const struct octree *sources,
                            const struct tree_side *side, struct tree_expansions *expansions)
{
    struct expand_run run = begin(sources, side, expansions);
    kith_status status = KITH_OK;
    for (int32_t g = sources->generations - 1; g >= 0 && status == KITH_OK; g--) {
        run.first = sources->generation[g];
        run.end = sources->generation[g + 1];
        status = expand_generation(context, &run);
    }
    return status;
}

/* Collective: the expansions of branches come to all, who make those above. */
static kith_status expand_top(const struct expand_run *run, const struct tree_essential *essential)
{
    const struct tree_expansions *all = run->expansions;
    const struct tree_division *division = essential->division;
    const int64_t of_record =
        expansion_record_length(&all->expansion) * kith_dtype_bytes(all->dtype);
    const int64_t of_power = (all->expansion.order + 1) * (int64_t)sizeof *all->power;
    const int64_t bytes = of_record + of_power;
    char *sent = NULL;
    KITH_TRY(ranks_agree(division->context, kith_allocate(division->branch_count, bytes,
                                                          "multipoles of a tree", &sent)));
    for (int64_t k = 0; k < division->branch_count; k++) {
        const int64_t cell = division->branch[k];
        memcpy(sent + k * bytes, (char *)all->records + cell * of_record, (size_t)of_record);
        memcpy(sent + k * bytes + of_record, (char *)all->power + cell * of_power,
               (size_t)of_power);
    }
    tree_division_gather(division, sent, bytes);
    for (int64_t k = 0; k < division->branch_count; k++) {
        const int64_t cell = division->branch[k];
        memcpy((char *)all->records + cell * of_record, sent + k * bytes, (size_t)of_record);
        memcpy((char *)all->power + cell * of_power, sent + k * bytes + of_record,
               (size_t)of_power);
    }
    free(sent);
    for (int32_t k = division->count - 1; k >= 0; k--)
        if (division->cell[k].children > 0) {
            expand_cell(run, k);
            find_powers(run, k, 1);
        }
    return KITH_OK;
}

kith_status tree_expand_ranks(kith_context *context, const struct tree_essential *essential,
                              struct tree_expansions *expansions)
{
    struct expand_run run = begin(&essential->own, essential->side, expansions);
    kith_status status = KITH_OK;
    for (int32_t g = essential->own.generations - 1; g > 0 && status == KITH_OK; g--) {
        run.first = essential->own.generation[g];
        run.end = essential->own.generation[g + 1];
        status = expand_generation(context, &run);
    }
    KITH_TRY(ranks_agree(context, status));
    for (int32_t k = 0; k < essential->division->count; k++)
        if (essential->kind[k] == tree_own) {
            expand_cell(&run, k);
            find_powers(&run, k, 1);
        }
    return expand_top(&run, essential);
}
