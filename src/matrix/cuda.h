#ifndef MATRIX_CUDA_H
#define MATRIX_CUDA_H

/* The parts of the matrix on a GPU, a file each. */

#include "device/cuda.h"
#include "matrix/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct matrix_target;
struct matrix_parts;
struct matrix_bins;

/* Starts the kernels of laws of the table. */
kith_status matrix_fill_cuda(kith_context *context, const struct matrix_task *task,
                             const struct matrix_target *to, bool symmetric);
kith_status matrix_tile_p_cuda(kith_context *context, const struct matrix_task *task,
                               const struct matrix_target *to, int block);
kith_status matrix_tile_p2_cuda(kith_context *context, const struct matrix_task *task,
                                const struct matrix_target *to, int block);
kith_status matrix_reduce_cuda(kith_context *context, const struct matrix_task *task,
                               const struct matrix_parts *parts, enum matrix_operation operation,
                               int64_t part_count);
kith_status matrix_histogram_cuda(kith_context *context, const struct matrix_task *task,
                                  const struct matrix_bins *bins, int64_t part_count);

/* found[i] and at[i] of what the parts have found, in their order. */
kith_status matrix_combine_cuda(kith_context *context, const struct matrix_parts *parts,
                                int64_t part_count, int64_t rows, double *found, int64_t *at);

kith_status matrix_pack_cuda(const struct matrix_arguments *arguments, kith_array b,
                             struct matrix_problem *problem);
kith_status matrix_deliver_cuda(kith_context *context, const struct matrix_task *task,
                                const struct matrix_delivery *delivery);

#ifdef __cplusplus
}
#endif

#endif
