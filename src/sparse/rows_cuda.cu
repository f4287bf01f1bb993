/* Rows of a CSR matrix: a thread per row (row-thread), or 2 to 32 neighboring ones (row-vector),
 * which then read neighboring entries and add their sums by shuffles. Fast where all rows of a
 * warp are of about one length; "thread per row".
 *
 * Four entries a lane are in flight. */

#include "sparse/product_cuda.cuh"

enum { block_threads = 256, at_once = 4 };

template <typename real> struct packed_rows {
    int64_t rows;
    bool wide_starts;
    const void *start;
    const int32_t *column;
    const real *value;
};

template <typename real>
static struct packed_rows<real> packed_rows_of(const struct sparse_matrix *matrix) {
    const struct sparse_packed_csr *packed = &matrix->packed;
    return {matrix->csr.rows, packed->start_bytes == 8, packed->row_start,
            (const int32_t *)packed->index.index, (const real *)packed->value};
}

template <typename real>
static __device__ int64_t start_of(const struct packed_rows<real> &a, int64_t row)
{
    return a.wide_starts ? ((const int64_t *)a.start)[row] : ((const int32_t *)a.start)[row];
}

template <typename real>
static __device__ real sum_of_lane(const struct packed_rows<real> &a, int64_t row, int lane,
                                   int lanes, const real *__restrict__ x)
{
    const int64_t start = start_of(a, row);
    const int length = (int)(start_of(a, row + 1) - start);
    const int32_t *column = a.column + start;
    const real *value = a.value + start;
    real sum = 0;
    for (int k = lane; k < length; k += at_once * lanes) {
        int32_t c[at_once];
        real v[at_once];
#pragma unroll
        for (int u = 0; u < at_once; u++) {
            const bool is_in = k + u * lanes < length;
            c[u] = is_in ? once(column + k + u * lanes) : 0;
            v[u] = is_in ? once(value + k + u * lanes) : (real)0;
        }
#pragma unroll
        for (int u = 0; u < at_once; u++)
            if (k + u * lanes < length)
                sum = fma(v[u], __ldg(x + c[u]), sum);
    }
    return sum;
}

template <typename real>
static __global__ void __launch_bounds__(block_threads)
    rows_kernel(const packed_rows<real> a, int log_lanes, const real *__restrict__ x,
                const sums_to<real> to)
{
    const int64_t thread = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int lanes = 1 << log_lanes, lane = (int)(thread & (lanes - 1));
    const int64_t row = thread >> log_lanes;
    const real own = row < a.rows ? sum_of_lane(a, row, lane, lanes, x) : (real)0;
    const real sum = warp_sum(own, lanes);
    if (row < a.rows && lane == 0)
        put_sum(to, row, sum);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    int log_lanes = 0;
    while (1 << log_lanes < matrix->plan.lanes && log_lanes < 5)
        log_lanes++;
    const unsigned blocks = blocks_for(matrix->csr.rows << log_lanes, block_threads);
    rows_kernel<real><<<blocks, block_threads, 0, cuda_stream(context)>>>(
        packed_rows_of<real>(matrix), log_lanes, (const real *)product->x,
        sums_to_of<real>(product));
    return cuda_check_launch("starting the kernel of rows");
}

kith_status sparse_rows_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch<double>(context, product)
                                                  : launch<float>(context, product);
}
