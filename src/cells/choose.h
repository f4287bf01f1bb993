#ifndef CELLS_CHOOSE_H
#define CELLS_CHOOSE_H

/* The choice of cells, on both devices. A file for CUDA that includes this is compiled without
 * fused operations, so that both choose the same. */

#include "cells/grid.h"

KITH_BOTH_SIDES static inline void cells_choose_axis(const struct pairs_lattice *lattice,
                                                     double cutoff, int32_t divisions,
                                                     const struct cells_bounds *bounds, int k,
                                                     struct cells_grid *grid, double *cells)
{
    const double edge = cutoff / divisions;
    if (lattice->periodic[k]) {
        const double most = 1 << 20;
        *cells = fmin(most, fmax(1.0, floor(lattice->height[k] / edge)));
        grid->count[k] = (int64_t)*cells;
        grid->per_basis[k] = *cells;
        grid->reach[k] = (int64_t)fmax(1.0, ceil(cutoff * *cells / lattice->height[k]));
        return;
    }
    /* The edge is at least 2^-48 of any coordinate, so that these numbers are exact. */
    grid->origin[k] = bounds->low[k] <= bounds->high[k] ? bounds->low[k] : 0;
    grid->per_basis[k] = 1 / edge;
    grid->reach[k] = divisions;
    *cells = floor((fmax(bounds->high[k], grid->origin[k]) - grid->origin[k]) / edge) + 2;
}

/* The minimum number of buckets along an axis (grid.h). */
KITH_BOTH_SIDES static inline int64_t cells_least_table(const struct cells_grid *grid, int k)
{
    const int64_t window = 2 * grid->reach[k] + 1;
    return grid->count[k] > 0 && grid->count[k] < window ? grid->count[k] : window;
}

/* Halves the longest axis until the table is small enough. */
KITH_BOTH_SIDES static inline void cells_fold(struct cells_grid *grid, const double cells[3],
                                              int64_t most)
{
    double table[3];
    for (int k = 0; k < 3; k++)
        table[k] = cells[k];
    while (table[0] * table[1] * table[2] > (double)most) {
        int longest = -1;
        for (int k = 0; k < 3; k++)
            if (table[k] > (double)cells_least_table(grid, k) &&
                (longest < 0 || table[k] > table[longest]))
                longest = k;
        if (longest < 0)
            break;
        table[longest] = fmax(ceil(table[longest] / 2), (double)cells_least_table(grid, longest));
    }
    for (int k = 0; k < 3; k++)
        grid->table[k] = (int64_t)table[k];
}

/* cells_grid_choose_fine.
 *
 *   edge            pairs_safe_distance of the cutoff
 *   last_divisions  along the last axis of a row, where smaller cells cost nothing but buckets
 *   most            of buckets */
KITH_BOTH_SIDES static inline void cells_choose(const struct pairs_lattice *lattice,
                                                int32_t dimensions, double edge, int32_t divisions,
                                                int32_t last_divisions,
                                                const struct cells_bounds *bounds, int64_t most,
                                                struct cells_grid *grid)
{
    const int32_t orders[4][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}};
    const int last = orders[dimensions][2];
    double cells[3];
    for (int k = 0; k < 3; k++) {
        grid->count[k] = 0;
        grid->origin[k] = 0;
        grid->order[k] = orders[dimensions][k];
        cells_choose_axis(lattice, edge, k == last ? last_divisions : divisions, bounds, k, grid,
                          &cells[k]);
        if (k >= dimensions) { /* all coordinates are 0 */
            grid->reach[k] = 0;
            cells[k] = 1;
        }
    }
    cells_fold(grid, cells, most);
    grid->bucket_count = 1;
    for (int at = 2; at >= 0; at--) {
        grid->stride[grid->order[at]] = grid->bucket_count;
        grid->bucket_count *= grid->table[grid->order[at]];
    }
}

#endif
