#ifndef CLI_SPLAT_H
#define CLI_SPLAT_H

#include "kith/bodies.h"
#include "plot_tracks.h"

/* The part of space that a picture shows: two spans of one scale, on width × height pixels. */
struct window {
    struct plane plane;
    struct span spans[2]; /* across, up */
    int width, height;
};

/* The mass in each pixel, rows from the top. */
struct splat {
    int width, height;
    const float *mass; /* in units of the mean mass of a body */
    double unit;       /* that mass */
};

/* The work space of splats of one size. It is closed with splat_end. */
struct splatter;

/* NULL without memory. */
struct splatter *splat_begin(int width, int height);
void splat_end(struct splatter *splatter);

/* Surface density of bodies: their masses (1 without a column) summed in pixels, and smoothed where
 * bodies are sparse.
 *
 * Each body is spread over 3 × 3 pixels by a quadratic B-spline ("triangular-shaped cloud",
 * Hockney & Eastwood 1988, §5-3). Then the mass of each pixel moves to the finest of the levels
 * 1, 2, 4, … pixels, or between two of them, on which a cell there has 16 bodies; a level is a grid
 * of quadratic B-splines that the next finer one represents exactly (Chaikin 1974), so that no
 * cell shows. The widest cell is a 32nd of the picture. All mass inside the window stays inside:
 * kernels are reflected at its rim.
 *
 *   splat  [out] of the splatter, until its next use
 *
 * Cost: O(N + pixels), one thread. Bits: the same on every run and machine, as it uses no function
 * of the C library's that rounds differently elsewhere. */
void splat_bodies(struct splatter *splatter, const struct window *window, const kith_bodies *bodies,
                  struct splat *splat);

#endif
