/* A round dam of radius 1 m that breaks, water 1 m deep inside and 0.4 m outside, in a periodic
 * square; and the same by finite volumes along the radius, as a reference:
 *
 *     ∂h/∂t + ∂(hu)/∂r = −hu/r,     ∂(hu)/∂t + ∂(hu² + ½ g h²)/∂r = −hu²/r
 *
 * with slopes limited by minmod, the HLL flux and the midpoint rule (Toro 2001, Shock-Capturing
 * Methods for Free-Surface Shallow Flows, §13). */

#ifndef RADIAL_H
#define RADIAL_H

#include "water.h"

static const double radial_dam = 1, radial_side = 6;           /* m */
static const double radial_inside = 1.0, radial_outside = 0.4; /* m */

/* A square lattice outside, a spiral of equal volumes inside. */
static inline void radial_before(struct water *water, int64_t wanted)
{
    const double disk = pi * radial_dam * radial_dam, golden = pi * (3 - sqrt(5));
    const double all =
        radial_side * radial_side * radial_outside + disk * (radial_inside - radial_outside);
    const double wished = all / (double)wanted;
    const int64_t side = (int64_t)round(radial_side / sqrt(wished / radial_outside));
    const double spacing = radial_side / (double)side;
    const double volume = spacing * spacing * radial_outside;
    const int64_t inside = (int64_t)round(disk * radial_inside / volume);
    set_reach(water, 3.6 * spacing);
    water->cell = (kith_cell){{{radial_side, 0, 0}, {0, radial_side, 0}}, {true, true, false}};
    for (int64_t k = 0; k < inside; k++) {
        const double r = radial_dam * sqrt(((double)k + 0.5) / (double)inside);
        const double angle = golden * (double)k;
        add_particle(water, &water->count,
                     (struct particle){r * cos(angle), r * sin(angle),
                                       disk * radial_inside / (double)inside, 0});
    }
    for (int64_t row = 0; row < side; row++)
        for (int64_t column = 0; column < side; column++) {
            const double at[2] = {((double)column + 0.5) * spacing - radial_side / 2,
                                  ((double)row + 0.5) * spacing - radial_side / 2};
            if (hypot(at[0], at[1]) >= radial_dam)
                add_particle(water, &water->count, (struct particle){at[0], at[1], volume, 0});
        }
}

enum { radial_cells = 4000 };

/* Depth and discharge in cells of the radius. */
struct radius {
    double h[radial_cells], hu[radial_cells];
};

static inline double minmod(double a, double b)
{
    return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b;
}

/* HLL, of depth and of momentum (Harten, Lax & van Leer 1983, SIAM Rev. 25, 35). */
static inline void radial_flux(const double left[2], const double right[2], double flux[2])
{
    const double u[2] = {left[1] / left[0], right[1] / right[0]};
    const double c[2] = {sqrt(gravity * left[0]), sqrt(gravity * right[0])};
    const double slow = fmin(fmin(u[0] - c[0], u[1] - c[1]), 0);
    const double fast = fmax(fmax(u[0] + c[0], u[1] + c[1]), 0);
    const double f_left[2] = {left[1], left[1] * u[0] + gravity / 2 * left[0] * left[0]};
    const double f_right[2] = {right[1], right[1] * u[1] + gravity / 2 * right[0] * right[0]};
    for (int k = 0; k < 2; k++)
        flux[k] = (fast * f_left[k] - slow * f_right[k] + slow * fast * (right[k] - left[k])) /
                  (fast - slow);
}

/* The state at both ends of a cell; beyond the ends of the radius it is mirrored, or the last. */
static inline void radial_ends(const struct radius *now, int64_t i, double low[2], double high[2])
{
    const double *const fields[2] = {now->h, now->hu};
    for (int k = 0; k < 2; k++) {
        const double *f = fields[k];
        const double before = i > 0 ? f[i - 1] : k == 0 ? f[0] : -f[0];
        const double after = i + 1 < radial_cells ? f[i + 1] : f[i];
        const double slope = minmod(f[i] - before, after - f[i]);
        low[k] = f[i] - slope / 2;
        high[k] = f[i] + slope / 2;
    }
}

/* to = from + dt · rate(now) */
static inline void radial_advance(const struct radius *from, const struct radius *now, double dt,
                                  struct radius *to)
{
    const double dr = radial_side / 2 / radial_cells;
    double before[2], low[2], high[2], next_low[2], next_high[2], after[2];
    radial_ends(now, 0, low, high);
    radial_flux((const double[2]){low[0], -low[1]}, low, before);
    for (int64_t i = 0; i < radial_cells; i++) {
        const double r = ((double)i + 0.5) * dr, hu = now->hu[i];
        if (i + 1 < radial_cells) {
            radial_ends(now, i + 1, next_low, next_high);
            radial_flux(high, next_low, after);
            memcpy(high, next_high, sizeof high);
        } else {
            radial_flux(high, high, after);
        }
        to->h[i] = from->h[i] - dt * ((after[0] - before[0]) / dr + hu / r);
        to->hu[i] = from->hu[i] - dt * ((after[1] - before[1]) / dr + hu * hu / now->h[i] / r);
        memcpy(before, after, sizeof before);
    }
}

/* The depths at time t, in cells from the middle outwards. */
static inline void radial_reference(double t, struct radius *now)
{
    static struct radius half;
    const double dr = radial_side / 2 / radial_cells;
    for (int64_t i = 0; i < radial_cells; i++) {
        now->h[i] = ((double)i + 0.5) * dr < radial_dam ? radial_inside : radial_outside;
        now->hu[i] = 0;
    }
    const int64_t steps = (int64_t)ceil(t / (0.4 * dr / 6)); /* waves are slower than 6 m/s */
    for (int64_t k = 0; k < steps; k++) {
        radial_advance(now, now, t / (double)steps / 2, &half);
        radial_advance(now, &half, t / (double)steps, now);
    }
}

#endif
