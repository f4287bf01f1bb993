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
    walk->row = cells_walk_locate(walk, walk->grid->order[0]) +
                cells_walk_locate(walk, walk->grid->order[1]);
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
    const int32_t *order = walk->grid->order;
    walk->at[order[2]] = walk->low[order[2]];
    if (++walk->at[order[1]] > walk->high[order[1]]) {
        walk->at[order[1]] = walk->low[order[1]];
        if (++walk->at[order[0]] > walk->high[order[0]])
            return false;
    }
    cells_walk_locate_row(walk);
    return true;
}

/* The next range that has points; false at the end. */
KITH_BOTH_SIDES static inline bool cells_walk_next(struct cells_walk *walk, struct cells_run *run)
{
    const struct cells_grid *grid = walk->grid;
    const int last = grid->order[2];
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
