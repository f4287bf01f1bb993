#ifndef TREE_WORK_RANKS_H
#define TREE_WORK_RANKS_H

#include "tree/division_ranks.h"
#include "tree/tree.h"

/* The work of the branches of a tree over ranks, by which they are divided. */

/* Maximum number of points of a branch, of a tree of this many points over this many ranks. */
int32_t tree_branch_points(int64_t points, int32_t ranks);

/* The work of each branch by what a walk has counted there, in pairs of points: an expansion of a
 * cell takes as long as this many of them. */
void tree_work_count(struct tree_division *division, double pairs_of_expansion,
                     double pairs_of_point);

/* Keeps the work of the branches for the next tree with the same number of points.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status tree_work_keep(const struct tree_division *division, struct tree_work *work);

/* The work of each branch as kept, if it was kept for the same number of points; else false. */
bool tree_work_recall(const struct tree_work *work, struct tree_division *division);
void tree_work_free(struct tree_work *work);

#endif
