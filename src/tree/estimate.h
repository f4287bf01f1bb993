#ifndef TREE_ESTIMATE_H
#define TREE_ESTIMATE_H

/* The error of a solution, estimated from a few of its targets, whose gradients are summed
 * directly: six times the rms of |Δ∇φ_i| / max(|∇φ_i|, 0.1 Σ_j |∇φ_ij|). Six times, as a few
 * targets are seldom those with the largest errors. On every device.
 *
 * By groups on the CPU only targets that meet far cells of more than one point have errors, and of
 * these few may have most. Samples are therefore of such targets (of all, without such ones), by
 * how many such cells they meet, and their errors count by the targets that they stand for. By fmm
 * and a law with bins on the CPU samples are of targets below cells that met far ones, by the
 * Morton levels of their leaves: as many of the few in large leaves, where errors are largest, as
 * of the many in small ones. */

#include <math.h>

#include "tree/acceptance.h"
#include "tree/octree.h"
#include "tree/samples.h"

/* (|Δ∇φ| / max(|∇φ|, scale))² */
KITH_BOTH_SIDES static inline double tree_error2(const double found[3], const double exact[3],
                                                 double scale)
{
    double wrong2 = 0, exact2 = 0;
    for (int32_t c = 0; c < 3; c++) {
        wrong2 += (found[c] - exact[c]) * (found[c] - exact[c]);
        exact2 += exact[c] * exact[c];
    }
    const double scale2 = exact2 > scale * scale ? exact2 : scale * scale;
    return scale2 > 0 ? wrong2 / scale2 : wrong2;
}

/* Of the sum over these samples, or over all targets as far as samples stand for them. */
KITH_BOTH_SIDES static inline double tree_estimate(double sum_of_errors2, int64_t samples)
{
    return 6 * sqrt(sum_of_errors2 / (double)(samples > 0 ? samples : 1));
}

#endif
