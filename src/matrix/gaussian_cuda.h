#ifndef MATRIX_GAUSSIAN_CUDA_H
#define MATRIX_GAUSSIAN_CUDA_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/array.h"
#include "kith/context.h"
#include "kith/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums of a Gaussian over all pairs in float, on the tensor cores of a GPU (gaussian_cuda.cuh):
 *
 *     found_i = factor Σ_j b_j 2^{−(root |x_i − x_j|)²} */

/* Points in the device's memory: numbers of an axis are `stride` floats apart. */
struct gaussian_points {
    int64_t count, stride;
    const float *x[KITH_MAX_COORDINATES];
};

struct gaussian_sums {
    int32_t axes;
    bool same;            /* the rows are the columns */
    bool leaves_out_self; /* then j = i is left out */
    double root, factor;
    struct gaussian_points rows, columns;
    const float *b; /* NULL: ones */
    int64_t b_stride;
};

/* Whether the device can compute the sums this way, and whether there are enough pairs, too, that
 * it is faster than the multiply pipes alone. */
bool gaussian_serves_cuda(const struct gaussian_sums *sums);
bool gaussian_suits_cuda(const struct gaussian_sums *sums);

/* found: n or n × 1, float or double, in the device's memory. Takes its scratch memory. Both
 * counts are at least 1.
 *
 * Errors: KITH_OUT_OF_MEMORY. A number of a point or of b that is not finite makes all results NaN.
 * Cost:   rows × columns, each pair once if the rows are the columns, and not where the values of a
 *         pair of tiles are all 0 in float; at most 350 bytes per point.
 * Error:  1e-6 + 2.4e-7 (root r)² of each term, and 2^−125 of the largest |b| for each column:
 *         what is smaller counts as 0.
 * Bits:   the same on every run. */
kith_status gaussian_sums_cuda(kith_context *context, const struct gaussian_sums *sums,
                               kith_array found);

#ifdef __cplusplus
}
#endif

#endif
