/* A matrix of a few diagonals, two rows per thread: no column indices, and x is read in order. Of a
 * symmetric matrix only one half of the diagonals is stored and read from memory; the other half
 * comes a second time out of the cache.
 *
 * Measured on an H200, double, Poisson 160³ of which the halves differ: one row a thread 0.0731 ms,
 * two 0.0720, four 0.100; in float 0.0408, 0.0377 and 0.0377. */

#include "sparse/diagonals_cuda.cuh"

enum { block_threads = 256, thread_rows = 2, at_once = 4 };

template <typename real> struct alignas(thread_rows * sizeof(real)) reals {
    real of_row[thread_rows];
};

template <typename real, bool few>
static __device__ int offset_of(const struct diagonals<real> &a,
                                const struct sparse_few_offsets &offsets, int d)
{
    return few ? offsets.offset[d] : (int)__ldg(a.offset + d);
}

/* The stored diagonals. */
template <typename real, bool few>
static __device__ void add_stored(const struct diagonals<real> &a,
                                  const struct sparse_few_offsets &offsets, int row,
                                  const real *__restrict__ x, struct reals<real> &sum)
{
    const real *from = a.value + row;
#pragma unroll at_once
    for (int d = 0; d < a.count; d++) {
        const struct reals<real> value = *(const struct reals<real> *)(from + d * a.stride);
        const unsigned column = (unsigned)row + (unsigned)offset_of<real, few>(a, offsets, d);
#pragma unroll
        for (int r = 0; r < thread_rows; r++) /* what is negative is too large */
            if (column + r < (unsigned)a.columns)
                sum.of_row[r] = fma(value.of_row[r], __ldg(x + (column + r)), sum.of_row[r]);
    }
}

/* Those of the other half, of which A(i, i − offset) = A(i − offset, i); columns ascend. */
template <typename real, bool few>
static __device__ void add_mirrored(const struct diagonals<real> &a,
                                    const struct sparse_few_offsets &offsets, int row,
                                    const real *__restrict__ x, struct reals<real> &sum)
{
    const int first = offset_of<real, few>(a, offsets, 0) == 0; /* the diagonal in the middle */
#pragma unroll at_once
    for (int d = a.count - 1; d >= first; d--) {
        const int column = row - offset_of<real, few>(a, offsets, d);
        const real *from = a.value + d * a.stride + column;
#pragma unroll
        for (int r = 0; r < thread_rows; r++)
            if (column + r >= 0 && row + r < a.rows)
                sum.of_row[r] = fma(__ldg(from + r), __ldg(x + column + r), sum.of_row[r]);
    }
}

template <typename real, bool symmetric, bool few>
static __global__ void __launch_bounds__(block_threads)
    diagonals_kernel(const diagonals<real> a, const __grid_constant__ sparse_few_offsets offsets,
                     const row_entries<real> entries, const real *__restrict__ x,
                     const sums_to<real> to)
{
    const int64_t place = ((int64_t)blockIdx.x * block_threads + threadIdx.x) * thread_rows;
    const int row = (int)place;
    if (place >= a.rows)
        return;
    struct reals<real> sum = {
    };
    if (symmetric)
        add_mirrored<real, few>(a, offsets, row, x, sum);
    add_stored<real, few>(a, offsets, row, x, sum);
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
        if (row + r < a.rows)
            put_filled_sum(to, entries, x, row + r, sum.of_row[r]);
}

template <typename real, bool symmetric, bool few>
static void launch_one(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    const unsigned blocks = blocks_for(matrix->csr.rows, block_threads * thread_rows);
    diagonals_kernel<real, symmetric, few><<<blocks, block_threads, 0, cuda_stream(context)>>>(
        diagonals_of<real>(matrix), sparse_own_of(matrix)->few, row_entries_of<real>(matrix),
        (const real *)product->x, sums_to_of<real>(product));
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const bool few = product->matrix->dia.diagonals <= sparse_few_diagonals;
    if (product->matrix->dia.symmetric && few)
        launch_one<real, true, true>(context, product);
    else if (product->matrix->dia.symmetric)
        launch_one<real, true, false>(context, product);
    else if (few)
        launch_one<real, false, true>(context, product);
    else
        launch_one<real, false, false>(context, product);
    return cuda_check_launch("starting the kernel of diagonals");
}

kith_status sparse_diagonals_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch<double>(context, product)
                                                  : launch<float>(context, product);
}
