#ifndef CELLS_CELLS_H
#define CELLS_CELLS_H

#include "cells/grid.h"
#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A hashed cell list (Allen & Tildesley 2017, §5.3.2; Teschner et al. 2003): points in the order of
 * their buckets, those of a bucket in the order of their rows. walk.h visits the candidates of a
 * cell. cells_cuda.h has the same for a GPU. */

/* Points wrapped into the cell, rounded to the dtype: dense columns. Two dimensions have a third
 * column of zeros. */
struct cells_points {
    int64_t count; /* less than 2^31 */
    kith_dtype dtype;
    void *position[3];
};

/* Reads positions (n × 2 or n × 3, any strides) and wraps them.
 *
 *   bounds   [in, out] widened by the points
 *   bad_row  [out] the first row with a number that is not finite, or that pairs_wrap refuses; −1
 *
 * Errors: KITH_CANCELLED. */
kith_status cells_wrap_cpu(kith_context *context, kith_array positions,
                           const struct pairs_lattice *lattice, struct cells_points *points,
                           struct cells_bounds *bounds, int64_t *bad_row);

/* Sorts points by their buckets.
 *
 *   order    [out] count: the row of each sorted point
 *   begin    [out] bucket_count + 1: the first sorted point of each bucket; NULL: not requested
 *   scratch  cells_sort_scratch_bytes(count) bytes, aligned to 64
 *
 * Errors: KITH_CANCELLED.
 * Cost:   O(count + buckets). */
kith_status cells_sort_cpu(kith_context *context, const struct cells_grid *grid,
                           const struct pairs_lattice *lattice, const struct cells_points *points,
                           uint32_t *order, int32_t *begin, void *scratch);
int64_t cells_sort_scratch_bytes(int64_t count);

/* The coordinates of the cell of point k. */
KITH_BOTH_SIDES static inline void cells_of_point(const struct cells_grid *grid,
                                                  const struct pairs_lattice *lattice,
                                                  const struct cells_points *points, int64_t k,
                                                  int64_t cell[3])
{
    double x[3];
    for (int c = 0; c < 3; c++)
        x[c] = points->dtype == KITH_F32 ? (double)((const float *)points->position[c])[k]
                                         : ((const double *)points->position[c])[k];
    for (int c = 0; c < 3; c++)
        cell[c] = cells_coordinate(grid, lattice, x, c);
}

#ifdef __cplusplus
}
#endif

#endif
