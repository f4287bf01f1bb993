/* A matrix of a few diagonals, two rows a thread: no column indices, and x is read in order. Of a
 * symmetric matrix only one half of the diagonals is stored and read from memory; the other half
 * comes a second time out of the cache.
 *
 * Measured on an H200, double, Poisson 160³ of which the halves differ: one row a thread 0.0731 ms,
 * two 0.0720, four 0.100; in float 0.0408, 0.0377 and 0.0377. */

#include "sparse/product_cuda.cuh"

enum { block_threads = 256, thread_rows = 2, at_once = 4 };

template <typename real> struct diagonals {
    int64_t rows, columns, count, stride;
    const int64_t *offset;
    const real *value;
};

template <typename real> struct alignas(thread_rows * sizeof(real)) reals {
    real of_row[thread_rows];
};

template <typename real>
static struct diagonals<real> diagonals_of(const struct sparse_matrix *matrix) {
    const struct sparse_dia *dia = &matrix->dia;
    return {matrix->csr.rows, matrix->csr.columns, dia->diagonals,
            dia->stride,      dia->offset,         (const real *)dia->value};
}

/* The stored diagonals. */
template <typename real>
static __device__ void add_stored(const struct diagonals<real> &a, int64_t row,
                                  const real *__restrict__ x, struct reals<real> &sum)
{
#pragma unroll at_once
    for (int64_t d = 0; d < a.count; d++) {
        const struct reals<real> value =
            *(const struct reals<real> *)(a.value + d * a.stride + row);
        const int64_t column = row + __ldg(a.offset + d);
#pragma unroll
        for (int r = 0; r < thread_rows; r++)
            if ((uint64_t)(column + r) < (uint64_t)a.columns)
                sum.of_row[r] = fma(value.of_row[r], __ldg(x + column + r), sum.of_row[r]);
    }
}

/* Those of the other half, of which A(i, i − offset) = A(i − offset, i); columns ascend. */
template <typename real>
static __device__ void add_mirrored(const struct diagonals<real> &a, int64_t row,
                                    const real *__restrict__ x, struct reals<real> &sum)
{
#pragma unroll at_once
    for (int64_t d = a.count - 1; d >= 0; d--) {
        const int64_t offset = __ldg(a.offset + d), column = row - offset;
#pragma unroll
        for (int r = 0; r < thread_rows; r++)
            if (offset > 0 && column + r >= 0 && row + r < a.rows)
                sum.of_row[r] = fma(__ldg(a.value + d * a.stride + column + r),
                                    __ldg(x + column + r), sum.of_row[r]);
    }
}

template <typename real, bool symmetric>
static __global__ void __launch_bounds__(block_threads)
    diagonals_kernel(const diagonals<real> a, const row_entries<real> entries,
                     const real *__restrict__ x, const sums_to<real> to)
{
    const int64_t row = ((int64_t)blockIdx.x * block_threads + threadIdx.x) * thread_rows;
    if (row >= a.rows)
        return;
    struct reals<real> sum = {
    };
    if (symmetric)
        add_mirrored(a, row, x, sum);
    add_stored(a, row, x, sum);
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
        if (row + r < a.rows)
            put_filled_sum(to, entries, x, row + r, sum.of_row[r]);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    void (*const kernel)(const diagonals<real>, const row_entries<real>, const real *,
                         const sums_to<real>) =
        matrix->dia.symmetric ? diagonals_kernel<real, true> : diagonals_kernel<real, false>;
    const unsigned blocks = blocks_for(matrix->csr.rows, block_threads * thread_rows);
    kernel<<<blocks, block_threads, 0, cuda_stream(context)>>>(
        diagonals_of<real>(matrix), row_entries_of<real>(matrix), (const real *)product->x,
        sums_to_of<real>(product));
    return cuda_check_launch("starting the kernel of diagonals");
}

kith_status sparse_diagonals_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch<double>(context, product)
                                                  : launch<float>(context, product);
}
