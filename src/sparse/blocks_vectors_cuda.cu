/* Blocks by eight vectors: two or four lanes per block row, with 16 bytes each of all its rows. A
 * block is read once, and the x that it meets is one stretch of memory.
 *
 * In single precision, each multiprocessor has one stretch of block rows, whose x, if they have
 * much of it in common, stays in its cache. Measured on an H200, 300 000 × 8 blocks of 3 × 3: float
 * 0.050 ms, with rows shared out as they come 0.067; double, where a stretch's x is too large,
 * 0.121 and 0.096. */

#include "sparse/vectors_cuda.cuh"

template <typename real> struct block_of {
    enum { threads = 128, blocks_at_once = 8, has_stretch = false };
};
template <> struct block_of<float> {
    enum { threads = 768, blocks_at_once = 1, has_stretch = true };
};

template <typename real, int size> struct sums_of_rows {
    struct share_of<real> of_row[size];
};

/* Adds block k of a slice, of which `value` has the lane's block row. */
template <typename real, int size>
static __device__ void add_block(const real *value, const struct share_of<real> *shares,
                                 int32_t column, int32_t last_column,
                                 struct sums_of_rows<real, size> &sums)
{
    struct share_of<real> met[size];
    real a[size][size];
#pragma unroll
    for (int j = 0; j < size; j++) {
        met[j] = shares[(int64_t)min(column + j, last_column) * lanes_of_entry<real>];
#pragma unroll
        for (int i = 0; i < size; i++)
            a[j][i] = once(value + j * warp * size + i);
    }
#pragma unroll
    for (int j = 0; j < size; j++)
#pragma unroll
        for (int i = 0; i < size; i++)
            add_entry(a[j][i], met[j], sums.of_row[i]);
}

template <typename real, int size>
static __device__ void do_block_row(const sparse_block_slices &a, int64_t block_row,
                                    int32_t last_column, const vectors_product<real> &product,
                                    const real *x)
{
    const int64_t slice = block_row / warp;
    const int r = (int)(block_row % warp);
    const struct share_of<real> *shares = shares_of_lane(x);
    const real *value = (const real *)a.value + r * size;
    const int64_t end = a.start[slice + 1];
    struct sums_of_rows<real, size> sums = {
    };
#pragma unroll 2
    for (int64_t k = a.start[slice]; k < end; k++)
        add_block<real, size>(value + k * size * size * warp, shares,
                              once(a.block_column + k * warp + r) * size, last_column, sums);
#pragma unroll
    for (int i = 0; i < size; i++) {
        const int64_t row = block_row * size + i;
        if (row < product.rows)
            put_filled_sums(product, row, share_of_lane<real>(), shares, sums.of_row[i]);
    }
}

/* Pieces of the matrix are as many block rows as a block has threads for; `pieces` of them come one
 * after the other. */
template <typename real, int size>
static __global__ void __launch_bounds__(block_of<real>::threads, block_of<real>::blocks_at_once)
    blocks_kernel(const sparse_block_slices a, int pieces, int32_t last_column,
                  const vectors_product<real> product, const real *__restrict__ x)
{
    constexpr int rows_of_piece = block_of<real>::threads / lanes_of_entry<real>;
    int64_t block_row =
        (int64_t)blockIdx.x * pieces * rows_of_piece + (int)threadIdx.x / lanes_of_entry<real>;
    for (int p = 0; p < pieces && block_row < a.slices * warp; p++, block_row += rows_of_piece)
        do_block_row<real, size>(a, block_row, last_column, product, x);
}

template <typename real, int size>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const vectors_product<real> &product, const real *x)
{
    const struct sparse_block_slices *a = &sparse_own_of(matrix)->blocks;
    const int64_t pieces =
        blocks_for(a->slices * warp * lanes_of_entry<real>, block_of<real>::threads);
    const int64_t multiprocessors = cuda_multiprocessors(context);
    const int64_t in_turn =
        block_of<real>::has_stretch ? (pieces + multiprocessors - 1) / multiprocessors : 1;
    blocks_kernel<real, size>
        <<<blocks_for(pieces, in_turn), block_of<real>::threads, 0, cuda_stream(context)>>>(
            *a, (int)in_turn, (int32_t)matrix->csr.columns - 1, product, x);
    return cuda_check_launch("starting the kernel of blocks and multiple right-hand sides");
}

template <typename real>
static kith_status launch_for_size(kith_context *context, const struct sparse_matrix *matrix,
                                   const vectors_product<real> &product, const real *x)
{
    switch (matrix->plan.block) {
    case 2:
        return launch<real, 2>(context, matrix, product, x);
    case 3:
        return launch<real, 3>(context, matrix, product, x);
    default:
        return launch<real, 4>(context, matrix, product, x);
    }
}

kith_status sparse_blocks_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<double> &product, const double *x)
{
    return launch_for_size(context, matrix, product, x);
}

kith_status sparse_blocks_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<float> &product, const float *x)
{
    return launch_for_size(context, matrix, product, x);
}
