/* A matrix of a few diagonals by eight vectors: four lanes a row, with two vectors each. Values are
 * read once for all eight, and x and y in order. */

#include "sparse/diagonals_cuda.cuh"
#include "sparse/vectors_cuda.cuh"

enum { block_threads = 256, at_once = 4 };

template <typename real>
static __device__ void add_entry(real value, const struct pair_of<real> *pairs, int64_t column,
                                 struct pair_of<real> &sum)
{
    const struct pair_of<real> met = pairs[column * lanes_of_entry];
    sum.of[0] = fma(value, met.of[0], sum.of[0]);
    sum.of[1] = fma(value, met.of[1], sum.of[1]);
}

/* A filling's zero has met an x that is not finite: once more, without filling. */
template <typename real>
static __device__ __noinline__ struct pair_of<real>
sums_of_entries(const row_entries<real> &a, int64_t row, const struct pair_of<real> *pairs) {
    struct pair_of<real> sum = {
    };
    for (int64_t k = a.start[row]; k < a.start[row + 1]; k++)
        add_entry(a.value[k], pairs, a.column[k], sum);
    return sum;
}

template <typename real, bool symmetric>
static __global__ void __launch_bounds__(block_threads)
    diagonals_kernel(const diagonals<real> a, const __grid_constant__ sparse_few_offsets few,
                     const vectors_product<real> product, const real *__restrict__ x)
{
    const int64_t thread = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int64_t row = thread / lanes_of_entry;
    if (row >= a.rows)
        return;
    const struct pair_of<real> *pairs =
        (const struct pair_of<real> *)x + threadIdx.x % lanes_of_entry;
    struct pair_of<real> sum = {
    };
    if (symmetric)
#pragma unroll at_once
        for (int d = a.count - 1; d >= 0; d--) {
            const int64_t column = row - few.offset[d];
            if (column >= 0 && column != row)
                add_entry(__ldg(a.value + d * a.stride + column), pairs, column, sum);
        }
#pragma unroll at_once
    for (int d = 0; d < a.count; d++) {
        const int64_t column = row + few.offset[d];
        if (column >= 0 && column < a.columns)
            add_entry(once(a.value + d * a.stride + row), pairs, column, sum);
    }
    if (sum.of[0] != sum.of[0] || sum.of[1] != sum.of[1])
        sum = sums_of_entries(product.entries, row, pairs);
    put_sums(product, row, sum);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const vectors_product<real> &product, const real *x)
{
    void (*const kernel)(const diagonals<real>, const sparse_few_offsets,
                         const vectors_product<real>, const real *) =
        matrix->dia.symmetric ? diagonals_kernel<real, true> : diagonals_kernel<real, false>;
    const unsigned blocks = blocks_for(matrix->csr.rows * lanes_of_entry, block_threads);
    kernel<<<blocks, block_threads, 0, cuda_stream(context)>>>(
        diagonals_of<real>(matrix), sparse_own_of(matrix)->few, product, x);
    return cuda_check_launch("starting the kernel of diagonals and several vectors");
}

kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<double> &product, const double *x)
{
    return launch(context, matrix, product, x);
}

kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<float> &product, const float *x)
{
    return launch(context, matrix, product, x);
}
