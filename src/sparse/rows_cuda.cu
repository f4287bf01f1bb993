/* Rows of a CSR matrix: a thread per row (row-thread), or 2 to 32 neighboring ones (row-vector),
 * which then read neighboring entries and add their sums by shuffles. Fast where all rows of a
 * warp are of about one length; "thread per row".
 *
 * Four entries a lane are in flight. */

#include "sparse/product_cuda.cuh"

enum { block_threads = 256, at_once = 4 };

template <typename real, typename index> struct packed_rows {
    int64_t rows;
    bool wide_starts;
    const void *start;
    const index *column;
    const int32_t *base;
    const real *value;
};

template <typename real, typename index>
static struct packed_rows<real, index> packed_rows_of(const struct sparse_matrix *matrix) {
    const struct sparse_packed_csr *packed = &matrix->packed;
    return {matrix->csr.rows,   packed->start_bytes == 8,
            packed->row_start,  (const index *)packed->index.index,
            packed->index.base, (const real *)packed->value};
}

template <typename real, typename index>
static __device__ int64_t start_of(const struct packed_rows<real, index> &a, int64_t row)
{
    return a.wide_starts ? ((const int64_t *)a.start)[row] : ((const int32_t *)a.start)[row];
}

template <typename real, typename index>
static __device__ real sum_of_lane(const struct packed_rows<real, index> &a, int64_t row, int lane,
                                   int lanes, const real *__restrict__ x)
{
    const int64_t start = start_of(a, row);
    const int length = (int)(start_of(a, row + 1) - start);
    const index *column = a.column + start;
    const real *value = a.value + start;
    const real *base = sizeof(index) == 2 ? x + a.base[row >> sparse_base_shift] : x;
    real sum = 0;
    for (int k = lane; k < length; k += at_once * lanes) {
        index c[at_once];
        real v[at_once];
#pragma unroll
        for (int u = 0; u < at_once; u++) {
            const bool is_in = k + u * lanes < length;
            c[u] = is_in ? once(column + k + u * lanes) : (index)0;
            v[u] = is_in ? once(value + k + u * lanes) : (real)0;
        }
#pragma unroll
        for (int u = 0; u < at_once; u++)
            if (k + u * lanes < length)
                sum = fma(v[u], __ldg(base + c[u]), sum);
    }
    return sum;
}

template <typename real, typename index>
static __global__ void __launch_bounds__(block_threads)
    rows_kernel(const packed_rows<real, index> a, int log_lanes, const real *__restrict__ x,
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

template <typename real, typename index>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    int log_lanes = 0;
    while (1 << log_lanes < matrix->plan.lanes && log_lanes < 5)
        log_lanes++;
    const unsigned blocks = blocks_for(matrix->csr.rows << log_lanes, block_threads);
    rows_kernel<real, index><<<blocks, block_threads, 0, cuda_stream(context)>>>(
        packed_rows_of<real, index>(matrix), log_lanes, (const real *)product->x,
        sums_to_of<real>(product));
    return cuda_check_launch("starting the kernel of rows");
}

kith_status sparse_rows_cuda(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    const bool narrow = matrix->packed.index.bytes == 2;
    if (matrix->csr.dtype == KITH_F64)
        return narrow ? launch<double, uint16_t>(context, product)
                      : launch<double, int32_t>(context, product);
    return narrow ? launch<float, uint16_t>(context, product)
                  : launch<float, int32_t>(context, product);
}
