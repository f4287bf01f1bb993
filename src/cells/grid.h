#ifndef CELLS_GRID_H
#define CELLS_GRID_H

/* Cells over space, along the axes of a lattice, and the buckets of a table that they share.
 *
 * Cells have integer coordinates: 0 … count − 1 along a periodic axis, any along an open one. Cell
 * c is in the bucket (c_k mod table_k)_k: the table takes O(points) memory however far apart the
 * points are. A bucket may hold points of cells that are not requested; the distance decides.
 *
 * Points within the search distance of each other, at an image T, are in cells whose coordinates
 * differ by at most reach_k, where cell c at image T has the coordinate c + T count. Each bucket is
 * then visited at most once at one image: the coordinates of a window of 2 reach + 1 differ modulo
 * table, or the window is cut to the table (open axes), or table is count (periodic ones). */

#include "cells/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cells_grid {
    int32_t order[3];    /* the axes; cells that differ along the last are next to each other */
    int64_t count[3];    /* cells along a periodic axis; 0 along an open one */
    int64_t table[3];    /* buckets along an axis */
    int64_t stride[3];   /* from a bucket to the next along an axis */
    int64_t reach[3];    /* cells to either side */
    double origin[3];    /* component k of the basis at the beginning of cell 0 */
    double per_basis[3]; /* cells along a basis vector */
    int64_t bucket_count;
};

/* What points span: components in the basis along open axes, and the largest magnitude of one. */
struct cells_bounds {
    double low[3], high[3], largest;
};

/* Bounds of no points. */
struct cells_bounds cells_bounds_empty(void);

/* Chooses cells for points within `cutoff` of each other; at most cells_most_buckets(count). */
void cells_grid_choose(const struct pairs_lattice *lattice, kith_dtype dtype, int32_t dimensions,
                       double cutoff, const struct cells_bounds *bounds, int64_t count,
                       struct cells_grid *grid);

/* Likewise with cells of about cutoff/divisions: fewer candidates, in more and smaller cells. */
void cells_grid_choose_fine(const struct pairs_lattice *lattice, kith_dtype dtype,
                            int32_t dimensions, double cutoff, int32_t divisions,
                            const struct cells_bounds *bounds, int64_t count,
                            struct cells_grid *grid);

static inline int64_t cells_most_buckets(int64_t count)
{
    return 2 * count + 128;
}

/* The coordinate along axis k of the cell of a point (after pairs_wrap, rounded to the dtype). */
KITH_BOTH_SIDES static inline int64_t cells_coordinate(const struct cells_grid *grid,
                                                       const struct pairs_lattice *lattice,
                                                       const double x[3], int k)
{
    const double cell = (pairs_fraction(lattice, x, k) - grid->origin[k]) * grid->per_basis[k];
    if (!(cell > 0))
        return 0;
    if (grid->count[k] > 0 && cell >= (double)grid->count[k])
        return grid->count[k] - 1;
    return (int64_t)cell;
}

KITH_BOTH_SIDES static inline int64_t cells_floor_divided(int64_t a, int64_t b)
{
    if (a >= 0 && a < b)
        return 0;
    return a / b - (a % b < 0);
}

/* The bucket along axis k, times its stride, of a coordinate. */
KITH_BOTH_SIDES static inline int64_t cells_bucket(const struct cells_grid *grid, int64_t cell,
                                                   int k)
{
    return (cell - cells_floor_divided(cell, grid->table[k]) * grid->table[k]) * grid->stride[k];
}

#ifdef __cplusplus
}
#endif

#endif
