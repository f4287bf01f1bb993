/* Points and targets in the order of their cells, on the GPU. */

#include "pairs/sort_cuda.cuh"
#include "sort/cub_cuda.h"
#include "sort/search.h"
#include "sort/sort.h"

enum { threads = 256 };

static int blocks_for(uint64_t count)
{
    return (int)((count + threads - 1) / threads);
}

/* Wraps points and gives them the places of their cells. */
template <typename real>
static __global__ void place_points(const struct pairs_cuda_search<real> search,
                                    const struct pairs_side<real> side)
{
    const uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= side.count)
        return;
    side.key[row] = place_point(search, side, row);
    side.row[row] = row;
}

template <typename real>
static __global__ void gather(const struct pairs_cuda_search<real> search,
                              const struct pairs_side<real> side, bool with_rows)
{
    const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= side.count)
        return;
    const pairs_point<real> point = side.wrapped[side.sorted_row[at]];
    side.sorted[at] = point;
    if (with_rows) {
        const int32_t system = system_of(search, (uint32_t)point.row, side.is_target);
        const int3 cell = cell_of(search.grids[system], point);
        search.rows[at] = make_int2(cell.y, cell.z);
    }
}

/* The first point in a place or a later one, for each place and for the end. */
static __global__ void find_places(const uint32_t *key, uint32_t count, uint32_t *place_first,
                                   uint32_t place_count)
{
    const uint32_t place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place > place_count)
        return;
    place_first[place] = (uint32_t)search_u32(key, 0, count, place);
}

static __device__ bool is_same(int3 a, int3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Whether a chunk begins at this target: with its cell, and at every chunk_size-th target, so that
 * no chunk goes over the end of a block. */
template <typename real>
static __device__ bool begins_chunk(const struct pairs_cuda_search<real> &search, uint32_t at,
                                    int3 cell, const struct pairs_folded_grid &grid)
{
    const struct pairs_side<real> &side = search.targets;
    if (at % search.chunk_size == 0 || side.sorted_key[at] != side.sorted_key[at - 1])
        return true;
    return grid.folded && !is_same(cell, cell_of(grid, side.sorted[at - 1]));
}

/* Which chunks there are, in any order. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    make_chunks(const struct pairs_cuda_search<real> search, bool if_folded)
{
    __shared__ uint32_t heads[threads / warp_size], first_chunk;
    wait_for_kernel_before();
    if (if_folded && !search.grids[0].folded)
        return;
    const uint32_t at = blockIdx.x * threads + threadIdx.x, warp = threadIdx.x / warp_size;
    const struct pairs_side<real> &side = search.targets;
    bool begins = at == side.count; /* the end of the last one */
    struct pairs_chunk chunk = {};
    if (at < side.count) {
        const pairs_point<real> point = side.sorted[at];
        chunk.system = (uint32_t)system_of(search, (uint32_t)point.row, side.is_target);
        const struct pairs_folded_grid &grid = search.grids[chunk.system];
        const int3 cell = cell_of(grid, point);
        chunk.cell[0] = cell.x;
        chunk.cell[1] = cell.y;
        chunk.cell[2] = cell.z;
        begins = begins_chunk(search, at, cell, grid);
    }
    const uint32_t flags = __ballot_sync(whole_warp, begins);
    if (threadIdx.x % warp_size == 0)
        heads[warp] = flags;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t k = 0; k < threads / warp_size; k++) {
        all += __popc(heads[k]);
        before += k < warp ? __popc(heads[k]) : 0;
    }
    if (threadIdx.x == 0)
        first_chunk = atomicAdd(&search.counters->chunks,
                                all - (blockIdx.x * threads + threads > side.count));
    __syncthreads();
    if (at == side.count)
        search.offsets[at] = 0; /* the sum of all before, later */
    if (!begins || at >= side.count)
        return;
    uint32_t end = threadIdx.x + 1;
    while (end < threads && !(heads[end / warp_size] >> end % warp_size & 1))
        end++;
    chunk.first = at;
    chunk.count = end - threadIdx.x;
    search.chunks[first_chunk + before + __popc(flags & lanes_before())] = chunk;
}

template <typename real>
kith_status pairs_make_chunks(kith_context *context, const struct pairs_cuda_search<real> &search,
                              bool if_folded)
{
    /* One thread more than targets: it ends the last chunk. */
    return launch_overlapped(context, "making chunks of cells",
                             dim3(blocks_for((uint64_t)search.targets.count + 1)), threads,
                             make_chunks<real>, search, if_folded);
}

static int bits_of(uint32_t places)
{
    int bits = 1;
    while (bits < 32 && places > 1ull << bits)
        bits++;
    return bits;
}

static int64_t sort_bytes(uint32_t count, uint32_t places)
{
    size_t bytes = 0;
    sort_pairs_cuda(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, count, bits_of(places),
                    nullptr);
    return (int64_t)bytes;
}

int64_t pairs_scratch_bytes(uint32_t points, uint32_t targets, uint32_t places)
{
    const int64_t bytes[] = {sort_scan_bytes_cuda((int64_t)targets + 1), sort_bytes(points, places),
                             sort_bytes(targets, places), pairs_counting_bytes(points, places)};
    int64_t most = 0;
    for (int64_t each : bytes)
        most = each > most ? each : most;
    return most;
}

template <typename real>
static kith_status sort_side(kith_context *context, const struct pairs_cuda_search<real> &search,
                             const struct pairs_side<real> &side, bool with_rows, void *scratch,
                             int64_t scratch_bytes)
{
    if (side.count == 0)
        return KITH_OK;
    const cudaStream_t stream = cuda_stream(context);
    size_t bytes = (size_t)scratch_bytes;
    place_points<real><<<blocks_for(side.count), threads, 0, stream>>>(search, side);
    KITH_TRY(cuda_check_launch("wrapping points"));
    KITH_TRY(cuda_check(sort_pairs_cuda(scratch, bytes, side.key, side.sorted_key, side.row,
                                        side.sorted_row, side.count, bits_of(search.place_count),
                                        stream),
                        "sorting points by cells"));
    gather<real><<<blocks_for(side.count), threads, 0, stream>>>(search, side, with_rows);
    return cuda_check_launch("gathering points");
}

template <typename real>
kith_status pairs_sort(kith_context *context, const struct pairs_cuda_search<real> &search,
                       void *scratch, int64_t scratch_bytes)
{
    const cudaStream_t stream = cuda_stream(context);
    KITH_TRY(pairs_measure_open_axes(context, search));
    KITH_TRY(
        sort_side(context, search, search.points, search.rows != nullptr, scratch, scratch_bytes));
    if (search.two_sets)
        KITH_TRY(sort_side(context, search, search.targets, false, scratch, scratch_bytes));
    find_places<<<blocks_for((uint64_t)search.place_count + 1), threads, 0, stream>>>(
        search.points.sorted_key, search.points.count, search.place_first, search.place_count);
    KITH_TRY(cuda_check_launch("finding cells"));
    return pairs_make_chunks(context, search, false);
}

#define PAIRS_INSTANTIATE(real)                                                                    \
    template kith_status pairs_make_chunks(kith_context *, const struct pairs_cuda_search<real> &, \
                                           bool);                                                  \
    template kith_status pairs_sort(kith_context *, const struct pairs_cuda_search<real> &,        \
                                    void *, int64_t);
PAIRS_INSTANTIATE(float)
PAIRS_INSTANTIATE(double)
