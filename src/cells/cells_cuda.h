#ifndef CELLS_CELLS_CUDA_H
#define CELLS_CELLS_CUDA_H

/* The functions of cells.h and grid.h on a GPU: points, bounds, grid and all else is in the
 * device's memory, and nothing waits. Results have the same bits as on the CPU. */

#include "cells/cells.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds are those of this many parts of the points. */
enum { cells_bounds_parts = 256 };

/* Wraps points, which lie in no cell and are NaN where a number is bad.
 *
 *   bounds   [out] cells_bounds_parts
 *   bad_row  [in, out] at least ~row of the first bad row; 0: none */
kith_status cells_wrap_cuda(kith_context *context, kith_array positions,
                            const struct pairs_lattice *lattice, const struct cells_points *points,
                            struct cells_bounds *bounds, unsigned long long *bad_row);

/* cells_grid_choose of the bounds of `sides` sets of points; cells are this factor shorter along
 * the last axis of a row. */
kith_status cells_grid_choose_cuda(kith_context *context, const struct pairs_lattice *lattice,
                                   kith_dtype dtype, int32_t dimensions, double cutoff,
                                   int32_t last_divisions, const struct cells_bounds *bounds,
                                   int32_t sides, int64_t count, struct cells_grid *grid);

/*   most_buckets  cells_most_buckets of the count that the grid was chosen for
 *   order         [out] in scratch */
kith_status cells_sort_cuda(kith_context *context, const struct cells_grid *grid,
                            const struct pairs_lattice *lattice, const struct cells_points *points,
                            int64_t most_buckets, void *scratch, uint32_t **order, int32_t *begin);
int64_t cells_sort_scratch_bytes_cuda(int64_t count);

#ifdef __cplusplus
}
#endif

#endif
