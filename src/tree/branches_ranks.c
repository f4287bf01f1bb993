#include "tree/branches_ranks.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"

/* Branches per process, or rank, but none of fewer points than these if it can be avoided. */
enum { branches_of_process = 256, branches_of_rank = 64, least_points = 1024 };

int32_t tree_branch_points(const struct octree *tree, int32_t ranks)
{
    const int64_t of_ranks = (int64_t)ranks * branches_of_rank;
    const int64_t each =
        tree->count / (of_ranks > branches_of_process ? of_ranks : branches_of_process);
    return (int32_t)(each > least_points ? each : least_points);
}

/* Lists the branches in the order of the tree, without recursion: a cell's children are pushed
 * last first. */
static void list_branches(struct tree_branches *branches)
{
    const struct octree_cell *cells = branches->tree->cell;
    int32_t stack[8 * octree_most_generations], depth = 0;
    if (branches->tree->cell_count > 0)
        stack[depth++] = 0;
    while (depth > 0) {
        const int32_t index = stack[--depth];
        const struct octree_cell *cell = &cells[index];
        if (cell->count <= branches->most_points) {
            branches->work[branches->count] = cell->count;
            branches->cell[branches->count++] = index;
            continue;
        }
        for (int32_t k = cell->children; k-- > 0;)
            stack[depth++] = cell->child + k;
    }
}

kith_status tree_branches_create(kith_context *context, const struct octree *tree,
                                 struct tree_branches **branches)
{
    static const char what[] = "branches of a tree";
    struct tree_branches *made = NULL;
    *branches = NULL;
    if (!context->ranks)
        return KITH_OK;
    const int64_t most = tree->cell_count, ends = context->ranks->size + 1;
    KITH_TRY(kith_allocate(1, sizeof *made, what, &made));
    *branches = made;
    made->context = context;
    made->tree = tree;
    made->most_points = tree_branch_points(tree, context->ranks->size);
    KITH_TRY(kith_allocate(most, sizeof *made->cell, what, &made->cell));
    KITH_TRY(kith_allocate(most, sizeof *made->work, what, &made->work));
    KITH_TRY(kith_allocate(most, sizeof *made->counts, what, &made->counts));
    KITH_TRY(kith_allocate(ends, sizeof *made->first, what, &made->first));
    KITH_TRY(kith_allocate(ends, sizeof *made->point, what, &made->point));
    KITH_TRY(kith_allocate(ends, sizeof *made->bounds, what, &made->bounds));
    list_branches(made);
    tree_branches_divide(made);
    if (made->count < 2) {
        tree_branches_free(made);
        *branches = NULL;
    }
    return KITH_OK;
}

void tree_branches_free(struct tree_branches *branches)
{
    if (!branches)
        return;
    free(branches->cell);
    free(branches->work);
    free(branches->counts);
    free(branches->first);
    free(branches->point);
    free(branches->bounds);
    free(branches);
}

void tree_branches_divide(struct tree_branches *branches)
{
    const int32_t ranks = branches->context->ranks->size;
    ranks_divide(branches->count, branches->work, ranks, branches->first);
    branches->point[0] = 0;
    for (int32_t k = 1; k <= ranks; k++) {
        const int64_t branch = branches->first[k];
        branches->point[k] = k < ranks && branch < branches->count
                                 ? branches->tree->cell[branches->cell[branch]].first
                                 : branches->tree->count;
    }
}

/* The first cell of a generation whose points begin at `point` or after. */
static int32_t find_cell(const struct octree *tree, int32_t generation, int64_t point)
{
    int32_t low = tree->generation[generation], high = tree->generation[generation + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (tree->cell[middle].first < point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tree_branches_cells(const struct tree_branches *branches, int32_t generation, int32_t *first,
                         int32_t *end)
{
    const int32_t rank = branches->context->ranks->rank;
    *first = find_cell(branches->tree, generation, branches->point[rank]);
    *end = find_cell(branches->tree, generation, branches->point[rank + 1]);
}

void tree_branches_gather_points(const struct tree_branches *branches, void *column, int64_t bytes)
{
    ranks_gather_parts(branches->context, column, bytes, branches->point);
}

void tree_branches_gather_cells(const struct tree_branches *branches, void *array, int64_t bytes)
{
    const struct octree *tree = branches->tree;
    for (int32_t g = 0; g < tree->generations; g++) {
        for (int32_t k = 0; k <= branches->context->ranks->size; k++)
            branches->bounds[k] = find_cell(tree, g, branches->point[k]);
        ranks_gather_parts(branches->context, array, bytes, branches->bounds);
    }
}

void tree_branches_gather_counts(const struct tree_branches *branches)
{
    ranks_gather_parts(branches->context, branches->counts, sizeof *branches->counts,
                       branches->first);
}

void tree_branches_weigh(struct tree_branches *branches, double pairs_of_expansion,
                         double pairs_of_point)
{
    for (int64_t k = 0; k < branches->count; k++)
        branches->work[k] = (double)branches->counts[k].near_pairs +
                            pairs_of_expansion * (double)branches->counts[k].far +
                            pairs_of_point * branches->tree->cell[branches->cell[k]].count;
}

void tree_work_free(struct tree_work *work)
{
    free(work->end);
    free(work->sum);
    *work = (struct tree_work){0};
}

kith_status tree_work_keep(const struct tree_branches *branches, struct tree_work *work)
{
    double sum = 0;
    tree_work_free(work);
    KITH_TRY(kith_allocate(branches->count, sizeof *work->end, "work of a tree", &work->end));
    KITH_TRY(kith_allocate(branches->count, sizeof *work->sum, "work of a tree", &work->sum));
    for (int64_t k = 0; k < branches->count; k++) {
        const struct octree_cell *cell = &branches->tree->cell[branches->cell[k]];
        sum += branches->work[k];
        work->end[k] = (int64_t)cell->first + cell->count;
        work->sum[k] = sum;
    }
    work->count = branches->count;
    work->points = branches->tree->count;
    return KITH_OK;
}

/* The work up to a point; *k goes on from call to call, of points that grow. */
static double work_up_to(const struct tree_work *work, int64_t point, int64_t *k)
{
    while (*k < work->count && work->end[*k] <= point)
        ++*k;
    const int64_t begin = *k > 0 ? work->end[*k - 1] : 0;
    const double before = *k > 0 ? work->sum[*k - 1] : 0;
    if (*k == work->count)
        return before;
    return before +
           (work->sum[*k] - before) * (double)(point - begin) / (double)(work->end[*k] - begin);
}

bool tree_work_recall(const struct tree_work *work, struct tree_branches *branches)
{
    int64_t k = 0;
    if (work->count == 0 || work->points != branches->tree->count)
        return false;
    for (int64_t branch = 0; branch < branches->count; branch++) {
        const struct octree_cell *cell = &branches->tree->cell[branches->cell[branch]];
        const double before = work_up_to(work, cell->first, &k);
        branches->work[branch] = work_up_to(work, (int64_t)cell->first + cell->count, &k) - before;
    }
    return true;
}
