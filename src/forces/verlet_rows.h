#ifndef FORCES_VERLET_ROWS_H
#define FORCES_VERLET_ROWS_H

/* Cells of a Verlet list on a GPU, and those around one, on both sides. */

#include <stdint.h>

#include "core/both_sides.h"

/* Cells along the vectors, in the order `axis`: those that differ along the last are next to each
 * other. Within the search distance are the cells from reach below to reach above, of which window
 * are different ones. */
struct verlet_cuda_cells {
    int axis[3], count[3], reach[3], window[3];
    int64_t total;
    int32_t *begin; /* total + 1 */
};

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
    const int count = cells->count[cells->axis[2]], window = cells->window[cells->axis[2]];
    row.first = ((int64_t)at[0] * cells->count[cells->axis[1]] + at[1]) * count;
    row.from = at[2];
    row.here = window < count - at[2] ? window : count - at[2];
    row.again = window - row.here;
    return row;
}

#endif
