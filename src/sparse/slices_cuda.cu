/* Rows padded to one length, a thread per row, entries k of neighboring rows side by side: ell,
 * all rows of one length, and sell, where a slice of 32 rows has its own. Nothing is added between
 * threads, and every read but x's is a whole line.
 *
 * Rows too long for that are left out of sell's slices. Warps of the first blocks sum pieces of
 * them, so that one launch does matrices of any kind. */

#include "sparse/slices_cuda.cuh"

enum { block_threads = 128, at_once = 8 };

/* Σ over `length` elements, step apart, `count` of them in flight. */
template <int count, typename real, typename index>
static __device__ real sum_of_strided(const index *__restrict__ column,
                                      const real *__restrict__ value, const real *__restrict__ x,
                                      int length, int64_t step)
{
    real sum = 0;
    for (int k = 0; k < length; k += count, column += count * step, value += count * step) {
        index c[count];
        real v[count];
#pragma unroll
        for (int u = 0; u < count; u++) {
            c[u] = k + u < length ? once(column + u * step) : (index)0;
            v[u] = k + u < length ? once(value + u * step) : (real)0;
        }
#pragma unroll
        for (int u = 0; u < count; u++)
            if (k + u < length)
                sum = fma(v[u], __ldg(x + c[u]), sum);
    }
    return sum;
}

/* The sums of all pieces of a long row, by the warp that finished last. */
template <typename real>
static __device__ void put_parts(const struct sparse_long_rows &a, int32_t long_row,
                                 const sums_to<real> &to)
{
    const int lane = threadIdx.x % warp;
    const int64_t first = a.pieces_before[long_row], end = a.pieces_before[long_row + 1];
    real sum = 0;
#pragma unroll 8
    for (int64_t p = first + lane; p < end; p += warp)
        sum += __ldcg((const real *)a.part + p);
    sum = warp_sum(sum);
    if (lane == 0)
        put_sum(to, a.row[long_row], sum);
}

template <typename real>
static __device__ void do_piece(const struct sparse_long_rows &a, int64_t p,
                                const row_entries<real> &entries, const real *__restrict__ x,
                                const sums_to<real> &to)
{
    const struct sparse_row_piece piece = a.piece[p];
    const int lane = threadIdx.x % warp;
    const int64_t pieces = a.pieces_before[piece.long_row + 1] - a.pieces_before[piece.long_row];
    const int length = ((int)(piece.end - piece.first) - lane + warp - 1) / warp;
    const real sum = warp_sum(sum_of_strided<at_once, real, int32_t>(
        entries.column + piece.first + lane, entries.value + piece.first + lane, x, length, warp));
    if (pieces == 1) {
        if (lane == 0)
            put_sum(to, a.row[piece.long_row], sum);
        return;
    }
    unsigned finished = 0;
    if (lane == 0) {
        __stcg((real *)a.part + p, sum);
        __threadfence();
        finished = atomicAdd(a.ticket + piece.long_row, 1u);
        __threadfence();
    }
    if (__shfl_sync(whole_warp, finished, 0) + 1 < pieces)
        return;
    put_parts(a, piece.long_row, to);
    if (lane == 0)
        a.ticket[piece.long_row] = 0;
}

template <typename real, typename index>
static __global__ void __launch_bounds__(block_threads)
    slices_kernel(const slices<real, index> a, const sparse_long_rows long_rows, int piece_blocks,
                  const row_entries<real> entries, const real *__restrict__ x,
                  const sums_to<real> to)
{
    if (blockIdx.x < piece_blocks) {
        const int64_t p = (int64_t)blockIdx.x * (block_threads / warp) + threadIdx.x / warp;
        if (p < long_rows.pieces)
            do_piece(long_rows, p, entries, x, to);
        return;
    }
    const int64_t place = (int64_t)(blockIdx.x - piece_blocks) * block_threads + threadIdx.x;
    const int64_t slice = place / warp;
    if (slice >= a.slices)
        return;
    const real *base = sizeof(index) == 2 ? x + a.base[slice] : x;
    const int64_t start = a.start[slice], first = start + threadIdx.x % warp;
    const real sum = sum_of_strided<at_once, real, index>(
        a.column + first, a.value + first, base, (int)((a.start[slice + 1] - start) / warp), warp);
    const int64_t row = a.row ? a.row[place] : place;
    if (row >= 0 && row < a.rows)
        put_filled_sum(to, entries, x, row, sum);
}

template <typename real>
static __global__ void __launch_bounds__(block_threads)
    ell_kernel(int64_t rows, const sparse_ell ell, const row_entries<real> entries,
               const real *__restrict__ x, const sums_to<real> to)
{
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (row >= rows)
        return;
    real sum = sum_of_strided<at_once, real, int32_t>(
        ell.column + row, (const real *)ell.value + row, x, (int)ell.width, ell.stride);
    if (sum != sum) { /* of the entries that are in ell, and without its padding */
        const int64_t first = entries.start[row], end = entries.start[row + 1];
        sum = 0;
        for (int64_t k = first; k < end && k < first + ell.width; k++)
            sum = fma(entries.value[k], x[entries.column[k]], sum);
    }
    put_sum(to, row, sum);
}

template <typename real, typename index>
static kith_status launch_slices(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    const struct sparse_long_rows *long_rows = &sparse_own_of(matrix)->long_rows;
    const bool by_panels = sparse_own_of(matrix)->panels.tiles > 0;
    const unsigned piece_blocks =
        by_panels ? 0 : blocks_for(long_rows->pieces * warp, block_threads);
    if (by_panels)
        KITH_TRY(sparse_panels_cuda(context, product));
    if (by_panels && long_rows->rows == matrix->csr.rows)
        return KITH_OK;
    const unsigned blocks = piece_blocks + blocks_for(matrix->sell.slices * warp, block_threads);
    slices_kernel<real, index><<<blocks, block_threads, 0, cuda_stream(context)>>>(
        slices_of<real, index>(matrix), *long_rows, (int)piece_blocks, row_entries_of<real>(matrix),
        (const real *)product->x, sums_to_of<real>(product));
    return cuda_check_launch("starting the kernel of slices");
}

template <typename real>
static kith_status launch_ell(kith_context *context, const struct sparse_product *product,
                              const struct sparse_ell *ell)
{
    const int64_t rows = product->matrix->csr.rows;
    ell_kernel<real><<<blocks_for(rows, block_threads), block_threads, 0, cuda_stream(context)>>>(
        rows, *ell, row_entries_of<real>(product->matrix), (const real *)product->x,
        sums_to_of<real>(product));
    return cuda_check_launch("starting the kernel of rows of one length");
}

kith_status sparse_slices_cuda(kith_context *context, const struct sparse_product *product)
{
    const bool narrow = product->matrix->sell.index.bytes == 2;
    if (product->matrix->csr.dtype == KITH_F64)
        return narrow ? launch_slices<double, uint16_t>(context, product)
                      : launch_slices<double, int32_t>(context, product);
    return narrow ? launch_slices<float, uint16_t>(context, product)
                  : launch_slices<float, int32_t>(context, product);
}

kith_status sparse_ell_cuda(kith_context *context, const struct sparse_product *product,
                            const struct sparse_ell *ell)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch_ell<double>(context, product, ell)
                                                  : launch_ell<float>(context, product, ell);
}
