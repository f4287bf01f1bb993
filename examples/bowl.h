/* Water that swings in a bowl, the paraboloid b = h0 (r²/a² − 1): Thacker's axisymmetric solution
 * (1981, J. Fluid Mech. 107, 499). Its edge is wet and dry in turn, and
 *
 *     h(r, t) = h0 c (1 − c r²/a²),   1/c = (1 − A cos ωt) / √(1 − A²),   ω² = 8 g h0 / a²
 *
 * so that the mean of r² over the water, a²/3c, is a cosine. */

#ifndef BOWL_H
#define BOWL_H

#include "water.h"

static const double bowl_depth = 0.1, bowl_radius = 1, swing = 0.4; /* h0 and a, m; A */

static inline double bowl_frequency(void)
{
    return sqrt(8 * gravity * bowl_depth) / bowl_radius;
}

static inline double bowl_c(double t)
{
    return sqrt(1 - swing * swing) / (1 - swing * cos(bowl_frequency() * t));
}

static inline double bowl_exact_depth(double r, double t)
{
    const double c = bowl_c(t);
    return fmax(0, bowl_depth * c * (1 - c * r * r / (bowl_radius * bowl_radius)));
}

/* Particles at rest on a spiral of equal volumes, each turned by the golden angle. */
static inline void bowl_before(struct water *water, int64_t count)
{
    const double edge = bowl_radius / sqrt(bowl_c(0)), golden = pi * (3 - sqrt(5));
    const double volume = pi / 2 * bowl_depth * bowl_radius * bowl_radius / (double)count;
    set_reach(water, 3.6 * sqrt(volume / (0.5 * bowl_depth)));
    water->fall[0] = "-2 * g * 0.1 * x_i"; /* h0 / a² = 0.1 / m */
    water->fall[1] = "-2 * g * 0.1 * y_i";
    for (int64_t k = 0; k < count; k++) {
        const double outside = 1 - ((double)k + 0.5) / (double)count;
        const double r = edge * sqrt(1 - sqrt(outside)), angle = golden * (double)k;
        add_particle(water, &water->count,
                     (struct particle){r * cos(angle), r * sin(angle), volume, 0});
    }
}

#endif
