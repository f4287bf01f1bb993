#ifndef FORCES_VERLET_ROWS_H
#define FORCES_VERLET_ROWS_H

/* Cells of a Verlet list on a GPU, and those around one, on both sides. */

#include "cells/geometry.h"

/* Cells along the vectors, in the order `axis`: those that differ along the last are next to each
 * other. Within the search distance are the cells from reach below to reach above, of which window
 * are different ones. */
struct verlet_cuda_cells {
    int axis[3], count[3], reach[3], window[3];
    float edge[3]; /* of a cell that is a box, in the order of the lattice */
    float search2; /* the square of the search distance, a little more; 0: cells are no boxes */
    int64_t total;
    int32_t *begin; /* total + 1 */
};

/* Cells of half the search distance along the axes of a periodic lattice, and of a quarter along
 * the last one, but no more than about two for each particle. */
static inline void verlet_choose_cells(const struct pairs_lattice *lattice, int dimensions,
                                       int64_t particles, double search,
                                       struct verlet_cuda_cells *cells)
{
    static const int orders[4][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}};
    const double most = 2 * (double)particles + 64, most_of_axis = 1 << 20;
    const int last = orders[dimensions][2];
    bool are_boxes = true;
    double total = 1;
    for (int k = 0; k < 3; k++) {
        const double fitting = floor((k == last ? 4 : 2) * lattice->height[k] / search);
        for (int c = 0; c < 3; c++)
            are_boxes = are_boxes && (c == k || lattice->basis[k][c] == 0);
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
    cells->search2 = are_boxes ? (float)(search * search * (1 + 1e-4)) : 0;
    for (int k = 0; k < 3; k++) {
        const double share = search / lattice->height[k];
        const double reach = k >= dimensions ? 0 : ceil(share * cells->count[k]);
        cells->edge[k] = (float)(lattice->basis[k][k] / cells->count[k]);
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

/* Cells along the last axis: the first of them, counted from the lowest one, and how many. */
struct verlet_cuda_span {
    int skip, width;
};

KITH_BOTH_SIDES static inline struct verlet_cuda_span
verlet_whole_span(const struct verlet_cuda_cells *cells)
{
    return (struct verlet_cuda_span){0, cells->window[cells->axis[2]]};
}

/* How far the `offset`-th cell after one's own is from where one is within that: 0 to 1. */
KITH_BOTH_SIDES static inline float verlet_gap(int offset, float within)
{
    return offset > 0 ? (float)offset - within : offset < 0 ? within - (float)(offset + 1) : 0;
}

/* The cells of row number … that are within the search distance of a place, which is `within` its
 * own cell along each of the axes: boxes, more than within reach along each. */
KITH_BOTH_SIDES static inline struct verlet_cuda_span
verlet_span_of(const struct verlet_cuda_cells *cells, const float within[3], int number)
{
    const int axis[3] = {cells->axis[0], cells->axis[1], cells->axis[2]};
    const int offset[2] = {number / cells->window[axis[1]] - cells->reach[axis[0]],
                           number % cells->window[axis[1]] - cells->reach[axis[1]]};
    const int reach = cells->reach[axis[2]];
    const float rounding = 1e-3F;
    float left = cells->search2;
    for (int k = 0; k < 2; k++) {
        const float gap = verlet_gap(offset[k], within[k]) * cells->edge[axis[k]];
        left -= gap * gap;
    }
    if (left < 0)
        return (struct verlet_cuda_span){0, 0};
    const float half = sqrtf(left) / cells->edge[axis[2]] + rounding;
    int first = (int)floorf(within[2] - half), last = (int)floorf(within[2] + half);
    first = first < -reach ? -reach : first;
    last = last > reach ? reach : last;
    return (struct verlet_cuda_span){first + reach, last - first + 1};
}

/* Row number … of those from the lowest cells on, and of it a span. */
KITH_BOTH_SIDES static inline struct verlet_cuda_row
verlet_row_of(const struct verlet_cuda_cells *cells, const int low[3], int number,
              struct verlet_cuda_span span)
{
    const int across = cells->window[cells->axis[1]];
    int at[3] = {low[0] + number / across, low[1] + number % across, low[2] + span.skip};
    struct verlet_cuda_row row = {0, 0, 0, 0, {0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        const int count = cells->count[cells->axis[k]];
        const int image = at[k] < 0 ? -1 : at[k] >= count ? 1 : 0;
        at[k] -= image * count;
        row.image[cells->axis[k]] = image;
    }
    const int count = cells->count[cells->axis[2]], window = span.width;
    row.first = ((int64_t)at[0] * cells->count[cells->axis[1]] + at[1]) * count;
    row.from = at[2];
    row.here = window < count - at[2] ? window : count - at[2];
    row.again = window - row.here;
    return row;
}

#endif
