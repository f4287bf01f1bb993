/* Rows to slices of blocks (own_cuda.h). A thread merges the rows of a block row. */

#include "sparse/convert_cuda.h"
#include "sparse/product_cuda.cuh"

enum { block_threads = 128 };

/* The rows of a block row, each with the entries that are left of it. */
template <int size> struct block_row {
    int64_t at[size], end[size];
};

template <int size>
static __device__ struct block_row<size> block_row_of(int64_t rows, const int64_t *start,
                                                      int64_t number) {
    struct block_row<size> a;
    for (int r = 0; r < size; r++) {
        const int64_t row = number * size + r;
        a.at[r] = row < rows ? start[row] : 0;
        a.end[r] = row < rows ? start[row + 1] : 0;
    }
    return a;
}

/* The column of the next block, or −1 after the last. */
template <int size>
static __device__ int32_t next_block(const struct block_row<size> &a, const int32_t *column)
{
    int32_t next = INT32_MAX;
    for (int r = 0; r < size; r++)
        if (a.at[r] < a.end[r])
            next = min(next, column[a.at[r]] / size);
    return next == INT32_MAX ? -1 : next;
}

/* The longest block row of each slice. */
template <int size>
static __global__ void count_blocks_kernel(int64_t rows, const int64_t *start,
                                           const int32_t *column, int64_t slices, int64_t *longest)
{
    const int64_t place = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    struct block_row<size> a = block_row_of<size>(rows, start, place);
    int blocks = 0;
    for (int32_t next; (next = next_block(a, column)) >= 0; blocks++)
        for (int r = 0; r < size; r++)
            while (a.at[r] < a.end[r] && column[a.at[r]] / size == next)
                a.at[r]++;
    blocks = warp_largest(blocks);
    if (place / warp <= slices && place % warp == 0)
        longest[place / warp] = place / warp < slices ? blocks : 0;
}

template <typename real, int size>
static __global__ void fill_blocks_kernel(int64_t rows, const row_entries<real> entries,
                                          const sparse_block_slices to)
{
    const int64_t place = (int64_t)blockIdx.x * block_threads + threadIdx.x, slice = place / warp;
    if (slice >= to.slices)
        return;
    const int lane = threadIdx.x % warp;
    struct block_row<size> a = block_row_of<size>(rows, entries.start, place);
    int64_t k = to.start[slice];
    for (int32_t next; (next = next_block(a, entries.column)) >= 0; k++) {
        to.block_column[k * warp + lane] = next;
        for (int r = 0; r < size; r++)
            for (; a.at[r] < a.end[r] && entries.column[a.at[r]] / size == next; a.at[r]++) {
                const int j = entries.column[a.at[r]] % size;
                ((real *)to.value)[((k * size + j) * warp + lane) * size + r] =
                    entries.value[a.at[r]];
            }
    }
}

template <typename real, int size>
static kith_status convert(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_block_slices *to = &((struct sparse_own *)matrix->own)->blocks;
    const cudaStream_t stream = cuda_stream(context);
    int64_t blocks = 0;
    to->slices = ((csr->rows + size - 1) / size + warp - 1) / warp;
    const unsigned launched = blocks_for((to->slices + 1) * warp, block_threads);
    KITH_TRY(sparse_matrix_allocate(context, matrix, to->slices + 1, sizeof *to->start,
                                    "starts of slices", &to->start));
    count_blocks_kernel<size><<<launched, block_threads, 0, stream>>>(
        csr->rows, csr->row_start, csr->column, to->slices, to->start);
    KITH_TRY(cuda_check_launch("counting blocks"));
    KITH_TRY(sparse_starts_cuda(context, to->start, to->slices, to->start, &blocks));
    KITH_TRY(sparse_matrix_allocate(context, matrix, blocks * warp, sizeof *to->block_column,
                                    "blocks' columns", &to->block_column));
    KITH_TRY(sparse_matrix_allocate(context, matrix, blocks * warp * size * size, sizeof(real),
                                    "blocks' values", &to->value));
    fill_blocks_kernel<real, size>
        <<<launched, block_threads, 0, stream>>>(csr->rows, row_entries_of<real>(matrix), *to);
    return cuda_check_launch("padding blocks");
}

template <typename real>
static kith_status convert_for_size(kith_context *context, struct sparse_matrix *matrix)
{
    switch (matrix->plan.block) {
    case 2:
        return convert<real, 2>(context, matrix);
    case 3:
        return convert<real, 3>(context, matrix);
    default:
        return convert<real, 4>(context, matrix);
    }
}

kith_status sparse_to_bsr_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    return matrix->csr.dtype == KITH_F64 ? convert_for_size<double>(context, matrix)
                                         : convert_for_size<float>(context, matrix);
}
