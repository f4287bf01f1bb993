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

#endif
