#ifndef TREE_SOFTENING_H
#define TREE_SOFTENING_H

/* A softening per point: ε² of a pair is the sum of the half softenings of both. */

#include "tree/octree.h"

/* Of a cell: the mean of its half softenings, weighted by |weights|, their standard deviation and
 * the largest. */
struct tree_softening {
    double mean, deviation, most;
};

/* Σ |w|, Σ |w| e and Σ |w| e² of a cell, and its largest e. */
struct tree_softening_sums {
    double weight, first, second, most;
};

/* Of a tree; zeroed where all points have one softening. */
struct tree_softenings {
    void *of_point; /* in the order of the tree, of kith_padded(count + kith_padding) */
    struct tree_softening *of_cell;
};

/* Fills in the softenings of a tree's points from a column of its dtype in the caller's order; free
 * with tree_softenings_free, after an error too.
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status tree_softenings_create(const struct octree *tree, const void *half_softening2,
                                   struct tree_softenings *softenings);
void tree_softenings_free(struct tree_softenings *softenings);

/* Its stages, for a tree of which a part is known: the sums of a cell, from those of its children
 * or, of a leaf, from its points; and what follows from them. */
struct tree_softening_sums tree_softening_sum(const struct octree *tree, const void *of_point,
                                              const struct tree_softening_sums *sums, int32_t cell);
struct tree_softening tree_softening_of(const struct tree_softening_sums *sums);

/* Of sources that act as one point, what their softening adds to Q in tree/acceptance.h,
 *
 *     M (5/2 ρ² + 6 θ σ + 15/8 σ² / ē)
 *
 * ē and σ the mean and the deviation: the parts of the field that are second in the places of the
 * sources and not harmonic, first in both places and softenings, and second in softenings. */
double tree_softening_error(const struct tree_softening *softening, double weight, double radius,
                            double theta);

#endif
