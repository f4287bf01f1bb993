#ifndef MESH_SIXTH_H
#define MESH_SIXTH_H

/* Estimates for 1/r⁶ (mesh/periodic.h), in the place of those for 1/r. */

#include <math.h>

#include "mesh/short.h"

static const double sixth_root_pi = 1.7724538509055160273;

/* h(b) of periodic.h, and −dh/d(b²), which is h or more and at most 3 h. */
static inline double sixth_wave(double b)
{
    return (1 - 2 * b * b) * exp(-b * b) + 2 * b * b * b * sixth_root_pi * erfc(b);
}

static inline double sixth_wave_slope(double b)
{
    return 3 * (exp(-b * b) - sixth_root_pi * b * erfc(b));
}

/* Of the waves α⁵ √π/12 times what they are of 1/r, with h in the place of e^{−k²/4α²} (2α/k)². */
static inline double sixth_of_waves(double alpha)
{
    const double a2 = alpha * alpha;
    return a2 * a2 * alpha * sixth_root_pi / 12;
}

/* Of v = (1 + a² + a⁴/2) e^{−a²}/r⁶ − σ⁶/r¹², a = α r, beyond the cutoff: ∫ 4π r² v dr, and
 * −1/3 ∫ 4π r³ dv/dr dr, which is 4π/3 r³ v at the cutoff more. */
static inline void sixth_beyond(const struct periodic_system *system, double alpha, double cutoff,
                                double *value, double *virial)
{
    const double x = alpha * cutoff, u = x * x, cube = cutoff * cutoff * cutoff;
    const double sphere = 4 * 3.14159265358979323846 / 3;
    const double near = (1 + u + u * u / 2) * exp(-u) / cube;
    const double waves = x * exp(-u) / 2 + sixth_root_pi / 4 * erfc(x);
    const double repulsion = system->repulsion / (cube * cube * cube);
    *value = sphere * (near - alpha * alpha * alpha * waves - repulsion / 3);
    *virial = *value + sphere * (near - repulsion);
}

/* The rms force of pairs beyond the cutoff over estimate_unit (mesh/estimates.h), for independent
 * positions:
 *
 *     √(∫ 4π r² f² dr),    f = 6 (1 + a² + a⁴/2) e^{−a²}/r⁷ + α⁶ e^{−a²}/r − 12 σ⁶/r¹³,   a = α r
 *
 * by the midpoint rule up to four times the cutoff. */
static inline double sixth_short(const struct periodic_system *system, double alpha, double cutoff)
{
    enum { points = 24 };
    const double a2 = alpha * alpha, step = log(4) / points;
    double sum = 0;
    for (int k = 0; k < points; k++) {
        const double r = cutoff * exp((k + 0.5) * step), r2 = r * r, u = a2 * r2, r6 = r2 * r2 * r2;
        const double f =
            (6 * (1 + u + u * u / 2) * exp(-u) / r6 - 12 * system->repulsion / (r6 * r6)) / r +
            a2 * a2 * a2 * exp(-u) / r;
        sum += 4 * 3.14159265358979323846 * r2 * r * f * f * step;
    }
    return sqrt(sum);
}

/* α cutoff for an error, by bisection; at most what short_cpu sums. */
static inline double sixth_short_reach(const struct periodic_system *system, double alpha,
                                       double over_unit)
{
    double low = 0.5, high = short_most_reach;
    for (int turn = 0; turn < 20; turn++) {
        const double middle = sqrt(low * high);
        if (sixth_short(system, alpha, middle / alpha) > over_unit)
            low = middle;
        else
            high = middle;
    }
    return high;
}

#endif
