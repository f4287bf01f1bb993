/* A matrix whose diagonals are next to each other, by eight vectors: a thread has a few rows, whose
 * x it keeps while it goes from one diagonal to the next, so that each row of x is read once by the
 * rows of a thread. The sums are those of diagonals_vectors_cuda.cu, bit for bit.
 *
 * Measured on an H200, band of 25 diagonals, ms in double and float: 0.098 and 0.060 with four rows
 * a thread and eight diagonals in flight, 0.103 and 0.052 with two rows and five
 * diagonals; two rows and two diagonals 0.110 and 0.056, and 0.151 and 0.075 where each entry looks
 * whether it is in the matrix, as those at its edges do. */

#include "sparse/diagonals_cuda.cuh"
#include "sparse/vectors_cuda.cuh"

enum { block_threads = 128, blocks_at_once = 8, thread_rows = 2, diagonals_at_once = 5 };

/* What a thread has of its rows: of x that of the columns that the first diagonal to come meets. */
template <typename real> struct band_rows {
    struct share_of<real> x[thread_rows], sum[thread_rows];
};

/* Adds count diagonals to rows none of which meets an edge; `value` is the first row's in the
 * first of them, step from one to the next, and x what that entry meets. */
template <typename real, int count>
static __device__ void add_diagonals(const real *value, int64_t step,
                                     const struct share_of<real> *x, struct band_rows<real> &own)
{
    real a[count][thread_rows];
    struct share_of<real> met[thread_rows + count];
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
        met[r] = own.x[r];
#pragma unroll
    for (int u = 0; u < count; u++) {
        met[thread_rows + u] = x[(thread_rows + u) * lanes_of_entry<real>];
#pragma unroll
        for (int r = 0; r < thread_rows; r++)
            a[u][r] = once(value + u * step + r);
    }
#pragma unroll
    for (int u = 0; u < count; u++)
#pragma unroll
        for (int r = 0; r < thread_rows; r++)
            add_entry(a[u][r], met[u + r], own.sum[r]);
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
        own.x[r] = met[count + r];
}

/* The same for all diagonals of rows from `row` on, of which the first meets column `column`. */
template <typename real>
static __device__ void add_inside(const diagonals<real> &a, int64_t row, int64_t column,
                                  const struct share_of<real> *x, struct band_rows<real> &own)
{
    const real *value = a.value + row;
    x += column * lanes_of_entry<real>;
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
        own.x[r] = x[r * lanes_of_entry<real>];
    int u = 0;
    for (; u + diagonals_at_once <= a.count; u += diagonals_at_once)
        add_diagonals<real, diagonals_at_once>(value + u * a.stride, a.stride,
                                               x + u * lanes_of_entry<real>, own);
    for (; u < a.count; u++)
        add_diagonals<real, 1>(value + u * a.stride, a.stride, x + u * lanes_of_entry<real>, own);
}

/* The same for rows of which entries may be outside of the matrix. */
template <typename real>
static __device__ void add_at_edge(const diagonals<real> &a, int64_t row, int64_t column,
                                   const struct share_of<real> *x, struct band_rows<real> &own)
{
    for (int u = 0; u < a.count; u++)
#pragma unroll
        for (int r = 0; r < thread_rows; r++) {
            const int64_t j = column + u + r;
            if (row + r < a.rows && j >= 0 && j < a.columns)
                add_entry(once(a.value + u * a.stride + row + r), x[j * lanes_of_entry<real>],
                          own.sum[r]);
        }
}

/* `first` is the first stored diagonal's offset. Values may be read past the last row: there is
 * room (formats.h). */
template <typename real>
static __global__ void __launch_bounds__(block_threads, blocks_at_once)
    band_kernel(const diagonals<real> a, int first, const vectors_product<real> product,
                const real *__restrict__ x)
{
    const int64_t thread = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int64_t row = thread / lanes_of_entry<real> * thread_rows, column = row + first;
    if (row >= a.rows)
        return;
    const struct share_of<real> *shares = shares_of_lane(x);
    struct band_rows<real> own = {
    };
    if (column >= 0 && column + a.count + thread_rows <= a.columns)
        add_inside(a, row, column, shares, own);
    else
        add_at_edge(a, row, column, shares, own);
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
        if (row + r < a.rows)
            put_filled_sums(product, row + r, share_of_lane<real>(), shares, own.sum[r]);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const vectors_product<real> &product, const real *x)
{
    const int64_t parts = (matrix->csr.rows + thread_rows - 1) / thread_rows;
    band_kernel<real><<<blocks_for(parts * lanes_of_entry<real>, block_threads), block_threads, 0,
                        cuda_stream(context)>>>(diagonals_of<real>(matrix),
                                                sparse_own_of(matrix)->few.offset[0], product, x);
    return cuda_check_launch(
        "starting the kernel of contiguous diagonals and multiple right-hand sides");
}

kith_status sparse_band_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                   const vectors_product<double> &product, const double *x)
{
    return launch(context, matrix, product, x);
}

kith_status sparse_band_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                   const vectors_product<float> &product, const float *x)
{
    return launch(context, matrix, product, x);
}
