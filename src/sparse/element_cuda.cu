/* A thread an entry, nearly: a thread multiplies eight neighboring entries of coo, and a segmented
 * scan adds up those of a row, in a thread, a warp and a block (the seed's "thread per element").
 *
 * y is multiplied by β first; a row's sum is then added to it, where the row ends. The sums of rows
 * that are cut by the edges of blocks are added by a second kernel, in the order of the blocks. */

#include "sparse/own_cuda.h"
#include "sparse/row_scan_cuda.cuh"

enum {
    block_threads = sparse_element_threads,
    items = sparse_element_items,
    tile_size = sparse_element_tile
};

template <typename real> struct elements {
    int64_t count;
    const int32_t *row, *column;
    const real *value;
    real *part; /* own_cuda.h */
};

template <typename real> struct tile_memory {
    real product[tile_size];
    int32_t row[tile_size + 1]; /* and that of the next entry, or −1 */
    struct row_scan<real, block_threads / warp> scan;
};

template <typename real>
static __device__ void load_tile(const struct elements<real> &a, int64_t first, int count,
                                 const real *__restrict__ x, struct tile_memory<real> &memory)
{
#pragma unroll
    for (int u = 0; u < items; u++) {
        const int k = threadIdx.x + u * block_threads;
        if (k < count) {
            memory.row[k] = once(a.row + first + k);
            memory.product[k] = once(a.value + first + k) * __ldg(x + once(a.column + first + k));
        }
    }
    if (threadIdx.x == 0)
        memory.row[count] = first + count < a.count ? a.row[first + count] : -1;
}

/* Adds up a thread's entries. Rows that begin and end among them are done; the sum of the first
 * that ends, if one does (true), goes to *first_sum; *row and *sum are those of the open one. */
template <typename real>
static __device__ bool walk(const struct tile_memory<real> &memory, int begin, int end,
                            const sums_to<real> &to, int32_t *row, real *sum, real *first_sum)
{
    bool ended = false;
    *sum = 0;
    for (int k = begin; k < end; k++) {
        *sum += memory.product[k];
        if (memory.row[k + 1] == memory.row[k])
            continue;
        if (ended)
            put_sum(to, memory.row[k], *sum);
        else
            *first_sum = *sum;
        ended = true;
        *sum = 0;
    }
    *row = memory.row[end];
    return ended;
}

template <typename real>
static __global__ void __launch_bounds__(block_threads)
    element_kernel(const elements<real> a, const real *__restrict__ x, const sums_to<real> to)
{
    __shared__ struct tile_memory<real> memory;
    const int64_t tile = blockIdx.x, first = tile * tile_size;
    const int count = (int)(a.count - first < tile_size ? a.count - first : tile_size);
    load_tile(a, first, count, x, memory);
    __syncthreads();

    const bool begun_earlier = tile > 0 && a.row[first - 1] == memory.row[0];
    const int begin = min((int)threadIdx.x * items, count), end = min(begin + items, count);
    const int32_t begin_row = memory.row[begin];
    int32_t row = 0;
    real sum = 0, first_sum = 0;
    const bool ended = walk(memory, begin, end, to, &row, &sum, &first_sum);
    const int32_t open_row = row;
    const real before = sum_before(memory.scan, &sum, &row);
    if (ended) {
        first_sum += threadIdx.x > 0 && row == begin_row ? before : (real)0;
        if (begun_earlier && begin_row == memory.row[0])
            a.part[2 * tile] = first_sum;
        else
            put_sum(to, begin_row, first_sum);
    }
    if (threadIdx.x == block_threads - 1 && count == tile_size)
        a.part[2 * tile + (begun_earlier && open_row == memory.row[0] ? 0 : 1)] = sum;
}

/* A warp for the row that begins in a tile and is cut by the tile's end. */
template <typename real>
static __global__ void __launch_bounds__(block_threads)
    cut_rows_kernel(const elements<real> a, const sums_to<real> to)
{
    const int64_t tile = ((int64_t)blockIdx.x * block_threads + threadIdx.x) / warp;
    const int lane = threadIdx.x % warp;
    const int64_t next = (tile + 1) * tile_size;
    if (next >= a.count || a.row[next] != a.row[next - 1])
        return;
    const int32_t row = a.row[next];
    if (tile > 0 && a.row[tile * tile_size - 1] == row)
        return;
    real sum = lane == 0 ? a.part[2 * tile + 1] : (real)0;
    for (int64_t t = tile + 1 + lane; t * tile_size < a.count && a.row[t * tile_size] == row;
         t += warp)
        sum += a.part[2 * t];
    sum = warp_sum(sum);
    if (lane == 0)
        put_sum(to, row, sum);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_product *product,
                          const struct sparse_coo *coo)
{
    const struct sparse_element_tiles *tiles = &sparse_own_of(product->matrix)->element;
    const struct elements<real> a = {
        coo->count, coo->row, coo->column, (const real *)coo->value, (real *)tiles->part
    };
    struct sums_to<real> to = sums_to_of<real>(product);
    to.beta = 1;
    if (coo->count == 0)
        return KITH_OK;
    element_kernel<real><<<(unsigned)tiles->tiles, block_threads, 0, cuda_stream(context)>>>(
        a, (const real *)product->x, to);
    if (tiles->tiles > 1)
        cut_rows_kernel<real><<<blocks_for(tiles->tiles * warp, block_threads), block_threads, 0,
                                cuda_stream(context)>>>(a, to);
    return cuda_check_launch("starting the kernel of elements");
}

kith_status sparse_element_cuda(kith_context *context, const struct sparse_product *product,
                                const struct sparse_coo *coo)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch<double>(context, product, coo)
                                                  : launch<float>(context, product, coo);
}
