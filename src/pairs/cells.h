#ifndef PAIRS_CELLS_H
#define PAIRS_CELLS_H

/* The search grid: cells over a system, along the axes of its lattice. */

#include "pairs/problem.h"

/* The number of cells, their edges and their numbering, the last axis fastest.
 *
 * Points within reach of each other are in cells whose coordinates differ by at most reach[k] along
 * each axis k. Along a periodic axis cell c is also cell c + T·count[k], at the translation T.
 * Along an open one, what lies outside belongs to the first or the last cell. */
struct pairs_grid {
    int64_t count[3];
    int64_t reach[3];
    double total;        /* cells: the product of the counts, which may be any number */
    double origin[3];    /* component k of the basis at the beginning of cell 0 */
    double per_basis[3]; /* cells along a basis vector */
    bool periodic[3];
};

/* An axis has at most this many cells (far more than there are doubles within a cell's width at the
 * far end would be of no use). */
#define PAIRS_MOST_CELLS_OF_AXIS 1099511627776.0

/* How many cells of an edge that is at least `edge`, or a part of it, a short periodic axis has:
 * where these are but few, smaller ones may leave much less to look through for points within
 * `search`. */
static inline double pairs_best_count(double height, double search, double cells)
{
    const int32_t most = 5;
    const double worth = 0.8;
    double best = cells;
    double shortest = worth * (2 * fmax(1, ceil(search * cells / height)) + 1) / cells;
    for (int32_t count = (int32_t)cells + 1; count <= most; count++) {
        const double stretch = (2 * ceil(search * count / height) + 1) / count;
        if (stretch < shortest) {
            shortest = stretch;
            best = count;
        }
    }
    return best;
}

/* Chooses cells whose edges are at least `edge`, for points within `search` of each other, both
 * safe distances; low and high bound the points' components along open axes, and typical is in the
 * middle of most of them. search ≤ edge unless the cell is narrower than that. */
static inline struct pairs_grid pairs_grid_choose(const struct pairs_lattice *lattice, double edge,
                                                  double search, const double low[3],
                                                  const double high[3], const double typical[3])
{
    struct pairs_grid grid = {.total = 1};
    for (int k = 0; k < 3; k++) {
        const bool periodic = grid.periodic[k] = lattice->periodic[k];
        const double most = PAIRS_MOST_CELLS_OF_AXIS;
        double cells = 1, width = edge;
        if (periodic) {
            cells = fmin(most, fmax(1, floor(lattice->height[k] / edge)));
            /* The axis of runs: finer cells do not make these more numerous. */
            if (k == 2 && cells > 1 && cells <= 3)
                cells = pairs_best_count(lattice->height[k], search, cells);
            width = lattice->height[k] / cells;
            grid.per_basis[k] = cells;
        } else {
            grid.origin[k] = fmax(low[k], typical[k] - most / 2 * edge);
            cells = fmin(most, floor((high[k] - grid.origin[k]) / edge) + 1);
            grid.per_basis[k] = 1 / edge;
        }
        grid.count[k] = cells >= 1 ? (int64_t)cells : 1;
        grid.reach[k] = (int64_t)fmax(1, ceil(search / width));
        if (!periodic && grid.reach[k] > grid.count[k] - 1)
            grid.reach[k] = grid.count[k] - 1;
        grid.total *= (double)grid.count[k];
    }
    return grid;
}

/* The coordinate along axis k of the cell of a point in the basis (pairs_fraction, after
 * pairs_wrap). */
KITH_BOTH_SIDES static inline int64_t pairs_cell_of(const struct pairs_grid *grid, double fraction,
                                                    int k)
{
    const double cell = (fraction - grid->origin[k]) * grid->per_basis[k];
    if (!(cell > 0))
        return 0;
    return cell < (double)grid->count[k] ? (int64_t)cell : grid->count[k] - 1;
}

#endif
