/* Fills the list of pairs on the GPU. A warp takes a chunk and finds its candidates anew; who is
 * whose partner stands in the masks. Rows are put together in shared memory, sorted there, and
 * written side by side. */

#include "pairs/list_cuda.cuh"
#include "pairs/runs_cuda.cuh"
#include "pairs/warp_sort_cuda.cuh"

enum { block_warps = 4, block_threads = block_warps * warp_size };

template <typename key_type>
static __device__ __forceinline__ key_type make_key(uint32_t row, uint32_t image);

template <> __device__ __forceinline__ uint32_t make_key(uint32_t row, uint32_t)
{
    return row;
}

template <> __device__ __forceinline__ uint64_t make_key(uint32_t row, uint32_t image)
{
    return (uint64_t)row << 32 | image;
}

/* The key of each candidate from number first on, and of no more than there is room for. */
template <typename real, typename key_type>
static __device__ __forceinline__ void load_keys(const struct pairs_search<real> &search,
                                                 const struct pairs_runs &runs, uint32_t first,
                                                 uint32_t end, uint32_t *run, key_type *keys)
{
    for (uint32_t number = first + threadIdx.x % warp_size; number < end; number += warp_size) {
        while (runs.end[*run] <= number)
            ++*run;
        keys[number - first] = make_key<key_type>(
            search.points.sorted_row[number + runs.delta[*run]], runs.image[*run]);
    }
    __syncwarp();
}

/* The groups whose bits of one lane fit into a number. */
enum { groups_at_once = 4 };

/* A lane's bits of a row of masks: byte g for group g. */
static __device__ __forceinline__ uint32_t load_masks(const uint8_t *masks, uint32_t groups)
{
    uint32_t mine = 0;
#pragma unroll
    for (uint32_t g = 0; g < groups_at_once; g++)
        if (g < groups)
            mine |= (uint32_t)masks[g * warp_size + threadIdx.x % warp_size] << g * 8;
    return mine;
}

/* Calls use(number of the pair in its row, key) for each hit of a lane's loaded masks, lane after
 * lane, numbers from `before` on; gives where they end. */
template <typename key_type, typename user>
static __device__ __forceinline__ uint32_t use_hits(uint32_t mine, uint32_t groups, uint32_t before,
                                                    const key_type *keys, user use)
{
    const uint32_t lane = threadIdx.x % warp_size, own = __popc(mine);
    uint32_t up_to = own;
#pragma unroll
    for (uint32_t distance = 1; distance < warp_size; distance *= 2) {
        const uint32_t below = __shfl_up_sync(all_lanes, up_to, distance);
        up_to += lane >= distance ? below : 0;
    }
    uint32_t number = before + up_to - own;
    keys += lane;
    for (uint32_t g = 0; g < groups; g++, mine >>= group_words, keys += group_size)
#pragma unroll
        for (uint32_t word = 0; word < group_words; word++)
            if (mine >> word & 1)
                use(number++, keys[word * warp_size]);
    return before + __shfl_sync(all_lanes, up_to, warp_size - 1);
}

/* The same for the groups of a row from `first` on; the masks are the row's. */
template <typename key_type, typename user>
static __device__ __forceinline__ uint32_t for_each_hit(const uint8_t *masks, uint32_t groups,
                                                        uint32_t first, uint32_t before,
                                                        const key_type *keys, user use)
{
    for (; first < groups; first += groups_at_once) {
        const uint32_t some = min(groups - first, (uint32_t)groups_at_once);
        const uint32_t mine = load_masks(masks + first * warp_size, some);
        before = use_hits(mine, some, before, keys + first * group_size, use);
    }
    return before;
}

/* The keys of all the chunk's candidates, as its masks number them. */
template <typename real, typename key_type>
static __device__ __forceinline__ void
load_all_keys(const struct pairs_search<real> &search, const struct pairs_folded_grid &grid,
              const struct pairs_chunk &chunk, struct pairs_runs *runs, key_type *keys)
{
    const struct pairs_window window = window_of(grid, chunk);
    for (int64_t b = 0; b < window.batches; b++) {
        const uint32_t candidates =
            find_batch(search.place_first, grid, chunk, window, b, runs).candidates;
        uint32_t run = 0;
        load_keys(search, *runs, 0, candidates, &run, keys);
        keys += groups_of(candidates) * group_size;
    }
}

/* Where the rows of 32 targets of a chunk begin: of target l in lane l. */
struct pairs_row_begins {
    uint32_t target;
    int64_t begin;
};

template <typename real>
static __device__ __forceinline__ struct pairs_row_begins
load_begins(const struct pairs_search<real> &search, const struct pairs_chunk &chunk,
            uint32_t first)
{
    const uint32_t i = min(first + threadIdx.x % warp_size, chunk.count - 1);
    struct pairs_row_begins begins;
    begins.target = search.targets.sorted_row[chunk.first + i];
    begins.begin = search.offsets[begins.target];
    return begins;
}

/* A chunk with all its candidates in shared memory: row by row, with the next one's first masks on
 * their way. Direct: from there into the list. */
template <typename real, typename key_type>
static __device__ __forceinline__ void
fill_chunk(const struct pairs_search<real> &search, const struct pairs_columns<real> &columns,
           const struct pairs_folded_grid &grid, const struct pairs_chunk &chunk, bool direct,
           const key_type *keys, key_type *row)
{
    const uint32_t lane = threadIdx.x % warp_size, groups = chunk.groups;
    const uint32_t some = min(groups, (uint32_t)groups_at_once);
    const uint8_t *masks = search.masks + chunk.masks;
    struct pairs_row_begins begins = {};
    uint32_t next = load_masks(masks, some);
    for (uint32_t i = 0; i < chunk.count; i++, masks += groups * warp_size) {
        if (i % warp_size == 0)
            begins = load_begins(search, chunk, i);
        const int64_t target = __shfl_sync(all_lanes, begins.target, i % warp_size);
        const int64_t begin = __shfl_sync(all_lanes, begins.begin, i % warp_size);
        const uint32_t mine = next;
        if (i + 1 < chunk.count)
            next = load_masks(masks + groups * warp_size, some);
        if (direct) {
            const auto store = [&](uint32_t number, key_type key) {
                store_pair(search, columns, grid, begin + number, target, key);
            };
            const uint32_t first = use_hits(mine, some, 0, keys, store);
            for_each_hit(masks, groups, groups_at_once, first, keys, store);
            continue;
        }
        const auto keep = [&](uint32_t number, key_type key) { row[number] = key; };
        uint32_t count = use_hits(mine, some, 0, keys, keep);
        count = for_each_hit(masks, groups, groups_at_once, count, keys, keep);
        __syncwarp();
        if (columns.sorted)
            sort_row(row, count);
        for (uint32_t k = lane; k < count; k += warp_size)
            store_pair(search, columns, grid, begin + k, target, row[k]);
        __syncwarp();
    }
}

/* Where the rows of a long chunk go on: numbers of pairs, or of keys among the long rows'. */
struct pairs_row_ends {
    int64_t at[chunk_most];
};

/* Begins the rows of a long chunk: in the list, or if they are to be sorted, among the long rows.
 */
template <typename real>
static __device__ void begin_rows(const struct pairs_search<real> &search, bool sorted,
                                  const struct pairs_chunk &chunk,
                                  const struct pairs_long_rows &rows, struct pairs_row_ends *ends)
{
    for (uint32_t i = threadIdx.x % warp_size; i < chunk.count; i += warp_size) {
        const uint32_t target = search.targets.sorted_row[chunk.first + i];
        const int64_t begin = search.offsets[target];
        const int64_t count = search.offsets[target + 1] - begin;
        ends->at[i] = begin;
        if (!sorted)
            continue;
        struct pairs_counters *counters = search.counters;
        const int64_t at = (int64_t)atomicAdd(&counters->long_used, (unsigned long long)count);
        const uint32_t number = atomicAdd(&counters->long_rows_used, 1u);
        rows.row[number] = target;
        rows.begin[number] = at;
        rows.end[number] = at + count;
        ends->at[i] = at;
    }
    __syncwarp();
}

/* Some groups of a long chunk: what the targets hit there goes behind what they hit before. */
template <typename real, typename key_type>
static __device__ void
fill_groups(const struct pairs_search<real> &search, const struct pairs_columns<real> &columns,
            const struct pairs_folded_grid &grid, const struct pairs_chunk &chunk,
            const uint8_t *masks, uint32_t groups, const key_type *keys,
            const struct pairs_long_rows &rows, struct pairs_row_ends *ends)
{
    for (uint32_t i = 0; i < chunk.count; i++) {
        const int64_t target = search.targets.sorted_row[chunk.first + i], begin = ends->at[i];
        const uint8_t *row = masks + (uint64_t)i * chunk.groups * warp_size;
        const uint32_t count =
            for_each_hit(row, groups, 0, 0, keys, [&](uint32_t number, key_type key) {
                if (columns.sorted)
                    rows.keys[begin + number] = wide_key(key);
                else
                    store_pair(search, columns, grid, begin + number, target, key);
            });
        __syncwarp();
        if (threadIdx.x % warp_size == 0)
            ends->at[i] = begin + count;
    }
    __syncwarp();
}

template <typename real, typename key_type>
static __device__ void
fill_long_chunk(const struct pairs_search<real> &search, const struct pairs_columns<real> &columns,
                const struct pairs_folded_grid &grid, const struct pairs_chunk &chunk,
                struct pairs_runs *runs, key_type *keys, const struct pairs_long_rows &rows,
                struct pairs_row_ends *ends)
{
    const struct pairs_window window = window_of(grid, chunk);
    const uint8_t *masks = search.masks + chunk.masks;
    begin_rows(search, columns.sorted, chunk, rows, ends);
    for (int64_t b = 0; b < window.batches; b++) {
        const uint32_t candidates =
            find_batch(search.place_first, grid, chunk, window, b, runs).candidates;
        uint32_t run = 0;
        for (uint32_t first = 0; first < candidates; first += long_groups * group_size) {
            const uint32_t end = min(candidates, first + long_groups * group_size);
            load_keys(search, *runs, first, end, &run, keys);
            fill_groups(search, columns, grid, chunk, masks, groups_of(end - first), keys, rows,
                        ends);
            masks += groups_of(end - first) * warp_size;
        }
    }
}

/* What a warp shares: runs, ends of rows, keys of candidates, a row. */
struct pairs_fill_room {
    struct pairs_runs runs;
    struct pairs_row_ends ends;
};

static __host__ __device__ uint32_t room_bytes(const struct pairs_fill_shape &shape)
{
    const uint32_t keys = shape.groups * group_size + shape.row;
    return (uint32_t)sizeof(struct pairs_fill_room) + keys * (shape.wide ? 8 : 4);
}

template <typename real, typename key_type>
static __global__ void __launch_bounds__(block_threads)
    fill_pairs(const struct pairs_search<real> search, const struct pairs_columns<real> columns,
               const struct pairs_fill_shape shape, const struct pairs_long_rows rows)
{
    extern __shared__ __align__(16) char rooms[];
    char *const memory = rooms + threadIdx.x / warp_size * room_bytes(shape);
    struct pairs_fill_room &room = *(struct pairs_fill_room *)memory;
    key_type *const keys = (key_type *)(memory + sizeof room);
    key_type *const row = keys + shape.groups * group_size;
    const uint32_t chunks = shape.chunks;
    for (uint32_t c = blockIdx.x * block_warps + threadIdx.x / warp_size; c < chunks;
         c += gridDim.x * block_warps) {
        const struct pairs_chunk chunk = search.chunks[c];
        const struct pairs_folded_grid &grid = search.grids[chunk.system];
        if (chunk.is_long) {
            fill_long_chunk(search, columns, grid, chunk, &room.runs, keys, rows, &room.ends);
        } else {
            load_all_keys(search, grid, chunk, &room.runs, keys);
            fill_chunk(search, columns, grid, chunk, shape.direct, keys, row);
        }
        __syncwarp();
    }
}

/* Shared memory that needs no asking for. */
enum { bytes_of_any_block = 48 << 10 };

template <typename real, typename key_type>
static kith_status launch(kith_context *context, const struct pairs_search<real> &search,
                          const struct pairs_columns<real> &columns,
                          const struct pairs_fill_shape &shape, const struct pairs_long_rows &rows)
{
    const int bytes = (int)(block_warps * room_bytes(shape));
    void (*const kernel)(const struct pairs_search<real>, const struct pairs_columns<real>,
                         const struct pairs_fill_shape, const struct pairs_long_rows) =
        fill_pairs<real, key_type>;
    if (bytes > bytes_of_any_block)
        KITH_TRY(cuda_check(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
            "filling the list of pairs"));
    const int64_t needed = ((int64_t)shape.chunks + block_warps - 1) / block_warps;
    int64_t most = 4 * (int64_t)cuda_multiprocessors(context); /* asking costs a microsecond */
    if (needed > most) {
        int resident = 1;
        KITH_TRY(cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                &resident, kernel, block_threads, (size_t)bytes),
                            "filling the list of pairs"));
        most = (int64_t)cuda_multiprocessors(context) * resident;
    }
    kernel<<<(unsigned)(needed < most ? needed : most), block_threads, bytes,
             cuda_stream(context)>>>(search, columns, shape, rows);
    return cuda_check_launch("filling the list of pairs");
}

template <typename real>
kith_status pairs_fill(kith_context *context, const struct pairs_search<real> &search,
                       const struct pairs_columns<real> &columns,
                       const struct pairs_fill_shape &shape, const struct pairs_long_rows &rows)
{
    return shape.wide ? launch<real, uint64_t>(context, search, columns, shape, rows)
                      : launch<real, uint32_t>(context, search, columns, shape, rows);
}

template kith_status pairs_fill(kith_context *, const struct pairs_search<float> &,
                                const struct pairs_columns<float> &,
                                const struct pairs_fill_shape &, const struct pairs_long_rows &);
template kith_status pairs_fill(kith_context *, const struct pairs_search<double> &,
                                const struct pairs_columns<double> &,
                                const struct pairs_fill_shape &, const struct pairs_long_rows &);
