/* Fills the list of pairs on the GPU. A warp takes a chunk and finds its candidates again; the
 * masks say which are partners. Rows are put together in shared memory, sorted there, and written
 * side by side. */

#include "pairs/list_cuda.cuh"
#include "pairs/masks_cuda.cuh"
#include "pairs/runs_cuda.cuh"
#include "pairs/warp_sort_cuda.cuh"

enum { block_warps = 4, block_threads = block_warps * warp_size };

/* Any list; or one of i and j alone, in 32 bits. */
enum filling { filling_any, filling_unsorted, filling_sorted };

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

/* The keys of a batch's candidates from number first on, up to end. */
template <typename real, typename key_type>
static __device__ __forceinline__ void
load_keys(const struct pairs_cuda_search<real> &search, const struct pairs_runs &runs,
          const struct pairs_lane_runs &mine, uint32_t first, uint32_t end, key_type *keys)
{
    const uint32_t lane = threadIdx.x % warp_size;
    for (uint32_t number = first; number < end; number += warp_size) {
        const uint32_t run = run_of_lane(mine, number);
        const uint32_t at = place_of_lane(mine, number, run);
        if (number + lane < end)
            keys[number - first + lane] =
                make_key<key_type>(search.points.sorted_row[at], runs.image[run]);
    }
    __syncwarp();
}

/* The keys of all the chunk's candidates, as its masks number them. */
template <typename real, typename key_type>
static __device__ __forceinline__ void
load_all_keys(const struct pairs_cuda_search<real> &search, const struct pairs_folded_grid &grid,
              const struct pairs_chunk &chunk, struct pairs_runs *runs, key_type *keys)
{
    const struct pairs_window window = window_of(grid, chunk);
    for (int64_t b = 0; b < window.batches; b++) {
        const struct pairs_batch batch =
            find_batch(search.place_first, grid, chunk, window, b, runs);
        load_keys(search, *runs, lane_runs(*runs, batch), 0, batch.candidates, keys);
        keys += words_of(batch.candidates) * warp_size;
    }
}

/* Where the row of a lane's target is in the list. */
struct pairs_row_place {
    uint32_t target, count;
    int64_t begin;
};

template <typename real>
static __device__ __forceinline__ struct pairs_row_place
place_of_row(const struct pairs_cuda_search<real> &search, const struct pairs_chunk &chunk)
{
    const uint32_t i = min(threadIdx.x % warp_size, chunk.count - 1);
    struct pairs_row_place place;
    place.target = search.targets.sorted_row[chunk.first + i];
    place.begin = search.offsets[place.target];
    place.count = (uint32_t)(search.offsets[place.target + 1] - place.begin);
    return place;
}

/* The pairs of a row, next to each other in shared memory. */
template <bool plain, typename real, typename key_type>
static __device__ __forceinline__ void
store_row(const struct pairs_cuda_search<real> &search,
          const struct pairs_cuda_columns<real> &columns, const struct pairs_folded_grid &grid,
          int64_t begin, uint32_t target, const key_type *row, uint32_t count)
{
    const uint32_t lane = threadIdx.x % warp_size;
    if constexpr (plain) {
        int32_t *const i = (int32_t *)columns.i + begin, *const j = (int32_t *)columns.j + begin;
        for (uint32_t k = lane; k < count; k += warp_size) {
            i[k] = (int32_t)target;
            j[k] = (int32_t)row_of_key(row[k]);
        }
    } else {
        for (uint32_t k = lane; k < count; k += warp_size)
            store_pair(search, columns, grid, begin + k, target, row[k]);
    }
}

/* The row of one target of a chunk. Direct: from the candidates' keys into the list. */
template <enum filling filling, typename real, typename key_type>
static __device__ __forceinline__ void
fill_row(const struct pairs_cuda_search<real> &search,
         const struct pairs_cuda_columns<real> &columns, const struct pairs_folded_grid &grid,
         const struct pairs_row_place &places, uint32_t t, const struct pairs_mask_word *mask,
         uint32_t words, bool direct, const key_type *keys, key_type *row)
{
    const uint32_t target = __shfl_sync(whole_warp, places.target, t);
    const int64_t begin = __shfl_sync(whole_warp, places.begin, t);
    const uint32_t count = __shfl_sync(whole_warp, places.count, t);
    if (direct) {
        for_each_hit(mask, words, keys, [&](uint32_t number, key_type key) {
            if constexpr (filling != filling_any) {
                ((int32_t *)columns.i + begin)[number] = (int32_t)target;
                ((int32_t *)columns.j + begin)[number] = (int32_t)row_of_key(key);
            } else {
                store_pair(search, columns, grid, begin + number, target, key);
            }
        });
        return;
    }
    for_each_hit(mask, words, keys, [&](uint32_t number, key_type key) { row[number] = key; });
    __syncwarp();
    if (filling == filling_any ? columns.sorted : filling == filling_sorted)
        sort_row(row, count);
    store_row<filling != filling_any>(search, columns, grid, begin, target, row, count);
    __syncwarp();
}

/* A chunk with all its candidates in shared memory, row by row. */
template <enum filling filling, typename real, typename key_type>
static __device__ __forceinline__ void
fill_chunk(const struct pairs_cuda_search<real> &search,
           const struct pairs_cuda_columns<real> &columns, const struct pairs_folded_grid &grid,
           const struct pairs_chunk &chunk, bool direct, struct pairs_runs *runs,
           struct pairs_mask_word *kept, key_type *keys, key_type *row)
{
    const uint32_t *const masks = (const uint32_t *)(search.masks + chunk.masks);
    const uint32_t words = chunk.words;
    const struct pairs_row_place places = place_of_row(search, chunk);
    const struct pairs_lane_mask mine = load_mask(masks, words, chunk.count);
    load_all_keys(search, grid, chunk, runs, keys);
    const bool by_lanes = words <= mask_words_of_lane;
    const uint32_t step = by_lanes ? warp_size : mask_words_kept / words;
    for (uint32_t first = 0; first < chunk.count; first += step) {
        const uint32_t end = min(first + step, chunk.count);
        if (by_lanes)
            keep_mask(mine, words, chunk.count, kept);
        else
            keep_masks(masks + first * words, words, end - first, kept);
        for (uint32_t t = first; t < end; t++)
            fill_row<filling>(search, columns, grid, places, t, kept + (t - first) * words, words,
                              direct, keys, row);
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
static __device__ void begin_rows(const struct pairs_cuda_search<real> &search, bool sorted,
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

/* Some words of a long chunk: hits are appended to the previous ones. */
template <typename real, typename key_type>
static __device__ void
fill_words(const struct pairs_cuda_search<real> &search,
           const struct pairs_cuda_columns<real> &columns, const struct pairs_folded_grid &grid,
           const struct pairs_chunk &chunk, const uint32_t *masks, uint32_t words,
           struct pairs_mask_word *kept, const key_type *keys, const struct pairs_long_rows &rows,
           struct pairs_row_ends *ends)
{
    for (uint32_t i = 0; i < chunk.count; i++) {
        const int64_t target = search.targets.sorted_row[chunk.first + i], begin = ends->at[i];
        keep_masks(masks + (uint64_t)i * chunk.words, words, 1, kept);
        for_each_hit(kept, words, keys, [&](uint32_t number, key_type key) {
            if (columns.sorted)
                rows.keys[begin + number] = wide_key(key);
            else
                store_pair(search, columns, grid, begin + number, target, key);
        });
        if (threadIdx.x % warp_size == 0 && words > 0)
            ends->at[i] = begin + kept[words - 1].before + __popc(kept[words - 1].hits);
        __syncwarp();
    }
}

template <typename real, typename key_type>
static __device__ void
fill_long_chunk(const struct pairs_cuda_search<real> &search,
                const struct pairs_cuda_columns<real> &columns,
                const struct pairs_folded_grid &grid, const struct pairs_chunk &chunk,
                struct pairs_runs *runs, struct pairs_mask_word *kept, key_type *keys,
                const struct pairs_long_rows &rows, struct pairs_row_ends *ends)
{
    const struct pairs_window window = window_of(grid, chunk);
    const uint32_t *masks = (const uint32_t *)(search.masks + chunk.masks);
    begin_rows(search, columns.sorted, chunk, rows, ends);
    for (int64_t b = 0; b < window.batches; b++) {
        const struct pairs_batch batch =
            find_batch(search.place_first, grid, chunk, window, b, runs);
        const struct pairs_lane_runs mine = lane_runs(*runs, batch);
        for (uint32_t first = 0; first < batch.candidates; first += long_words * warp_size) {
            const uint32_t end = min(batch.candidates, first + long_words * warp_size);
            load_keys(search, *runs, mine, first, end, keys);
            fill_words(search, columns, grid, chunk, masks, words_of(end - first), kept, keys, rows,
                       ends);
            masks += words_of(end - first);
        }
    }
}

/* What a warp shares: runs, ends of rows, words of masks, keys of candidates, a row. */
struct __align__(16) pairs_fill_room
{
    struct pairs_runs runs;
    struct pairs_row_ends ends;
};

/* Words of masks kept: all of a chunk's, if that are not too many. */
static __host__ __device__ uint32_t words_kept(const struct pairs_fill_shape &shape)
{
    const uint32_t all = chunk_most * shape.words, most = mask_words_kept;
    return all < most ? all : most;
}

static __host__ __device__ uint32_t room_bytes(const struct pairs_fill_shape &shape)
{
    const uint32_t keys = shape.words * warp_size + shape.row;
    return (uint32_t)(sizeof(struct pairs_fill_room) +
                      words_kept(shape) * sizeof(struct pairs_mask_word)) +
           keys * (shape.wide ? 8 : 4);
}

template <typename real, typename key_type, enum filling filling>
static __global__ void __launch_bounds__(block_threads)
    fill_pairs(const struct pairs_cuda_search<real> search,
               const struct pairs_cuda_columns<real> columns, const struct pairs_fill_shape shape,
               const struct pairs_long_rows rows)
{
    extern __shared__ __align__(16) char rooms[];
    char *const memory = rooms + threadIdx.x / warp_size * room_bytes(shape);
    struct pairs_fill_room &room = *(struct pairs_fill_room *)memory;
    struct pairs_mask_word *const kept = (struct pairs_mask_word *)(memory + sizeof room);
    key_type *const keys = (key_type *)(kept + words_kept(shape));
    key_type *const row = keys + shape.words * warp_size;
    if (shape.guessed && !pairs_fits(*search.counters, shape, search.mask_room))
        return;
    const uint32_t chunks = search.counters->chunks;
    for (uint32_t c = blockIdx.x * block_warps + threadIdx.x / warp_size; c < chunks;
         c += gridDim.x * block_warps) {
        const struct pairs_chunk chunk = search.chunks[c];
        const struct pairs_folded_grid &grid = search.grids[chunk.system];
        if (chunk.is_long) {
            fill_long_chunk(search, columns, grid, chunk, &room.runs, kept, keys, rows, &room.ends);
        } else {
            fill_chunk<filling>(search, columns, grid, chunk, shape.direct, &room.runs, kept, keys,
                                row);
        }
        __syncwarp();
    }
}

/* Shared memory that needs no asking for. */
enum { bytes_of_any_block = 48 << 10 };

template <typename real, typename key_type, enum filling filling>
static kith_status launch(kith_context *context, const struct pairs_cuda_search<real> &search,
                          const struct pairs_cuda_columns<real> &columns,
                          const struct pairs_fill_shape &shape, const struct pairs_long_rows &rows)
{
    const int bytes = (int)(block_warps * room_bytes(shape));
    void (*const kernel)(const struct pairs_cuda_search<real>,
                         const struct pairs_cuda_columns<real>, const struct pairs_fill_shape,
                         const struct pairs_long_rows) = fill_pairs<real, key_type, filling>;
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
kith_status pairs_fill(kith_context *context, const struct pairs_cuda_search<real> &search,
                       const struct pairs_cuda_columns<real> &columns,
                       const struct pairs_fill_shape &shape, const struct pairs_long_rows &rows)
{
    if (shape.wide)
        return launch<real, uint64_t, filling_any>(context, search, columns, shape, rows);
    if (!columns.i || !columns.j || !columns.narrow)
        return launch<real, uint32_t, filling_any>(context, search, columns, shape, rows);
    return columns.sorted
               ? launch<real, uint32_t, filling_sorted>(context, search, columns, shape, rows)
               : launch<real, uint32_t, filling_unsorted>(context, search, columns, shape, rows);
}

template kith_status pairs_fill(kith_context *, const struct pairs_cuda_search<float> &,
                                const struct pairs_cuda_columns<float> &,
                                const struct pairs_fill_shape &, const struct pairs_long_rows &);
template kith_status pairs_fill(kith_context *, const struct pairs_cuda_search<double> &,
                                const struct pairs_cuda_columns<double> &,
                                const struct pairs_fill_shape &, const struct pairs_long_rows &);
