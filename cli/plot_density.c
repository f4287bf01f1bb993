/* The density of bodies, for their colors. */

#include <math.h>
#include <stdlib.h>

#include "plot_tracks.h"

/* A grid of square cells over the spans, and a rim of empty cells around it. */
struct grid {
    int64_t across, up; /* cells, with the rim */
    double cell;        /* its width */
    const struct span *spans;
    const struct plane *plane;
};

enum { cells_of_longer_side = 96 };

static struct grid grid_over(const struct span spans[2], const struct plane *plane)
{
    const double width = spans[0].high - spans[0].low, height = spans[1].high - spans[1].low;
    const double longer = fmax(width, height);
    const double cell = longer > 0 ? longer / cells_of_longer_side : 1;
    return (struct grid){(int64_t)(width / cell) + 3, (int64_t)(height / cell) + 3, cell, spans,
                         plane};
}

/* The cell of a position, or 0, which is in the rim, outside the spans. */
static int64_t cell_of(const struct grid *grid, const double *position)
{
    const double across = along(grid->plane->across, position),
                 up = along(grid->plane->up, position);
    const struct span *spans = grid->spans;
    if (!(across >= spans[0].low && across <= spans[0].high && up >= spans[1].low &&
          up <= spans[1].high))
        return 0;
    const int64_t column = 1 + (int64_t)((across - spans[0].low) / grid->cell);
    const int64_t row = 1 + (int64_t)((up - spans[1].low) / grid->cell);
    return row * grid->across + column;
}

/* The bodies in a cell and the eight around it. */
static int64_t count_around(const struct grid *grid, const int64_t *counts, int64_t cell)
{
    int64_t sum = 0;
    for (int64_t row = -1; row <= 1; row++)
        for (int64_t column = -1; column <= 1; column++)
            sum += counts[cell + row * grid->across + column];
    return sum;
}

bool tracks_density(const struct plot *plot, const struct tracks *tracks, int64_t frame,
                    const struct plane *plane, const struct span spans[2], double *density)
{
    const struct grid grid = grid_over(spans, plane);
    int64_t *counts = plot_allocate(plot, grid.across * grid.up, sizeof(int64_t));
    if (!counts)
        return false;
    for (int64_t i = 0; i < tracks->bodies; i++)
        counts[cell_of(&grid, tracks_at(tracks, frame, i))]++;
    counts[0] = 0;

    /* A twentieth of all bodies in one neighborhood is the highest density that colors distinguish.
     */
    const double densest = log(2 + 0.05 * (double)tracks->bodies);
    for (int64_t i = 0; i < tracks->bodies; i++) {
        const int64_t cell = cell_of(&grid, tracks_at(tracks, frame, i));
        const int64_t count = cell ? count_around(&grid, counts, cell) : 1;
        density[i] = fmin(1, log((double)count) / densest);
    }
    free(counts);
    return true;
}
