#ifndef CELLS_NEAREST_IMAGE_H
#define CELLS_NEAREST_IMAGE_H

/* The nearest of a point's periodic images, on both devices. */

#include "cells/geometry.h"

KITH_BOTH_SIDES static inline double pairs_length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* The image of x_j that is nearest to x_i, both wrapped: of least |x_j − x_i + image · cell|; of
 * equally near ones the first. */
KITH_BOTH_SIDES static inline void pairs_nearest_image(const struct pairs_lattice *lattice,
                                                       const double x_i[3], const double x_j[3],
                                                       int32_t image[3])
{
    double start[3], least = (double)INFINITY;
    int32_t most[3] = {0}, at[3];
    for (int c = 0; c < 3; c++) {
        start[c] = x_j[c] - x_i[c];
        image[c] = 0;
    }
    for (int k = 0; k < 3; k++) /* |component + at| height ≤ distance, and |component| < 1 */
        if (lattice->periodic[k])
            most[k] = 1 + (int32_t)(pairs_length(start) / lattice->height[k]);
    for (at[0] = -most[0]; at[0] <= most[0]; at[0]++)
        for (at[1] = -most[1]; at[1] <= most[1]; at[1]++)
            for (at[2] = -most[2]; at[2] <= most[2]; at[2]++) {
                double d[3];
                for (int c = 0; c < 3; c++)
                    d[c] = start[c] + pairs_translation(lattice, at, c);
                if (pairs_length(d) < least) {
                    least = pairs_length(d);
                    for (int k = 0; k < 3; k++)
                        image[k] = at[k];
                }
            }
}

#endif
