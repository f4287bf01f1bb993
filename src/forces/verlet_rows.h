#ifndef FORCES_VERLET_ROWS_H
#define FORCES_VERLET_ROWS_H

/* Cells of a Verlet list on a GPU, and those around one, on both sides. */

#include "cells/geometry.h"

/* Cells along the vectors, in the order `axis`: those that differ along the last are next to each
 * other. Within the search distance are the cells from reach below to reach above, of which window
 * are different ones. */
struct verlet_cuda_cells {
    int axis[3], count[3], reach[3], window[3];
    int64_t total;
    int32_t *begin; /* total + 1 */
};

static inline int64_t verlet_most_cells(int64_t particles)
{
    return 2 * particles + 64;
}

/* Cells of half the search distance along the axes of a periodic lattice, but no more than about
 * two for each particle. */
static inline void verlet_choose_cells(const struct pairs_lattice *lattice, int dimensions,
                                       int64_t particles, double search,
                                       struct verlet_cuda_cells *cells)
{
    static const int orders[4][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}};
    const double most = (double)verlet_most_cells(particles), most_of_axis = 1 << 20;
    double total = 1;
    for (int k = 0; k < 3; k++) {
        const double fitting = floor(2 * lattice->height[k] / search);
        cells->axis[k] = orders[dimensions][k];
        cells->count[k] = k >= dimensions ? 1 : (int)fmax(1, fmin(most_of_axis, fitting));
        total *= cells->count[k];
    }
    while (total > most) {
        int longest = 0;
        for (int k = 1; k < 3; k++)
            longest = cells->count[k] > cells->count[longest] ? k : longest;
        total /= cells->count[longest];
        cells->count[longest] = (cells->count[longest] + 1) / 2;
        total *= cells->count[longest];
    }
    cells->total = (int64_t)total;
    for (int k = 0; k < 3; k++) {
        const double share = search / lattice->height[k];
        const double reach = k >= dimensions ? 0 : ceil(share * cells->count[k]);
        cells->reach[k] = (int)reach;
        cells->window[k] = (int)fmin(2 * reach + 1, (double)cells->count[k]);
    }
}

/* Whether there are more cells than within reach along each axis: then the image of each row of
 * cells is known. */
static inline bool verlet_cells_are_wide(const struct verlet_cuda_cells *cells, int dimensions)
{
    bool are_wide = true;
    for (int k = 0; k < dimensions; k++)
        are_wide = are_wide && cells->window[k] < cells->count[k];
    return are_wide;
}

/* Cells next to each other along the last axis: first + from … for `here` of them, then first … for
 * `again` of them, which are an image farther along it. image is that of the former. */
struct verlet_cuda_row {
    int64_t first;
    int from, here, again;
    int image[3];
};

/* The lowest cell within reach of `cell` along the k-th of the axes; 0 where all cells are. */
KITH_BOTH_SIDES static inline int verlet_lowest_cell(const struct verlet_cuda_cells *cells, int k,
                                                     int cell)
{
    const int axis = cells->axis[k];
    return cells->window[axis] == cells->count[axis] ? 0 : cell - cells->reach[axis];
}

KITH_BOTH_SIDES static inline int verlet_count_rows(const struct verlet_cuda_cells *cells)
{
    return cells->window[cells->axis[0]] * cells->window[cells->axis[1]];
}

/* Cells next to each other along the last axis, of which the targets are taken together. */
enum { verlet_cells_together = 2 };

KITH_BOTH_SIDES static inline int verlet_groups_of_row(const struct verlet_cuda_cells *cells)
{
    return (cells->count[cells->axis[2]] + verlet_cells_together - 1) / verlet_cells_together;
}

KITH_BOTH_SIDES static inline int64_t verlet_count_groups(const struct verlet_cuda_cells *cells)
{
    const int64_t rows = (int64_t)cells->count[cells->axis[0]] * cells->count[cells->axis[1]];
    return rows * verlet_groups_of_row(cells);
}

/* The first cell of a group, and the lowest ones within its reach. */
KITH_BOTH_SIDES static inline int64_t verlet_first_of_group(const struct verlet_cuda_cells *cells,
                                                            int64_t group, int low[3])
{
    const int groups = verlet_groups_of_row(cells), across = cells->count[cells->axis[1]];
    const int64_t row = group / groups;
    const int along = (int)(group % groups) * verlet_cells_together;
    low[0] = verlet_lowest_cell(cells, 0, (int)(row / across));
    low[1] = verlet_lowest_cell(cells, 1, (int)(row % across));
    low[2] = verlet_lowest_cell(cells, 2, along);
    return row * cells->count[cells->axis[2]] + along;
}

/* The cell after the last of a group. */
KITH_BOTH_SIDES static inline int64_t verlet_end_of_group(const struct verlet_cuda_cells *cells,
                                                          int64_t first)
{
    const int count = cells->count[cells->axis[2]];
    const int left = count - (int)(first % count);
    return first + (left < verlet_cells_together ? left : verlet_cells_together);
}

/* Row number … of those from the lowest cells on. */
KITH_BOTH_SIDES static inline struct verlet_cuda_row
verlet_row_of(const struct verlet_cuda_cells *cells, const int low[3], int number)
{
    const int across = cells->window[cells->axis[1]];
    int at[3] = {low[0] + number / across, low[1] + number % across, low[2]};
    struct verlet_cuda_row row = {0, 0, 0, 0, {0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        const int count = cells->count[cells->axis[k]];
        const int image = at[k] < 0 ? -1 : at[k] >= count ? 1 : 0;
        at[k] -= image * count;
        row.image[cells->axis[k]] = image;
    }
    const int count = cells->count[cells->axis[2]];
    const int wanted = cells->window[cells->axis[2]] + verlet_cells_together - 1;
    const int window = wanted < count ? wanted : count;
    row.first = ((int64_t)at[0] * cells->count[cells->axis[1]] + at[1]) * count;
    row.from = at[2];
    row.here = window < count - at[2] ? window : count - at[2];
    row.again = window - row.here;
    return row;
}

#endif
