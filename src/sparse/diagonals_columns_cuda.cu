/* A matrix of a few diagonals by eight vectors that lie one behind the other: a thread has a row of
 * all of them, neighbouring threads read neighbouring numbers, and nothing is brought into another
 * order. The sums are those of diagonals_vectors_cuda.cu, bit for bit.
 *
 * Measured on an H200, double, Poisson 160³: 0.194 ms; four vectors at a time 0.200, two 0.236;
 * with blocks that take tiles of the grid, 32 × 4 × 2, 0.191. */

#include "sparse/diagonals_cuda.cuh"
#include "sparse/vectors_cuda.cuh"

enum { block_threads = 256, blocks_at_once = 4, vectors = sparse_vectors_together };

/* Adds the entries of a row in one diagonal. */
template <typename real>
static __device__ void add_diagonal(real value, const real *__restrict__ x, int64_t x_stride,
                                    real (&sum)[vectors])
{
#pragma unroll
    for (int k = 0; k < vectors; k++)
        sum[k] = fma(value, __ldg(x + k * x_stride), sum[k]);
}

template <typename real, bool symmetric>
static __global__ void __launch_bounds__(block_threads, blocks_at_once)
    columns_kernel(const diagonals<real> a, const __grid_constant__ sparse_few_offsets few,
                   const vectors_product<real> product, const real *__restrict__ x,
                   int64_t x_stride)
{
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (row >= a.rows)
        return;
    real sum[vectors] = {};
    if (symmetric)
        for (int d = a.count - 1; d >= 0; d--) {
            const int64_t column = row - few.offset[d];
            if (column >= 0 && column < row)
                add_diagonal(__ldg(a.value + d * a.stride + column), x + column, x_stride, sum);
        }
    for (int d = 0; d < a.count; d++) {
        const int64_t column = row + few.offset[d];
        if (column >= 0 && column < a.columns)
            add_diagonal(__ldg(a.value + d * a.stride + row), x + column, x_stride, sum);
    }
#pragma unroll
    for (int k = 0; k < vectors; k++) {
        struct sums_to<real> to = product.to;
        to.y += k * product.vector_stride;
        put_filled_sum(to, product.entries, x + k * x_stride, row, sum[k]);
    }
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const vectors_product<real> &product, const real *x, int64_t x_stride)
{
    void (*const kernel)(const diagonals<real>, const sparse_few_offsets,
                         const vectors_product<real>, const real *, int64_t) =
        matrix->dia.symmetric ? columns_kernel<real, true> : columns_kernel<real, false>;
    kernel<<<blocks_for(matrix->csr.rows, block_threads), block_threads, 0, cuda_stream(context)>>>(
        diagonals_of<real>(matrix), sparse_own_of(matrix)->few, product, x, x_stride);
    return cuda_check_launch("starting the kernel of diagonals and columns");
}

kith_status sparse_diagonals_of_columns(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<double> &product, const double *x,
                                        int64_t x_stride)
{
    return launch(context, matrix, product, x, x_stride);
}

kith_status sparse_diagonals_of_columns(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<float> &product, const float *x,
                                        int64_t x_stride)
{
    return launch(context, matrix, product, x, x_stride);
}
