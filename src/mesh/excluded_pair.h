#ifndef MESH_EXCLUDED_PAIR_H
#define MESH_EXCLUDED_PAIR_H

/* A pair that does not interact, on both devices. */

#include <math.h>

#include "core/both_sides.h"
#include "mesh/periodic.h"

/* What it has in a part at a distance r > 0: 1/r, erfc(α r)/r or erf(α r)/r, and −1/r d/dr of it.
 */
KITH_BOTH_SIDES static inline void excluded_pair(enum periodic_part part, double alpha, double r2,
                                                 double *value, double *slope)
{
    const double root_pi = 1.7724538509055160273, r = sqrt(r2), x = alpha * r;
    const double bell = 2 * alpha / root_pi * exp(-x * x);
    const double share = part == periodic_near ? erfc(x) : part == periodic_far ? erf(x) : 1;
    *value = share / r;
    *slope = *value / r2;
    if (part == periodic_near)
        *slope += bell / r2;
    else if (part == periodic_far && x > 0.1)
        *slope -= bell / r2;
    else if (part == periodic_far) { /* its series (split.h), where the difference has no digits */
        const double u = x * x;
        *slope = 4 * alpha * alpha * alpha / root_pi *
                 (1.0 / 3 - u * (1.0 / 5 - u * (1.0 / 14 - u * (1.0 / 54 - u / 264))));
    }
}

/* The same of lennard-jones: 1/r⁶ − repulsion/r¹², the former times 1 − P and P of u = (α r)². */
static inline void excluded_sixth(enum periodic_part part, double alpha, double repulsion,
                                  double r2, double *value, double *slope)
{
    const double sixth = 1 / (r2 * r2 * r2), twelfth = repulsion * sixth * sixth;
    const double a2 = alpha * alpha, u = a2 * r2, bell = exp(-u), all = a2 * a2 * a2;
    double smooth = sixth - (1 + u + u * u / 2) * bell * sixth; /* P/r⁶ */
    double of_smooth = (6 * smooth - all * bell) / r2;          /* −1/r d/dr of it */
    if (u < 0.1) { /* its series, where differences have no digits */
        smooth = all / 2 * (1.0 / 3 - u * (1.0 / 4 - u * (1.0 / 10 - u * (1.0 / 36 - u / 168))));
        of_smooth =
            all * a2 * (1.0 / 4 - u * (1.0 / 5 - u * (1.0 / 12 - u * (1.0 / 42 - u / 192))));
    }
    *value = smooth;
    *slope = of_smooth;
    if (part == periodic_far)
        return;
    const double near = part == periodic_near ? smooth : 0;
    *value = sixth - twelfth - near;
    *slope = (6 * sixth - 12 * twelfth) / r2 - (part == periodic_near ? of_smooth : 0);
}

#endif
