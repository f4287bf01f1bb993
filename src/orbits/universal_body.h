#ifndef ORBITS_UNIVERSAL_BODY_H
#define ORBITS_UNIVERSAL_BODY_H

/* universal.h for the host, where universal.c includes it, and for kernels on a GPU. */

#include "orbits/universal.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#if defined(__CUDACC__)
#define UNIVERSAL_STATIC static __device__ inline
#else
#define UNIVERSAL_STATIC static
#endif

#define TWO_PI 6.283185307179586476925

enum { most_doublings = 1100, most_steps = 200 }; /* those of Newton are a handful */

/* c_2 and c_3 for |z| < 2.25, where the differences below lose digits. */
UNIVERSAL_STATIC void stumpff_series(double z, double c[4])
{
    c[2] = c[3] = 1;
    for (int n = 11; n >= 1; n--) {
        c[2] = 1 - z * c[2] / ((2 * n + 1) * (2 * n + 2));
        c[3] = 1 - z * c[3] / ((2 * n + 2) * (2 * n + 3));
    }
    c[2] /= 2;
    c[3] /= 6;
    c[0] = 1 - z * c[2];
    c[1] = 1 - z * c[3];
}

/* G_0 … G_3. */
UNIVERSAL_STATIC void functions_at(double beta, double s, double g[4])
{
    const double z = beta * s * s;
    if (fabs(z) < 2.25) {
        double c[4];
        stumpff_series(z, c);
        g[0] = c[0];
        g[1] = s * c[1];
        g[2] = s * s * c[2];
        g[3] = s * s * s * c[3];
        return;
    }
    const double root = sqrt(fabs(beta)), x = root * s;
    const double half = z > 0 ? sin(x / 2) : sinh(x / 2);
    g[0] = z > 0 ? cos(x) : cosh(x);
    g[1] = (z > 0 ? sin(x) : sinh(x)) / root;
    g[2] = 2 * half * half / fabs(beta);
    g[3] = (s - g[1]) / beta;
}

UNIVERSAL_STATIC double time_at(const struct universal_orbit *orbit, const double g[4], double s)
{
    return orbit->r * s + (orbit->rv * g[2] + orbit->zeta * g[3]);
}

/* A bracket of the root: t(s) grows with s, as dt/ds is the distance. */
struct bracket {
    double low, high;
};

UNIVERSAL_STATIC struct bracket bracket_of(const struct universal_orbit *orbit, double t)
{
    struct bracket bracket = {0, 0};
    if (orbit->beta > 0) { /* within a period */
        const double period = TWO_PI / sqrt(orbit->beta);
        bracket.low = t < 0 ? -period : 0;
        bracket.high = t < 0 ? 0 : period;
        return bracket;
    }
    double reach = fmin(fabs(t) / orbit->r, cbrt(fabs(t) / orbit->mu));
    if (orbit->beta < 0)
        reach = fmin(reach, 1 / sqrt(-orbit->beta));
    for (int k = 0; k < most_doublings; k++) {
        double g[4];
        const double s = copysign(reach, t);
        functions_at(orbit->beta, s, g);
        const bool is_short = fabs(time_at(orbit, g, s)) < fabs(t);
        *((t < 0) == is_short ? &bracket.high : &bracket.low) = s;
        if (!is_short)
            break;
        reach *= 2;
    }
    return bracket;
}

/* Whole periods to leave out of t. */
UNIVERSAL_STATIC double periods_in(const struct universal_orbit *orbit, double t, double *period)
{
    if (!(orbit->beta > 0))
        return *period = 0;
    *period = TWO_PI * orbit->mu / (orbit->beta * sqrt(orbit->beta));
    return round(t / *period);
}

UNIVERSAL_STATIC void universal_solve_here(const struct universal_orbit *orbit, double t,
                                           double g[3])
{
    double period = 0;
    const double periods = periods_in(orbit, t, &period);
    const double rest = periods == 0 ? t : remainder(t, period);
    struct bracket bracket = bracket_of(orbit, rest);
    double at[4], s = rest / orbit->r;
    if (!(s > bracket.low && s < bracket.high))
        s = bracket.low / 2 + bracket.high / 2;
    for (int k = 0; k < most_steps; k++) {
        functions_at(orbit->beta, s, at);
        const double miss = time_at(orbit, at, s) - rest;
        const double slope = orbit->r + (orbit->rv * at[1] + orbit->zeta * at[2]);
        const double curve = orbit->rv * at[0] + orbit->zeta * at[1];
        *(miss > 0 ? &bracket.high : &bracket.low) = s;
        if (miss == 0)
            break;
        const double newton = -miss / slope;
        double next = s - miss / (slope + newton * curve / 2);
        if (!(next >= bracket.low && next <= bracket.high))
            next = s + newton;
        if (!(next >= bracket.low && next <= bracket.high))
            next = bracket.low / 2 + bracket.high / 2;
        const double step = fabs(next - s);
        s = next;
        if (step <= DBL_EPSILON * fabs(s))
            break;
    }
    functions_at(orbit->beta, s, at);
    for (int k = 0; k < 3; k++)
        g[k] = at[k + 1];
    g[2] += periods * period / orbit->mu;
}

#endif
