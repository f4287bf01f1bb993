/* Blocks by eight vectors: four lanes a block row, with two vectors each of all its rows. A block
 * is read once, and the x that it meets is one stretch of memory. */

#include "sparse/vectors_cuda.cuh"

enum { block_threads = 256 };

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
static __global__ void __launch_bounds__(block_threads)
    blocks_kernel(const sparse_block_slices a, int32_t last_column,
                  const vectors_product<real> product, const real *__restrict__ x)
{
    const int64_t block_row =
        ((int64_t)blockIdx.x * block_threads + threadIdx.x) / lanes_of_entry<real>;
    const int64_t slice = block_row / warp;
    if (slice >= a.slices)
        return;
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
            put_filled_sums(product, row, shares, sums.of_row[i]);
    }
}

template <typename real, int size>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const vectors_product<real> &product, const real *x)
{
    const struct sparse_block_slices *a = &sparse_own_of(matrix)->blocks;
    const unsigned blocks = blocks_for(a->slices * warp * lanes_of_entry<real>, block_threads);
    blocks_kernel<real, size><<<blocks, block_threads, 0, cuda_stream(context)>>>(
        *a, (int32_t)matrix->csr.columns - 1, product, x);
    return cuda_check_launch("starting the kernel of blocks and several vectors");
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
