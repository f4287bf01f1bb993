#ifndef CELLS_WALK_H
#define CELLS_WALK_H

/* The candidates of a cell: ranges of sorted points, each at one image of the cell. Nothing is
 * stored; each thread, on either device, has its own walk. */

#include "cells/grid.h"

/* The points begin … end − 1 of the sorted ones, at image T. */
struct cells_run {
    int32_t begin, end;
    int32_t image[3];
};

/* The axes in the order of grid->order. A kernel that is compiled for a number of dimensions has it
 * as a constant, and keeps a walk in registers. */
KITH_BOTH_SIDES static inline int cells_axis(const struct cells_grid *grid, int at)
{
#ifdef CELLS_DIMENSIONS
    (void)grid;
    return CELLS_DIMENSIONS == 3 ? at : (at + 2) % 3;
#else
    return grid->order[at];
#endif
}

/* Where a window is along an axis. */
struct cells_place {
    uint32_t cell; /* of its period; along periodic axes only */
    uint32_t bucket;
    int32_t image;
};

struct cells_walk {
    const struct cells_grid *grid;
    const int32_t *begin;             /* of each bucket, and the end of the last */
    struct cells_place low[3], at[3]; /* where the window begins, and where the walk is */
    uint32_t width[3], left[3];       /* cells of the window, and those to come */
};

/* The place of a coordinate along axis k. */
KITH_BOTH_SIDES static inline struct cells_place cells_place_of(const struct cells_grid *grid,
                                                                int64_t cell, int k)
{
    struct cells_place place = {0, 0, 0};
    if (grid->count[k] > 0) {
        place.image = (int32_t)cells_floor_divided(cell, grid->count[k]);
        cell -= place.image * grid->count[k];
        place.cell = (uint32_t)cell;
    }
    place.bucket = (uint32_t)(cell - cells_floor_divided(cell, grid->table[k]) * grid->table[k]);
    return place;
}

/* Moves on by `cells`, at most to the end of the table and of the period. */
KITH_BOTH_SIDES static inline void cells_place_move(const struct cells_grid *grid, uint32_t cells,
                                                    int k, struct cells_place *place)
{
    place->cell += cells;
    place->bucket += cells;
    if (place->bucket == (uint32_t)grid->table[k])
        place->bucket = 0;
    if (grid->count[k] > 0 && place->cell == (uint32_t)grid->count[k]) {
        place->cell = 0;
        place->bucket = 0;
        place->image++;
    }
}

/* Begins at the neighbors of a cell. */
KITH_BOTH_SIDES static inline void cells_walk_begin(struct cells_walk *walk,
                                                    const struct cells_grid *grid,
                                                    const int32_t *begin, const int64_t cell[3])
{
    walk->grid = grid;
    walk->begin = begin;
    for (int k = 0; k < 3; k++) {
        int64_t width = 2 * grid->reach[k] + 1;
        if (grid->count[k] == 0 && width > grid->table[k])
            width = grid->table[k];
        walk->low[k] = walk->at[k] = cells_place_of(grid, cell[k] - grid->reach[k], k);
        walk->width[k] = walk->left[k] = (uint32_t)width;
    }
}

/* One cell on along axis k; false at the end of the window, where it begins again. */
KITH_BOTH_SIDES static inline bool cells_walk_step(struct cells_walk *walk, int k)
{
    if (--walk->left[k] > 0) {
        cells_place_move(walk->grid, 1, k, &walk->at[k]);
        return true;
    }
    walk->at[k] = walk->low[k];
    walk->left[k] = walk->width[k];
    return false;
}

/* Goes to the next row of cells along the last axis; false after the last. */
KITH_BOTH_SIDES static inline bool cells_walk_next_row(struct cells_walk *walk)
{
    const int last = cells_axis(walk->grid, 2);
    walk->at[last] = walk->low[last];
    walk->left[last] = walk->width[last];
    return cells_walk_step(walk, cells_axis(walk->grid, 1)) ||
           cells_walk_step(walk, cells_axis(walk->grid, 0));
}

/* The next range that has points; false at the end. */
KITH_BOTH_SIDES static inline bool cells_walk_next(struct cells_walk *walk, struct cells_run *run)
{
    const struct cells_grid *grid = walk->grid;
    const int first = cells_axis(grid, 0), second = cells_axis(grid, 1), last = cells_axis(grid, 2);
    for (;;) {
        if (walk->left[last] == 0 && !cells_walk_next_row(walk))
            return false;
        const struct cells_place place = walk->at[last];
        const int64_t bucket = walk->at[first].bucket * grid->stride[first] +
                               walk->at[second].bucket * grid->stride[second] + place.bucket;
        uint32_t length = walk->left[last];
        if (length > (uint32_t)grid->table[last] - place.bucket)
            length = (uint32_t)grid->table[last] - place.bucket;
        if (grid->count[last] > 0 && length > (uint32_t)grid->count[last] - place.cell)
            length = (uint32_t)grid->count[last] - place.cell;
        cells_place_move(grid, length, last, &walk->at[last]);
        walk->left[last] -= length;
        run->begin = walk->begin[bucket];
        run->end = walk->begin[bucket + length];
        run->image[first] = walk->at[first].image;
        run->image[second] = walk->at[second].image;
        run->image[last] = place.image;
        if (run->end > run->begin)
            return true;
    }
}

#endif
