#ifndef TREE_BRANCHES_RANKS_H
#define TREE_BRANCHES_RANKS_H

#include "tree/tree.h"
#include "tree/walk.h"

/* A tree over the ranks of a job, each of which has all of it.
 *
 * A branch is a cell of at most this many points whose parent has more. Branches in the order of
 * the tree, which is that of a space-filling curve, are divided into contiguous parts of about the
 * same work, one per rank (Warren & Salmon 1993). A rank computes the results of the cells and
 * points of its branches, which are then gathered on all ranks. The few cells above the branches
 * are computed by every rank. All ranks thus have the same bits, independently of the division. */
struct tree_branches {
    kith_context *context;
    const struct octree *tree;
    int32_t most_points; /* of a branch */
    int64_t count;
    int32_t *cell;              /* of each branch */
    double *work;               /* of each, in any unit */
    int64_t *first;             /* rank k has the branches first[k] … first[k + 1] − 1 */
    int64_t *point;             /* and the points point[k] … point[k + 1] − 1 */
    int64_t *bounds;            /* room for a gather */
    struct tree_counts *counts; /* what the last walk found in each branch */
};

/* Maximum number of points of a branch, of a tree over this many ranks. */
int32_t tree_branch_points(const struct octree *tree, int32_t ranks);

/* The branches of a tree, divided by their points; *branches is NULL of one process, and of fewer
 * than two branches, which every rank computes. Free with tree_branches_free, after an error too.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status tree_branches_create(kith_context *context, const struct octree *tree,
                                 struct tree_branches **branches);
void tree_branches_free(struct tree_branches *branches);

/* Divides them again, by branches->work. */
void tree_branches_divide(struct tree_branches *branches);

/* The cells of a generation that are this rank's: *first … *end − 1, but for those above the
 * branches, of more than most_points. */
void tree_branches_cells(const struct tree_branches *branches, int32_t generation, int32_t *first,
                         int32_t *end);

/* Collective: gathers an array by points, or by cells, on all ranks, and the counts of a walk; for
 * the cells above the branches those of any one rank. */
void tree_branches_gather_points(const struct tree_branches *branches, void *column, int64_t bytes);
void tree_branches_gather_cells(const struct tree_branches *branches, void *array, int64_t bytes);
void tree_branches_gather_counts(const struct tree_branches *branches);

/* The work of each branch by what a walk has counted there, in pairs of points: an expansion of a
 * cell takes as long as this many of them. */
void tree_branches_weigh(struct tree_branches *branches, double pairs_of_expansion,
                         double pairs_of_point);

/* Keeps the work of the branches for the next tree with the same number of points.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status tree_work_keep(const struct tree_branches *branches, struct tree_work *work);

/* The work of each branch as kept, if it was kept for the same number of points; else false. */
bool tree_work_recall(const struct tree_work *work, struct tree_branches *branches);
void tree_work_free(struct tree_work *work);

#endif
