#include "tree/work_ranks.h"

#include <stdlib.h>

#include "core/memory.h"

/* Branches per process, or rank, but none of fewer points than these if it can be avoided. */
enum { branches_of_process = 256, branches_of_rank = 64, least_points = 1024 };

int32_t tree_branch_points(int64_t points, int32_t ranks)
{
    const int64_t of_ranks = (int64_t)ranks * branches_of_rank;
    const int64_t each = points / (of_ranks > branches_of_process ? of_ranks : branches_of_process);
    return (int32_t)(each > least_points ? each : least_points);
}

static const struct octree_cell *branch_of(const struct tree_division *division, int64_t k)
{
    return &division->cell[division->branch[k]];
}

void tree_work_count(struct tree_division *division, double pairs_of_expansion,
                     double pairs_of_point)
{
    for (int64_t k = 0; k < division->branch_count; k++)
        division->work[k] = (double)division->counts[k].near_pairs +
                            pairs_of_expansion * (double)division->counts[k].far +
                            pairs_of_point * branch_of(division, k)->count;
}

void tree_work_free(struct tree_work *work)
{
    free(work->end);
    free(work->sum);
    *work = (struct tree_work){0};
}

kith_status tree_work_keep(const struct tree_division *division, struct tree_work *work)
{
    double sum = 0;
    tree_work_free(work);
    KITH_TRY(
        kith_allocate(division->branch_count, sizeof *work->end, "work of a tree", &work->end));
    KITH_TRY(
        kith_allocate(division->branch_count, sizeof *work->sum, "work of a tree", &work->sum));
    for (int64_t k = 0; k < division->branch_count; k++) {
        const struct octree_cell *cell = branch_of(division, k);
        sum += division->work[k];
        work->end[k] = (int64_t)cell->first + cell->count;
        work->sum[k] = sum;
    }
    work->count = division->branch_count;
    work->points = division->points;
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

bool tree_work_recall(const struct tree_work *work, struct tree_division *division)
{
    int64_t k = 0;
    if (work->count == 0 || work->points != division->points)
        return false;
    for (int64_t branch = 0; branch < division->branch_count; branch++) {
        const struct octree_cell *cell = branch_of(division, branch);
        const double before = work_up_to(work, cell->first, &k);
        division->work[branch] = work_up_to(work, (int64_t)cell->first + cell->count, &k) - before;
    }
    return true;
}
