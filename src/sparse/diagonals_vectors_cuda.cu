/* A matrix of a few diagonals by eight vectors: a lane has 32 bytes of a row's numbers, so that two
 * or four rows of x and as many values are in flight. Values are read once for all eight.
 *
 * Measured on an H200, double, Poisson 160³: 0.209 ms, with 16 bytes per lane 0.243, with 256
 * threads a block 0.220. Blocks that take tiles of the grid, 32 × 4 × 1, have 0.207; x and values
 * in shared memory, plane after plane, 0.321. */

#include "sparse/diagonals_cuda.cuh"
#include "sparse/vectors_cuda.cuh"

enum { block_threads = 128, blocks_at_once = 8, at_once = 4, shares_of_thread = 2 };

template <typename real> constexpr int threads_of_row = lanes_of_entry<real> / shares_of_thread;

/* What a thread has of a row. */
template <typename real> struct thread_shares {
    struct share_of<real> of[shares_of_thread];
};

template <typename real>
static __device__ struct thread_shares<real> shares_of_row(const struct share_of<real> *x,
                                                           int64_t row) {
    struct thread_shares<real> made;
#pragma unroll
    for (int j = 0; j < shares_of_thread; j++)
        made.of[j] = x[row * lanes_of_entry<real> + j * threads_of_row<real>];
    return made;
}

/* Adds the entries of a row in count diagonals from the d-th on; of the mirrored half, those in the
   diagonals after it, of which A(i, i − offset) = A(i − offset, i). All are in flight. */
template <typename real, bool mirrored>
static __device__ void add_diagonals(const diagonals<real> &a, const sparse_few_offsets &few, int d,
                                     int64_t row, const struct share_of<real> *x,
                                     struct thread_shares<real> &sum)
{
    real value[at_once];
    struct thread_shares<real> met[at_once];
#pragma unroll
    for (int u = 0; u < at_once; u++) {
        const int number = mirrored ? d - u : d + u;
        const bool is_there = mirrored ? number >= 0 : number < a.count;
        const int64_t offset = is_there ? few.offset[number] : 0;
        const int64_t column = mirrored ? row - offset : row + offset;
        const bool is_in =
            is_there && column >= 0 && column < a.columns && !(mirrored && column == row);
        const real *from = a.value + number * a.stride;
        value[u] = 0;
        met[u] = {};
        if (is_in) {
            value[u] = __ldg(from + (mirrored ? column : row));
            met[u] = shares_of_row(x, column);
        }
    }
#pragma unroll
    for (int u = 0; u < at_once; u++)
#pragma unroll
        for (int j = 0; j < shares_of_thread; j++)
            add_entry(value[u], met[u].of[j], sum.of[j]);
}

template <typename real, bool symmetric>
static __global__ void __launch_bounds__(block_threads, blocks_at_once)
    diagonals_kernel(const diagonals<real> a, const __grid_constant__ sparse_few_offsets few,
                     const vectors_product<real> product, const real *__restrict__ x)
{
    const int64_t thread = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int64_t row = thread / threads_of_row<real>;
    if (row >= a.rows)
        return;
    const int part = threadIdx.x % threads_of_row<real>;
    const struct share_of<real> *shares = (const struct share_of<real> *)x + part;
    struct thread_shares<real> sum = {
    };
    if (symmetric)
        for (int d = a.count - 1; d >= 0; d -= at_once)
            add_diagonals<real, true>(a, few, d, row, shares, sum);
    for (int d = 0; d < a.count; d += at_once)
        add_diagonals<real, false>(a, few, d, row, shares, sum);
#pragma unroll
    for (int j = 0; j < shares_of_thread; j++)
        put_filled_sums(product, row, part + j * threads_of_row<real>,
                        shares + j * threads_of_row<real>, sum.of[j]);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const vectors_product<real> &product, const real *x)
{
    void (*const kernel)(const diagonals<real>, const sparse_few_offsets,
                         const vectors_product<real>, const real *) =
        matrix->dia.symmetric ? diagonals_kernel<real, true> : diagonals_kernel<real, false>;
    const unsigned blocks = blocks_for(matrix->csr.rows * threads_of_row<real>, block_threads);
    kernel<<<blocks, block_threads, 0, cuda_stream(context)>>>(
        diagonals_of<real>(matrix), sparse_own_of(matrix)->few, product, x);
    return cuda_check_launch("starting the kernel of diagonals and multiple right-hand sides");
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
