#ifndef MESH_SPLINES_H
#define MESH_SPLINES_H

/* Cardinal B-splines of order p at the p points first, first + 1, … around a particle, and their
 * derivatives, as polynomials of t: the particle is t + ½ of a spacing beyond the first point,
 * −½ ≤ t < ½ (de Boor's recursion, as Essmann et al. 1995 have it, of polynomials). */

#include <stdint.h>

enum { splines_most_order = 8 };

struct splines {
    int32_t order;
    /* of t^m and point k; zeros beyond the order */
    double value[splines_most_order][splines_most_order];
    double slope[splines_most_order][splines_most_order];
};

void splines_make(int32_t order, struct splines *splines);

#endif
