/* Points in the order of their cells by counting: how many a place has, where it begins, and then
 * each point to its rank within the place, the order of rows, whatever order the counting had. */

#include "pairs/sort_cuda.cuh"
#include "sort/cub_cuda.h"

enum { threads = 256, table_threads = 1024 };

/* More points do not find their places in the cache: with 10⁷ CUB's sort is 1.2 times as fast in
 * all, with 10⁶ and less this is (by 0.02 ms and more, H200). */
enum { most_points = 1 << 20 };

/* A table of at most this many places is summed by one block. */
enum { most_places_of_block = 16384 };

static dim3 blocks_for(uint64_t count)
{
    return dim3((unsigned)((count + threads - 1) / threads));
}

/* rank: the point's number within its place, in any order. */
template <typename real>
static __global__ void count_places(const struct pairs_cuda_search<real> search, uint32_t *rank)
{
    wait_for_kernel_before();
    const uint32_t row = blockIdx.x * threads + threadIdx.x;
    if (row >= search.points.count)
        return;
    const uint32_t place = place_point(search, search.points, row);
    search.points.key[row] = place;
    rank[row] = atomicAdd(&search.place_first[place], 1u);
}

/* Exclusive sums of count numbers by one block: each thread adds up some in a row. */
static __global__ void __launch_bounds__(table_threads) add_up(uint32_t *table, uint32_t count)
{
    __shared__ uint32_t sums[table_threads / warp_size];
    wait_for_kernel_before();
    const uint32_t lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const uint32_t each = (count + table_threads - 1) / table_threads;
    const uint32_t begin = min(threadIdx.x * each, count), end = min(begin + each, count);
    uint32_t own = 0;
    for (uint32_t k = begin; k < end; k++)
        own += table[k];
    const uint32_t up_to = warp_sum_to(own);
    if (lane == warp_size - 1)
        sums[warp] = up_to;
    __syncthreads();
    uint32_t before = up_to - own;
    for (uint32_t k = 0; k < warp; k++)
        before += sums[k];
    for (uint32_t k = begin; k < end; k++) {
        const uint32_t here = table[k];
        table[k] = before;
        before += here;
    }
}

/* Rows by places, those of a place in any order. */
template <typename real>
static __global__ void place_rows(const struct pairs_cuda_search<real> search, const uint32_t *rank,
                                  uint32_t *rows)
{
    wait_for_kernel_before();
    const uint32_t row = blockIdx.x * threads + threadIdx.x;
    if (row < search.points.count)
        rows[search.place_first[search.points.key[row]] + rank[row]] = row;
}

/* Where the chunks of a place begin: cells side by side along x make some together, so that each
 * has enough targets. Not in a hashed cell list. */
static __device__ __forceinline__ uint32_t
first_place_of_chunk(const struct pairs_folded_grid &grid, uint32_t place)
{
    if (grid.chunk_cells == 1)
        return place;
    const uint32_t x = (place - grid.first_place) % (uint32_t)grid.count[0];
    return place - x % (uint32_t)grid.chunk_cells;
}

/* The chunk that begins with a point of a grid that is not hashed, or none. first is where the
 * chunks of its cells begin. */
template <typename real>
static __device__ __forceinline__ void
make_chunk(const struct pairs_cuda_search<real> &search, const struct pairs_folded_grid &grid,
           const pairs_point<real> &point, uint32_t at, uint32_t place, uint32_t first_place)
{
    const uint32_t first = search.place_first[first_place];
    if ((at - first) % search.chunk_size != 0)
        return;
    const int3 cell = cell_of(grid, point);
    const uint32_t left = (uint32_t)grid.count[0] - (uint32_t)cell.x + place - first_place;
    const uint32_t cells = min((uint32_t)grid.chunk_cells, left);
    const uint32_t all = search.place_first[first_place + cells];
    struct pairs_chunk chunk = {};
    chunk.first = at;
    chunk.count = min(all - at, search.chunk_size);
    chunk.cell[0] = cell.x;
    chunk.cell[1] = cell.y;
    chunk.cell[2] = cell.z;
    while (search.place_first[place + chunk.span + 1] < at + chunk.count)
        chunk.span++;
    search.chunks[atomicAdd(&search.counters->chunks, 1u)] = chunk;
}

/* Each point to its rank among the rows of its place. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    gather_ranked(const struct pairs_cuda_search<real> search, const uint32_t *rows)
{
    wait_for_kernel_before();
    const struct pairs_side<real> &side = search.points;
    const uint32_t k = blockIdx.x * threads + threadIdx.x;
    if (k == 0)
        search.offsets[side.count] = 0; /* the sum of all before, later */
    if (k >= side.count)
        return;
    const uint32_t row = rows[k], place = side.key[row];
    const uint32_t begin = search.place_first[place], end = search.place_first[place + 1];
    uint32_t at = begin;
    for (uint32_t l = begin; l < end; l++)
        at += rows[l] < row;
    const pairs_point<real> point = side.wrapped[row];
    side.sorted[at] = point;
    side.sorted_row[at] = row;
    const struct pairs_folded_grid &grid = search.grids[0]; /* there is but one system */
    if (grid.folded) {
        const int3 cell = cell_of(grid, point);
        search.rows[at] = make_int2(cell.y, cell.z);
        side.sorted_key[at] = place;
    } else {
        make_chunk(search, grid, point, at, place, first_place_of_chunk(grid, place));
    }
}

/* In front of the scan's own memory. */
static int64_t bytes_of_rows(uint32_t count)
{
    return ((int64_t)count * (int64_t)sizeof(uint32_t) + 255) / 256 * 256;
}

int64_t pairs_counting_bytes(uint32_t count, uint32_t places)
{
    size_t bytes = 0;
    sort_scan_table_cuda(nullptr, bytes, nullptr, places + 1, nullptr);
    return bytes_of_rows(count) + (int64_t)bytes;
}

static kith_status add_up_table(kith_context *context, uint32_t *table, uint32_t count,
                                char *scratch, int64_t scratch_bytes)
{
    static const char what[] = "adding up the points of cells";
    size_t bytes = (size_t)scratch_bytes;
    if (count <= most_places_of_block)
        return launch_overlapped(context, what, dim3(1), table_threads, add_up, table, count);
    return cuda_check(sort_scan_table_cuda(scratch, bytes, table, count, cuda_stream(context)),
                      what);
}

template <typename real>
bool pairs_sort_by_counting_is_apt(const struct pairs_cuda_search<real> &search)
{
    return !search.two_sets && search.system_count == 1 && search.points.count > 0 &&
           search.points.count <= most_points;
}

template <typename real>
kith_status pairs_sort_by_counting(kith_context *context,
                                   const struct pairs_cuda_search<real> &search, void *scratch,
                                   int64_t scratch_bytes)
{
    uint32_t *const rows = (uint32_t *)scratch;
    uint32_t *const rank =
        search.points.row; /* the memory of rows, which only sorting keys needs */
    const int64_t before = bytes_of_rows(search.points.count);
    const dim3 blocks = blocks_for(search.points.count);
    const size_t table_bytes = ((size_t)search.place_count + 1) * sizeof(uint32_t);
    KITH_TRY(cuda_check(cudaMemsetAsync(search.place_first, 0, table_bytes, cuda_stream(context)),
                        "clearing the table of cells"));
    KITH_TRY(pairs_measure_open_axes(context, search));
    KITH_TRY(launch_overlapped(context, "wrapping points", blocks, threads, count_places<real>,
                               search, rank));
    KITH_TRY(add_up_table(context, search.place_first, search.place_count + 1,
                          (char *)scratch + before, scratch_bytes - before));
    KITH_TRY(launch_overlapped(context, "placing points", blocks, threads, place_rows<real>, search,
                               (const uint32_t *)rank, rows));
    KITH_TRY(launch_overlapped(context, "gathering points", blocks, threads, gather_ranked<real>,
                               search, (const uint32_t *)rows));
    return search.rows ? pairs_make_chunks(context, search, true) : KITH_OK;
}

#define PAIRS_INSTANTIATE(real)                                                                    \
    template bool pairs_sort_by_counting_is_apt(const struct pairs_cuda_search<real> &);           \
    template kith_status pairs_sort_by_counting(                                                   \
        kith_context *, const struct pairs_cuda_search<real> &, void *, int64_t);
PAIRS_INSTANTIATE(float)
PAIRS_INSTANTIATE(double)
