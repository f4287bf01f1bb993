/* A matrix whose diagonals are next to each other, by eight vectors: a thread has two rows, whose
 * x it keeps while it goes from one diagonal to the next, so that each row of x is read once and
 * not twice. The sums are those of diagonals_vectors_cuda.cu, bit for bit.
 *
 * Measured on an H200, band of 25 diagonals, double, in a program of its own: 0.108 ms, without
 * keeping x 0.167; three rows a thread 0.111, four 0.110, six 0.108, two rows of 32 bytes a thread
 * 0.154. kith bench sparse measured 0.153. */

#include "sparse/diagonals_cuda.cuh"
#include "sparse/vectors_cuda.cuh"

enum { block_threads = 256, blocks_at_once = 4, thread_rows = 2 };

/* Diagonals as a run: of the thread's row r the value in the u-th is value[u·step + r], if it is in
 * the matrix, and the column `column` + u + r. */
template <typename real> struct run {
    const real *value;
    int64_t step, column;
    int count;
};

template <typename real>
static __device__ struct share_of<real> share_at(const struct share_of<real> *x, int64_t columns,
                                                 int64_t column) {
    struct share_of<real> made = {
    };
    if (column >= 0 && column < columns)
        made = x[column * lanes_of_entry<real>];
    return made;
}

/* Adds two diagonals from the u-th on; `met` is the x of row 0 in the u-th, and then in the next.
 */
template <typename real>
static __device__ void add_two(const struct run<real> &run, int u, int64_t columns,
                               const struct share_of<real> *x, struct share_of<real> &met,
                               struct share_of<real> (&sum)[thread_rows])
{
    const int64_t column = run.column + u;
    const real *value = run.value + u * run.step;
    real a[thread_rows][2];
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
#pragma unroll
        for (int v = 0; v < 2; v++) {
            const int64_t j = column + r + v;
            a[r][v] = j >= 0 && j < columns ? once(value + v * run.step + r) : (real)0;
        }
    const struct share_of<real> second = share_at(x, columns, column + 1);
    const struct share_of<real> third = share_at(x, columns, column + 2);
    add_entry(a[0][0], met, sum[0]);
    add_entry(a[1][0], second, sum[1]);
    add_entry(a[0][1], second, sum[0]);
    add_entry(a[1][1], third, sum[1]);
    met = third;
}

template <typename real>
static __device__ void add_run(const struct run<real> &run, int64_t columns,
                               const struct share_of<real> *x,
                               struct share_of<real> (&sum)[thread_rows])
{
    struct share_of<real> met = share_at(x, columns, run.column);
    int u = 0;
    for (; u + 2 <= run.count; u += 2)
        add_two(run, u, columns, x, met, sum);
    if (u == run.count)
        return;
#pragma unroll
    for (int r = 0; r < thread_rows; r++) {
        const int64_t j = run.column + u + r;
        if (j >= 0 && j < columns)
            add_entry(once(run.value + u * run.step + r), x[j * lanes_of_entry<real>], sum[r]);
    }
}

/* `first` is the first stored diagonal's offset. Values may be read behind the last row: there is
 * room (formats.h). */
template <typename real>
static __global__ void __launch_bounds__(block_threads, blocks_at_once)
    runs_kernel(const diagonals<real> a, int first, const vectors_product<real> product,
                const real *__restrict__ x)
{
    const int64_t thread = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int64_t row = thread / lanes_of_entry<real> * thread_rows;
    if (row >= a.rows)
        return;
    const struct share_of<real> *shares = shares_of_lane(x);
    struct share_of<real> sum[thread_rows] = {
    };
    add_run<real>({a.value + row, a.stride, row + first, a.count}, a.columns, shares, sum);
#pragma unroll
    for (int r = 0; r < thread_rows; r++)
        if (row + r < a.rows)
            put_filled_sums(product, row + r, share_of_lane<real>(), shares, sum[r]);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const vectors_product<real> &product, const real *x)
{
    const int64_t pairs = (matrix->csr.rows + thread_rows - 1) / thread_rows;
    runs_kernel<real><<<blocks_for(pairs * lanes_of_entry<real>, block_threads), block_threads, 0,
                        cuda_stream(context)>>>(diagonals_of<real>(matrix),
                                                sparse_own_of(matrix)->few.offset[0], product, x);
    return cuda_check_launch("starting the kernel of a run of diagonals and several vectors");
}

kith_status sparse_runs_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                   const vectors_product<double> &product, const double *x)
{
    return launch(context, matrix, product, x);
}

kith_status sparse_runs_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                   const vectors_product<float> &product, const float *x)
{
    return launch(context, matrix, product, x);
}
