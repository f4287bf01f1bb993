/* Slices of 32 rows by eight vectors. In double precision a warp has a slice: a lane reads the
 * entries of its row, and shuffles hand them to the few lanes that have the row's vectors, so that
 * a warp has the x of 32 entries in flight. In single precision the two lanes of a row read its
 * entries, and half of a slice is a warp's.
 *
 * Measured on an H200, ms, compared with lanes of a row that read its compressed entries
 * themselves; double: random 0.237 and 0.313, R-MAT 0.228 and 0.341, tall 0.142 and 0.183, rows of
 * which nine of ten are empty 0.064 and 0.223; float: R-MAT 0.192 (by shuffles 0.205) and 0.207,
 * empty rows 0.053 (0.051) and 0.116. Two entries of a row at a time by shuffles: 0.287, 0.251,
 * 0.167, 0.069 in double. */

#include "sparse/slices_cuda.cuh"
#include "sparse/vectors_cuda.cuh"

enum { block_threads = 128, blocks_at_once = 8 };

template <typename real> constexpr int rows_at_once = warp / lanes_of_entry<real>;
template <typename real> constexpr bool has_shuffles = sizeof(real) == 8;
template <typename real>
constexpr int warps_of_slice = has_shuffles<real> ? 1 : lanes_of_entry<real>;

/* Row `in_slice` of a slice. */
template <typename real, typename index> struct row_of_slice {
    int length;
    const index *column;
    const real *value;
    int64_t row; /* −1: none */
};

template <typename real, typename index>
static __device__ struct row_of_slice<real, index> row_at(const slices<real, index> &a,
                                                          int64_t slice, int in_slice) {
    const int64_t start = a.start ? a.start[slice] : slice * warp, first = start + in_slice;
    const int64_t place = slice * warp + in_slice;
    const int64_t row = a.row ? a.row[place] : place;
    const int length = a.start ? (int)((a.start[slice + 1] - start) / warp) : a.width;
    return {length, a.column + first, a.value + first, row < a.rows ? row : -1};
}

/* Adds an entry of each row of the slice: of row r·rows_at_once + i to sum[r] of the i-th lanes. */
template <typename real>
static __device__ void add_entries(int column, real value, const struct share_of<real> *x,
                                   struct share_of<real> *sum)
{
    constexpr int lanes = lanes_of_entry<real>;
    const int i = threadIdx.x % warp / lanes;
#pragma unroll
    for (int r = 0; r < lanes; r++) {
        const int from = r * rows_at_once<real> + i;
        const int64_t place = (int64_t)__shfl_sync(whole_warp, column, from) * lanes;
        add_entry(__shfl_sync(whole_warp, value, from), x[place], sum[r]);
    }
}

/* A warp's slice; x is the lane's share, `base` that of what columns are counted from. */
template <typename real, typename index>
static __device__ void do_slice(const slices<real, index> &a, const vectors_product<real> &product,
                                int64_t slice, const struct share_of<real> *x,
                                const struct share_of<real> *base)
{
    constexpr int lanes = lanes_of_entry<real>;
    const struct row_of_slice<real, index> own = row_at(a, slice, threadIdx.x % warp);
    struct share_of<real> sum[lanes] = {
    };
    int column = own.length > 0 ? (int)once(own.column) : 0;
    real value = own.length > 0 ? once(own.value) : (real)0;
    for (int k = 1; k <= own.length; k++) {
        const int met = column;
        const real factor = value;
        if (k < own.length) {
            column = (int)once(own.column + k * a.step);
            value = once(own.value + k * a.step);
        }
        add_entries(met, factor, base, sum);
    }
#pragma unroll
    for (int r = 0; r < lanes; r++) {
        const int from = r * rows_at_once<real> + (int)threadIdx.x % warp / lanes;
        const int64_t row = __shfl_sync(whole_warp, (int)own.row, from);
        if (row >= 0)
            put_filled_sums(product, row, share_of_lane<real>(), x, sum[r]);
    }
}

/* The same for the rows_at_once rows that are the part-th of the slice. */
template <typename real, typename index>
static __device__ void do_part(const slices<real, index> &a, const vectors_product<real> &product,
                               int64_t slice, int part, const struct share_of<real> *x,
                               const struct share_of<real> *base)
{
    constexpr int lanes = lanes_of_entry<real>;
    const struct row_of_slice<real, index> own =
        row_at(a, slice, part * rows_at_once<real> + (int)threadIdx.x % warp / lanes);
    struct share_of<real> sum = {
    };
    index column[entries_at_once];
    real value[entries_at_once];
    for (int k = -entries_at_once; k < own.length; k += entries_at_once) {
        struct share_of<real> met[entries_at_once];
        real factor[entries_at_once];
#pragma unroll
        for (int u = 0; u < entries_at_once; u++) {
            factor[u] = k >= 0 ? value[u] : (real)0;
            met[u] = {};
            if (k >= 0 && k + u < own.length)
                met[u] = base[(int64_t)column[u] * lanes];
        }
#pragma unroll
        for (int u = 0; u < entries_at_once; u++) {
            const int next = k + entries_at_once + u;
            column[u] = next < own.length ? once(own.column + next * a.step) : (index)0;
            value[u] = next < own.length ? once(own.value + next * a.step) : (real)0;
        }
#pragma unroll
        for (int u = 0; u < entries_at_once; u++)
            add_entry(factor[u], met[u], sum);
    }
    if (own.row >= 0)
        put_filled_sums(product, own.row, share_of_lane<real>(), x, sum);
}

template <typename real, typename index>
static __global__ void __launch_bounds__(block_threads, blocks_at_once)
    slices_kernel(const slices<real, index> a, const vectors_product<real> product,
                  const sparse_long_rows long_rows, int piece_blocks, const real *__restrict__ x)
{
    const int64_t place = ((int64_t)blockIdx.x * block_threads + threadIdx.x) / warp;
    if (blockIdx.x < piece_blocks) {
        if (place < long_rows.pieces)
            do_piece(product, long_rows, place, x);
        return;
    }
    const int64_t own = place - (int64_t)piece_blocks * (block_threads / warp);
    const int64_t slice = own / warps_of_slice<real>;
    if (slice >= a.slices)
        return;
    const struct share_of<real> *shares = shares_of_lane(x);
    const struct share_of<real> *base = shares;
    if (sizeof(index) == 2)
        base += (int64_t)a.base[slice] * lanes_of_entry<real>;
    if (has_shuffles<real>)
        do_slice(a, product, slice, shares, base);
    else
        do_part(a, product, slice, (int)(own % warps_of_slice<real>), shares, base);
}

template <typename real, typename index>
static kith_status launch(kith_context *context, const struct sparse_matrix *matrix,
                          const slices<real, index> &a, const vectors_product<real> &product,
                          const real *x)
{
    struct sparse_long_rows long_rows = sparse_own_of(matrix)->long_rows;
    if (matrix->plan.format == KITH_SPARSE_ELL)
        long_rows.pieces = 0;
    const unsigned piece_blocks = blocks_for(long_rows.pieces * warp, block_threads);
    const unsigned blocks =
        piece_blocks + blocks_for(a.slices * warps_of_slice<real> * warp, block_threads);
    slices_kernel<real, index><<<blocks, block_threads, 0, cuda_stream(context)>>>(
        a, product, long_rows, (int)piece_blocks, x);
    return cuda_check_launch("starting the kernel of slices and multiple right-hand sides");
}

template <typename real>
static kith_status launch_for_format(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<real> &product, const real *x)
{
    if (matrix->plan.format == KITH_SPARSE_ELL)
        return launch(context, matrix, slices_of_ell<real>(matrix), product, x);
    if (matrix->sell.index.bytes == 2)
        return launch(context, matrix, slices_of<real, uint16_t>(matrix), product, x);
    return launch(context, matrix, slices_of<real, int32_t>(matrix), product, x);
}

kith_status sparse_slices_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<double> &product, const double *x)
{
    return launch_for_format(context, matrix, product, x);
}

kith_status sparse_slices_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<float> &product, const float *x)
{
    return launch_for_format(context, matrix, product, x);
}
