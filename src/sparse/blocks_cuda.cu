/* Blocks of 2 × 2, 3 × 3 or 4 × 4, a thread a row of the matrix: one column index a block, and the
 * blocks of 32 block rows lie so that a warp reads whole lines of values (own_cuda.h).
 *
 * Measured on an H200, 300 000 × 8 blocks of 3 × 3, double: 0.047 ms; a thread per block row 0.061.
 */

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.cuh"

enum { at_once = 4 };

/* Threads of a block: whole warps and whole slices. */
template <int size> struct block_of {
    enum { threads = size == 2 ? 128 : size == 3 ? 192 : 256, slice_rows = warp * size };
};

template <typename real, int size>
static __global__ void __launch_bounds__(block_of<size>::threads)
    blocks_kernel(int64_t rows, int32_t last_column, const sparse_block_slices a,
                  const row_entries<real> entries, const real *__restrict__ x,
                  const sums_to<real> to)
{
    constexpr int slice_rows = block_of<size>::slice_rows;
    const int64_t row = (int64_t)blockIdx.x * block_of<size>::threads + threadIdx.x;
    const int64_t slice = row / slice_rows;
    if (slice >= a.slices)
        return;
    const int r = (int)(row % slice_rows);
    const real *value = (const real *)a.value + r;
    const int64_t end = a.start[slice + 1];
    real sum = 0;
#pragma unroll at_once
    for (int64_t k = a.start[slice]; k < end; k++) {
        const int32_t column = __ldg(a.block_column + k * warp + r / size) * size;
#pragma unroll
        for (int j = 0; j < size; j++)
            sum = fma(once(value + (k * size + j) * slice_rows),
                      __ldg(x + min(column + j, last_column)), sum);
    }
    if (row < rows)
        put_filled_sum(to, entries, x, row, sum);
}

template <typename real, int size>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_csr *csr = &product->matrix->csr;
    const struct sparse_block_slices *a = &sparse_own_of(product->matrix)->blocks;
    const unsigned blocks =
        blocks_for(a->slices * block_of<size>::slice_rows, block_of<size>::threads);
    blocks_kernel<real, size><<<blocks, block_of<size>::threads, 0, cuda_stream(context)>>>(
        csr->rows, (int32_t)csr->columns - 1, *a, row_entries_of<real>(product->matrix),
        (const real *)product->x, sums_to_of<real>(product));
    return cuda_check_launch("starting the kernel of blocks");
}

template <typename real>
static kith_status launch_for_size(kith_context *context, const struct sparse_product *product)
{
    switch (product->matrix->plan.block) {
    case 2:
        return launch<real, 2>(context, product);
    case 3:
        return launch<real, 3>(context, product);
    default:
        return launch<real, 4>(context, product);
    }
}

kith_status sparse_blocks_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch_for_size<double>(context, product)
                                                  : launch_for_size<float>(context, product);
}
