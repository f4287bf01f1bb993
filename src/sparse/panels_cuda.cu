/* Long rows by column blocks ("panels"): a block copies the panel's part of x to shared memory and
 * meets it there with the segments of many rows. x goes from the L2 cache to a multiprocessor once
 * a tile, and not a line for each entry, and columns need 16 bits.
 *
 * Measured on an H200, 2000 rows of 8000 in 2 000 000 columns: 0.057 ms in double and 0.042 in
 * float with tiles of 65 536 entries, 0.060 and 0.048 with half of that; by pieces of rows 0.137
 * and 0.132.
 *
 * A segment's sum is one lane's or one warp's, and a row's sum is put together from its segments
 * in the order of the panels by a second kernel. */

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.cuh"

enum { block_threads = 512, blocks_a_multiprocessor = 2, at_once = 8 };
enum { combining_warps = 16 };

template <typename real> struct panel_memory {
    real x[sparse_panel_bytes / sizeof(real) + sparse_panel_offset];
    real piece[sparse_most_tile_pieces];
    unsigned next_slice;
};

static_assert(sizeof(struct panel_memory<double>) <= sparse_panel_memory &&
                  sizeof(struct panel_memory<float>) <= sparse_panel_memory,
              "a block has this much shared memory");

/* The panel's numbers of x, 16 bytes at a time where they begin at a multiple of 16. */
template <typename real>
static __device__ void load_panel(const real *__restrict__ x, int count, real *to)
{
    constexpr int each = sizeof(int4) / sizeof(real);
    const int vectors = (uintptr_t)x % sizeof(int4) == 0 ? count / each : 0;
#pragma unroll 4
    for (int k = threadIdx.x; k < vectors; k += block_threads)
        ((int4 *)(to + sparse_panel_offset))[k] = __ldg((const int4 *)x + k);
#pragma unroll 4
    for (int k = vectors * each + threadIdx.x; k < count; k += block_threads)
        to[sparse_panel_offset + k] = __ldg(x + k);
    if (threadIdx.x == 0)
        to[0] = 0; /* of the padding */
}

template <typename real>
static __device__ real sum_of_lane(const struct sparse_panels &a, struct sparse_panel_slice slice,
                                   const real *x)
{
    const int lane = threadIdx.x % warp;
    const uint16_t *column = a.column + slice.first + lane;
    const real *value = (const real *)a.value + slice.first + lane;
    real sum = 0;
    for (int k = 0; k < slice.length;
         k += at_once, column += at_once * warp, value += at_once * warp) {
        uint16_t c[at_once];
        real v[at_once];
#pragma unroll
        for (int u = 0; u < at_once; u++) {
            c[u] = k + u < slice.length ? once(column + u * warp) : (uint16_t)0;
            v[u] = k + u < slice.length ? once(value + u * warp) : (real)0;
        }
#pragma unroll
        for (int u = 0; u < at_once; u++)
            if (k + u < slice.length)
                sum = fma(v[u], x[c[u]], sum);
    }
    return sum;
}

/* Which warp has a slice is left to chance; what its sum is, is not. */
template <typename real>
static __device__ void do_slices(const struct sparse_panels &a,
                                 const struct sparse_panel_tile &tile,
                                 struct panel_memory<real> &memory)
{
    const int lane = threadIdx.x % warp;
    for (;;) {
        unsigned s = lane == 0 ? atomicAdd(&memory.next_slice, 1u) : 0;
        s = __shfl_sync(whole_warp, s, 0);
        if (s >= (unsigned)tile.slices)
            return;
        const int64_t number = tile.first_slice + s;
        const int64_t place = a.place[number * warp + lane];
        real sum = sum_of_lane(a, a.slice[number], memory.x);
        if (s >= (unsigned)tile.pieces) {
            if (place >= 0)
                ((real *)a.part)[place] = sum;
            continue;
        }
        sum = warp_sum(sum);
        if (lane == 0)
            memory.piece[s] = sum;
    }
}

template <typename real>
static __global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    panels_kernel(const sparse_panels a, int64_t columns, const real *__restrict__ x)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    struct panel_memory<real> &memory = *(struct panel_memory<real> *)bytes;
    const struct sparse_panel_tile tile = a.tile[blockIdx.x];
    const int64_t first = tile.panel * a.width;
    if (threadIdx.x == 0)
        memory.next_slice = 0;
    load_panel(x + first, (int)min(a.width, columns - first), memory.x);
    __syncthreads();
    do_slices(a, tile, memory);
    if (tile.long_segments == 0)
        return;
    __syncthreads();
    for (int k = threadIdx.x; k < tile.long_segments; k += block_threads) {
        const struct sparse_long_segment segment = a.segment[tile.first_segment + k];
        real sum = 0;
        for (int p = 0; p < segment.pieces; p++)
            sum += memory.piece[segment.first_piece + p];
        ((real *)a.part)[segment.part] = sum;
    }
}

/* 32 rows per block, a lane each; a warp has every 16th panel. */
template <typename real>
static __global__ void __launch_bounds__(combining_warps *warp)
    combine_kernel(const sparse_panels a, const int32_t *long_row, const sums_to<real> to)
{
    __shared__ real sums[combining_warps][warp];
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp;
    const int64_t r = (int64_t)blockIdx.x * warp + lane;
    const real *part = (const real *)a.part + r;
    real sum = 0;
    if (r < a.rows)
#pragma unroll 8
        for (int64_t p = w; p < a.panels; p += combining_warps)
            sum += __ldcg(part + p * a.rows);
    sums[w][lane] = sum;
    __syncthreads();
    if (w > 0 || r >= a.rows)
        return;
    for (int k = 1; k < combining_warps; k++)
        sum += sums[k][lane];
    put_sum(to, long_row[r], sum);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_own *own = sparse_own_of(product->matrix);
    const struct sparse_panels *a = &own->panels;
    const cudaStream_t stream = cuda_stream(context);
    const int bytes = (int)sizeof(struct panel_memory<real>);
    KITH_TRY(cuda_check(cudaFuncSetAttribute(panels_kernel<real>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                        "asking for shared memory"));
    panels_kernel<real><<<(unsigned)a->tiles, block_threads, bytes, stream>>>(
        *a, product->matrix->csr.columns, (const real *)product->x);
    KITH_TRY(cuda_check_launch("starting the kernel of column blocks"));
    combine_kernel<real><<<blocks_for(a->rows, warp), combining_warps * warp, 0, stream>>>(
        *a, own->long_rows.row, sums_to_of<real>(product));
    return cuda_check_launch("adding up the sums of column blocks");
}

kith_status sparse_panels_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch<double>(context, product)
                                                  : launch<float>(context, product);
}
