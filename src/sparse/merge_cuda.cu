/* CSR by the merge path (Merrill & Garland 2016): row ends and entries are laid on one path, which
 * is cut into equal tiles, a block each, and these into equal pieces, a thread each. Rows of any
 * length cost the same.
 *
 * The sum of a row that tiles cut is put together by the tile that finishes last, from all tiles'
 * parts in their order: one launch, and the same bits every time. */

#include "sparse/own_cuda.h"
#include "sparse/row_scan_cuda.cuh"

enum {
    block_threads = sparse_merge_threads,
    items = sparse_merge_items,
    tile_size = sparse_merge_tile
};

template <typename real> struct merge_matrix {
    int64_t rows;
    struct row_entries<real> entries;
    struct sparse_merge_tiles path;
};

/* What a tile has: `rows` row ends from first_row on, and `count` entries from first_entry on. */
struct tile_range {
    int64_t tile, first_row, first_entry;
    int rows, count;
};

template <typename real> struct tile_memory {
    real product[tile_size];
    int row_end[tile_size + 1]; /* counted from the tile's first entry */
    struct row_scan<real, block_threads / warp> scan;
    real first_sum, open_sum; /* of the first row that ends here, of the row open at the end */
};

template <typename real>
static __device__ struct tile_range range_of(const struct merge_matrix<real> &a)
{
    const int64_t tile = blockIdx.x, begin = tile * tile_size;
    const int64_t all = a.rows + a.entries.start[a.rows];
    const int64_t end = begin + tile_size < all ? begin + tile_size : all;
    const int64_t row = a.path.row[tile], end_row = a.path.row[tile + 1];
    return {tile, row, begin - row, (int)(end_row - row), (int)(end - end_row - (begin - row))};
}

template <typename real>
static __device__ void load_tile(const struct row_entries<real> &entries, struct tile_range range,
                                 const real *__restrict__ x, struct tile_memory<real> &memory)
{
    int32_t column[items];
    real value[items];
#pragma unroll
    for (int u = 0; u < items; u++) {
        const int k = threadIdx.x + u * block_threads;
        column[u] = k < range.count ? once(entries.column + range.first_entry + k) : 0;
        value[u] = k < range.count ? once(entries.value + range.first_entry + k) : (real)0;
    }
#pragma unroll
    for (int u = 0; u < items; u++) {
        const int k = threadIdx.x + u * block_threads;
        if (k < range.count)
            memory.product[k] = value[u] * __ldg(x + column[u]);
    }
    for (int i = threadIdx.x; i < range.rows; i += block_threads)
        memory.row_end[i] = (int)(entries.start[range.first_row + 1 + i] - range.first_entry);
    if (threadIdx.x == 0)
        memory.row_end[range.rows] = tile_size + 1;
}

/* How many row ends are among the first `place` items of the tile's path. */
static __device__ int row_at(const int *row_end, int rows, int count, int place)
{
    int low = max(0, place - count), high = min(place, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (row_end[middle] <= place - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Puts the sum of a row together if this tile is the last to finish of those it goes through: from
 * tile `first` to tile `last`. Called by one warp. */
template <typename real>
static __device__ void finish_cut_row(const struct merge_matrix<real> &a, int64_t row, int64_t tile,
                                      int side, real sum, const sums_to<real> &to)
{
    const int64_t first = (a.entries.start[row] + row) / tile_size;
    const int64_t last = (a.entries.start[row + 1] + row) / tile_size;
    if (side == 1 ? first != tile : first == tile)
        return;
    real *part = (real *)a.path.part;
    const int lane = threadIdx.x;
    unsigned finished = 0;
    if (lane == 0) {
        __stcg(part + 2 * tile + side, sum);
        __threadfence();
        finished = atomicAdd(a.path.ticket + first, 1u);
        __threadfence();
    }
    if (__shfl_sync(whole_warp, finished, 0) != last - first)
        return;
    real all = lane == 0 ? __ldcg(part + 2 * first + 1) : (real)0;
    for (int64_t t = first + 1 + lane; t <= last; t += warp)
        all += __ldcg(part + 2 * t);
    all = warp_sum(all);
    if (lane == 0) {
        put_sum(to, row, all);
        a.path.ticket[first] = 0;
    }
}

/* Walks a thread's piece of the path. Rows that begin and end in it are done; the sum of the first
 * row that ends, if one does (true), goes to *first_sum; *row and *sum are those of the open one.
 */
template <typename real>
static __device__ bool walk(const struct tile_memory<real> &memory, struct tile_range range,
                            const sums_to<real> &to, int *row, real *sum, real *first_sum)
{
    const int place = min((int)threadIdx.x * items, range.rows + range.count);
    const int left = range.rows + range.count - place;
    int i = row_at(memory.row_end, range.rows, range.count, place), k = place - i;
    bool ended = false;
    *sum = 0;
#pragma unroll
    for (int u = 0; u < items; u++) {
        if (u >= left)
            break;
        if (k < memory.row_end[i]) {
            *sum += memory.product[k++];
        } else {
            if (ended)
                put_sum(to, range.first_row + i, *sum);
            else
                *first_sum = *sum;
            ended = true;
            *sum = 0;
            i++;
        }
    }
    *row = i;
    return ended;
}

template <typename real>
static __global__ void __launch_bounds__(block_threads)
    merge_kernel(const merge_matrix<real> a, const real *__restrict__ x, const sums_to<real> to)
{
    __shared__ struct tile_memory<real> memory;
    const struct tile_range range = range_of(a);
    load_tile(a.entries, range, x, memory);
    __syncthreads();

    const int place = min((int)threadIdx.x * items, range.rows + range.count);
    const int begin_row = row_at(memory.row_end, range.rows, range.count, place);
    int row = 0;
    real sum = 0, first_sum = 0;
    const bool ended = walk(memory, range, to, &row, &sum, &first_sum);
    const real before = sum_before(memory.scan, &sum, &row);
    if (threadIdx.x == block_threads - 1)
        memory.open_sum = sum;
    const bool begun_earlier =
        range.first_row < a.rows && a.entries.start[range.first_row] < range.first_entry;
    if (ended) {
        first_sum += threadIdx.x > 0 && row == begin_row ? before : (real)0;
        if (begin_row == 0)
            memory.first_sum = first_sum;
        if (begin_row > 0 || !begun_earlier)
            put_sum(to, range.first_row + begin_row, first_sum);
    }
    __syncthreads();
    if (threadIdx.x >= warp)
        return;
    if (begun_earlier)
        finish_cut_row(a, range.first_row, range.tile, 0,
                       range.rows > 0 ? memory.first_sum : memory.open_sum, to);
    if (range.first_row + range.rows < a.rows)
        finish_cut_row(a, range.first_row + range.rows, range.tile, 1, memory.open_sum, to);
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    const struct merge_matrix<real> a = {
        matrix->csr.rows, row_entries_of<real>(matrix), sparse_own_of(matrix)->merge
    };
    merge_kernel<real><<<(unsigned)a.path.tiles, block_threads, 0, cuda_stream(context)>>>(
        a, (const real *)product->x, sums_to_of<real>(product));
    return cuda_check_launch("starting the kernel of the merge path");
}

kith_status sparse_merge_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch<double>(context, product)
                                                  : launch<float>(context, product);
}
