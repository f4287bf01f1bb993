/* Starts the kernels that reduce rows by laws of the table (reduce_cuda_body.h), and puts together
 * what their parts have found. */

#include "matrix/bin.h"
#include "matrix/cuda.h"
#include "matrix/grid.h"
#include "matrix/store_cuda.cuh"

#define KERNEL_BODY "matrix/reducing_bodies.h"
#include "law/for_each_real_cuda.h"

typedef void reduce_kernel(const struct matrix_problem, const struct matrix_parts);
typedef void histogram_kernel(const struct matrix_problem, const struct matrix_bins);

kith_status matrix_reduce_cuda(kith_context *context, const struct matrix_task *task,
                               const struct matrix_parts *parts, enum matrix_operation operation,
                               int64_t part_count)
{
#define ENTRY(kind)                                                                                \
    {matrix_reduce_float<law_##kind, matrix_sum>, matrix_reduce_double<law_##kind, matrix_sum>,    \
     matrix_reduce_float<law_##kind, matrix_least>,                                                \
     matrix_reduce_double<law_##kind, matrix_least>},
    static reduce_kernel *const kernels[][4] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    reduce_kernel *kernel =
        kernels[task->kind][2 * (operation == matrix_least) + (task->dtype == KITH_F64)];
    const int64_t blocks =
        (task->problem.rows.count + matrix_reduce_block_rows - 1) / matrix_reduce_block_rows;
    kernel<<<dim3((unsigned)blocks, (unsigned)part_count), matrix_reduce_threads, 0,
             cuda_stream(context)>>>(task->problem, *parts);
    return cuda_check_launch("reducing the rows of the matrix");
}

kith_status matrix_histogram_cuda(kith_context *context, const struct matrix_task *task,
                                  const struct matrix_bins *bins, int64_t part_count)
{
#define ENTRY(kind) {matrix_histogram_float<law_##kind>, matrix_histogram_double<law_##kind>},
    static histogram_kernel *const kernels[][2] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    const int64_t blocks =
        (task->problem.rows.count + matrix_histogram_threads - 1) / matrix_histogram_threads;
    kernels[task->kind]
           [task->dtype == KITH_F64]<<<dim3((unsigned)blocks, (unsigned)part_count),
                                       matrix_histogram_threads, 0, cuda_stream(context)>>>(
               task->problem, *bins);
    return cuda_check_launch("counting the values of the matrix");
}

static __global__ void combine(const struct matrix_parts parts, int64_t part_count, int64_t rows,
                               double *found, int64_t *at)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    double value = parts.sum[i];
    long long where = at ? parts.at[i] : 0;
    for (int64_t part = 1; part < part_count; part++) {
        const double other = parts.sum[part * rows + i];
        if (!at) {
            value += other;
        } else if (other < value) {
            value = other;
            where = parts.at[part * rows + i];
        }
    }
    found[i] = value;
    if (at)
        at[i] = where;
}

kith_status matrix_combine_cuda(kith_context *context, const struct matrix_parts *parts,
                                int64_t part_count, int64_t rows, double *found, int64_t *at)
{
    const int threads = 128;
    combine<<<(unsigned)((rows + threads - 1) / threads), threads, 0, cuda_stream(context)>>>(
        *parts, part_count, rows, found, at);
    return cuda_check_launch("putting the parts of rows together");
}
