#ifndef TREE_PULL_H
#define TREE_PULL_H

/* The magnitude of the field at a target cell, from the weights of source cells alone: the sums of
 * the field pass, on every device. */

#include "tree/acceptance.h"
#include "tree/expansion.h"
#include "tree/law_bins.h"

/* Cells nearer than this angle are opened: the scale is good to a few percent. */
#define TREE_FIELD_THETA 0.9

/* Where contributions cancel, this part of the sum of their magnitudes is the scale. */
#define TREE_PART_OF_MAGNITUDES 0.1

struct tree_pull {
    double vector[3], magnitude, near, potential; /* sums of magnitudes, but for the vector */
};

/* Adds the field of source b, of net weight, at target a. For near sources only the cell is known,
 * whose radius is then added to the distance. Within the softening the field is r / s³. */
KITH_BOTH_SIDES static inline void tree_add_pull(const struct tree_side *a,
                                                 const struct tree_side *b, double net,
                                                 double softening2, enum expansion_law law,
                                                 bool is_near, struct tree_pull *pull)
{
    double d[3], r2 = 0;
    for (int32_t c = 0; c < 3; c++) {
        d[c] = b->center[c] - a->center[c];
        r2 += d[c] * d[c];
    }
    r2 += is_near ? b->radius * b->radius : 0;
    const double s2 = r2 + softening2;
    if (s2 == 0)
        return;
    const bool inverse = law == expansion_inverse;
    const double s = sqrt(s2), power = inverse ? s2 * s : s2;
    const double magnitude = b->weight / power * sqrt(r2);
    pull->magnitude += magnitude;
    pull->potential += inverse ? b->weight / s : b->weight;
    pull->near += is_near ? magnitude : 0;
    for (int32_t c = 0; c < 3 && !is_near; c++)
        pull->vector[c] += net / power * d[c];
}

/* The same of the law of bins, as weak as it is at the points of the target that are farthest from
 * the source: a law may fall by orders of magnitude within a leaf. */
KITH_BOTH_SIDES static inline void tree_add_pull_of_law(const struct tree_side *a,
                                                        const struct tree_side *b, double net,
                                                        double softening2,
                                                        const struct tree_law_bins *bins,
                                                        bool is_near, struct tree_pull *pull)
{
    double d[3], r2 = is_near ? b->radius * b->radius : 0, value[2], factor[2];
    for (int32_t c = 0; c < 3; c++) {
        d[c] = b->center[c] - a->center[c];
        r2 += d[c] * d[c];
    }
    const double r = sqrt(r2), farthest = r + a->radius;
    if (farthest * farthest + softening2 == 0)
        return;
    tree_law_at(bins, r2 + softening2, &value[0], &factor[0]);
    tree_law_at(bins, farthest * farthest + softening2, &value[1], &factor[1]);
    const double slope = fabs(factor[0]) * r, least = fmin(slope, fabs(factor[1]) * farthest);
    pull->magnitude += b->weight * least;
    pull->potential += b->weight * fmin(fabs(value[0]), fabs(value[1]));
    pull->near += is_near ? b->weight * least : 0;
    for (int32_t c = 0; c < 3 && !is_near && slope > 0; c++)
        pull->vector[c] += net * factor[0] * d[c] * (least / slope);
}

/* The scales of a leaf by all that pulls on it. */
KITH_BOTH_SIDES static inline void tree_scales_of_leaf(const struct tree_pull *pull,
                                                       struct tree_side *side)
{
    const double *v = pull->vector;
    const double strength = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    side->field = fmax(strength - pull->near, TREE_PART_OF_MAGNITUDES * pull->magnitude);
    side->potential = pull->potential;
}

#endif
