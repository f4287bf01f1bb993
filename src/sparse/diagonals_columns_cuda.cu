/* A matrix of a few diagonals by eight column-major vectors: a thread has a row of
 * all of them, neighboring threads read neighboring numbers, and nothing is brought into another
 * order. The sums are those of diagonals_vectors_cuda.cu, bit for bit.
 *
 * Measured on an H200, double, Poisson 160³: 0.194 ms; four vectors at a time 0.200, two 0.236;
 * with blocks that take tiles of the grid, 32 × 4 × 2, 0.191. A band of 25 diagonals, by two, three
 * and four diagonals at a time in double: 0.106, 0.112, 0.115 ms; in float 0.082, 0.071, 0.068;
 * 0.129 and 0.111 where each entry looks whether it is in the matrix. */

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

/* The entries of a row, `at_once` diagonals in flight; of a row that is inside all are in the
 * matrix. */
template <typename real, bool symmetric, bool inside, int at_once>
static __device__ void add_row(const diagonals<real> &a, const sparse_few_offsets &few, int64_t row,
                               const real *__restrict__ x, int64_t x_stride, real (&sum)[vectors])
{
    if (symmetric)
#pragma unroll at_once
        for (int d = a.count - 1; d >= 0; d--) {
            const int64_t column = row - few.offset[d];
            if ((inside || column >= 0) && column < row)
                add_diagonal(__ldg(a.value + d * a.stride + column), x + column, x_stride, sum);
        }
#pragma unroll at_once
    for (int d = 0; d < a.count; d++) {
        const int64_t column = row + few.offset[d];
        if (inside || (column >= 0 && column < a.columns))
            add_diagonal(__ldg(a.value + d * a.stride + row), x + column, x_stride, sum);
    }
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
    const int64_t ahead = few.offset[a.count - 1], behind = symmetric ? -ahead : few.offset[0];
    if (row + behind >= 0 && row + ahead < a.columns)
        add_row<real, symmetric, true, (int)(16 / sizeof(real))>(a, few, row, x, x_stride, sum);
    else
        add_row<real, symmetric, false, 1>(a, few, row, x, x_stride, sum);
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
