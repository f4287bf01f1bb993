#ifndef TREE_DIVISION_RANKS_H
#define TREE_DIVISION_RANKS_H

#include "ranks/parcels.h"
#include "tree/octree.h"
#include "tree/walk.h"

/* The points of a tree over the ranks of a job: none of them has all.
 *
 * At first a rank has a slice of the points, in any order. A branch is a cell of at most
 * most_points whose parent has more, or a leaf of more. The branches, in the order of the tree,
 * which is that of a space-filling curve, are divided into contiguous parts of about the same work,
 * one per rank (Warren & Salmon 1993), whose points then go there. The branches and the few cells
 * above them, the top, are found by counting points a level of the curve's grid at a time, on all
 * ranks: they are the cells that one process would make. */
struct tree_division {
    kith_context *context;
    int64_t points; /* of all ranks */
    int32_t most_points;
    struct morton_grid grid;
    struct octree slice; /* this rank's points at first, along the curve; without cells */

    /* The top: parents before children, and those next to each other. */
    int32_t count, room;
    struct octree_cell *cell; /* first and count: among all points, at most 2^31 − 1 */
    int64_t *before;          /* points of all before those of the cell */
    int32_t *generation;      /* the root's is 0 */
    int32_t *begin, *end;     /* points of the slice */

    int32_t branch_count;
    int32_t *branch;              /* cells of the top */
    double *work;                 /* of each branch, in any unit */
    struct tree_counts *counts;   /* what the last walk found in each branch */
    int64_t *first;               /* rank k has the branches first[k] … first[k + 1] − 1 */
    int64_t *point;               /* and the points point[k] … point[k + 1] − 1 */
    struct ranks_parcels parcels; /* points of the slice, to their ranks */
};

/* Collective: sorts the slices, and finds the branches, whose work is their number of points. No
 * points are sent yet. Free with tree_division_free, after an error too.
 *
 *   slice, weight  this rank's points, as of octree_build_cpu; of all ranks there is at least one
 *   points         of all ranks, below 2^31
 *   most_points    of a branch, at least the points of a leaf
 *   division       zeroed
 *
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. Cost: the sort of the slice, and a sum over
 *         ranks for each level of the curve's grid, of 8 numbers for each cell above branches. */
kith_status tree_division_create(kith_context *context, const struct sort_points *slice,
                                 const void *weight, int64_t points, int32_t most_points,
                                 struct tree_division *division);
void tree_division_free(struct tree_division *division);

/* Collective: the grid around the points of all ranks, of which this one has those between low and
 * high, or none; and tree_division_create in a grid, of a slice whose keys the caller has sorted:
 * of division->slice dtype, dimensions, count and keys are used, and the keys are freed with it.
 * There points may be 2^31 and more, of which each rank has fewer. */
struct morton_grid tree_division_grid(kith_context *context, int32_t dimensions, bool is_empty,
                                      const double low[3], const double high[3]);
kith_status tree_division_find_branches(kith_context *context, int64_t points, int32_t most_points,
                                        struct tree_division *division);

/* Collective: divides the branches by division->work: where the parts of the ranks begin, among
 * all points and those of the slice, in division->first, point and parcels. */
void tree_division_divide(struct tree_division *division);

/* Collective: divides the branches likewise, and sends the points: *own is then a tree
 * of this rank's, along the curve, without cells. Its row k is the k-th point received.
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status tree_division_send(struct tree_division *division, struct octree *own);

/* Collective: a column by the rows of the slice goes where the points went: into one in the order
 * of the tree `own`. Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status tree_division_send_column(struct tree_division *division, const struct octree *own,
                                      const void *of_slice, void *column);

/* Collective: a column by this rank's points, in the order of the tree `own`, comes home: into one
 * by the rows of the slice. Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status tree_division_bring_home(struct tree_division *division, const struct octree *own,
                                     const void *column, void *of_slice);

/* Collective: gathers an array by branches, of which this rank has filled in its own. */
void tree_division_gather(const struct tree_division *division, void *array, int64_t bytes);

#endif
