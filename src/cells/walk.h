#ifndef CELLS_WALK_H
#define CELLS_WALK_H

/* The candidates of a cell: ranges of sorted points, each at one image of the cell. Nothing is
 * stored; a thread of either device walks alone. */

#include "cells/grid.h"

/* The points begin … end − 1 of the sorted ones, at image T. */
struct cells_run {
    int32_t begin, end;
    int32_t image[3];
};

/* The axes in the order of grid->order. A kernel that is compiled for so many dimensions knows it,
 * and keeps a walk in registers. */
KITH_BOTH_SIDES static inline int cells_axis(const struct cells_grid *grid, int at)
{
#ifdef CELLS_DIMENSIONS
    (void)grid;
    return CELLS_DIMENSIONS == 3 ? at : (at + 2) % 3;
#else
    return grid->order[at];
#endif
}

struct cells_walk {
    const struct cells_grid *grid;
    const int32_t *begin; /* of each bucket, and the end of the last */
    int64_t low[3], high[3], at[3];
    int64_t row; /* the bucket where the row along the last axis begins */
    int32_t image[3];
};

/* The bucket, and the image, of coordinate `at` of the window along axis k. */
KITH_BOTH_SIDES static inline int64_t cells_walk_locate(struct cells_walk *walk, int k)
{
    const struct cells_grid *grid = walk->grid;
    int64_t cell = walk->at[k], image = 0;
    if (grid->count[k] > 0) {
        image = cells_floor_divided(cell, grid->count[k]);
        cell -= image * grid->count[k];
    }
    walk->image[k] = (int32_t)image;
    return cells_bucket(grid, cell, k);
}

KITH_BOTH_SIDES static inline void cells_walk_locate_row(struct cells_walk *walk)
{
    walk->row = cells_walk_locate(walk, cells_axis(walk->grid, 0)) +
                cells_walk_locate(walk, cells_axis(walk->grid, 1));
}

/* Begins at the neighbors of a cell. */
KITH_BOTH_SIDES static inline void cells_walk_begin(struct cells_walk *walk,
                                                    const struct cells_grid *grid,
                                                    const int32_t *begin, const int64_t cell[3])
{
    walk->grid = grid;
    walk->begin = begin;
    for (int k = 0; k < 3; k++) {
        walk->low[k] = walk->at[k] = cell[k] - grid->reach[k];
        walk->high[k] = cell[k] + grid->reach[k];
        if (grid->count[k] == 0 && walk->high[k] - walk->low[k] >= grid->table[k])
            walk->high[k] = walk->low[k] + grid->table[k] - 1;
    }
    cells_walk_locate_row(walk);
}

/* Goes to the next row of cells along the last axis; false after the last. */
KITH_BOTH_SIDES static inline bool cells_walk_next_row(struct cells_walk *walk)
{
    const int first = cells_axis(walk->grid, 0), second = cells_axis(walk->grid, 1);
    const int last = cells_axis(walk->grid, 2);
    walk->at[last] = walk->low[last];
    if (++walk->at[second] > walk->high[second]) {
        walk->at[second] = walk->low[second];
        if (++walk->at[first] > walk->high[first])
            return false;
    }
    cells_walk_locate_row(walk);
    return true;
}

/* The next range that has points; false at the end. */
KITH_BOTH_SIDES static inline bool cells_walk_next(struct cells_walk *walk, struct cells_run *run)
{
    const struct cells_grid *grid = walk->grid;
    const int last = cells_axis(grid, 2);
    for (;;) {
        if (walk->at[last] > walk->high[last] && !cells_walk_next_row(walk))
            return false;
        const int64_t bucket = cells_walk_locate(walk, last);
        int64_t length = walk->high[last] - walk->at[last] + 1;
        if (length > grid->table[last] - bucket)
            length = grid->table[last] - bucket;
        if (grid->count[last] > 0) {
            const int64_t left = grid->count[last] * (walk->image[last] + 1) - walk->at[last];
            length = length < left ? length : left;
        }
        walk->at[last] += length;
        run->begin = walk->begin[walk->row + bucket];
        run->end = walk->begin[walk->row + bucket + length];
        for (int k = 0; k < 3; k++)
            run->image[k] = walk->image[k];
        if (run->end > run->begin)
            return true;
    }
}

#endif
