/* Counts each target's pairs on the GPU. A warp holds some words of candidates in registers, one of
 * a word in each lane, and takes the chunk's targets one after the other; who is near enough is
 * kept as bits, so that to fill the list nothing is measured again. */

#include "device/overlap.cuh"
#include "pairs/accept_cuda.cuh"
#include "pairs/runs_cuda.cuh"

enum { block_warps = 8, block_threads = block_warps * warp_size };

/* Blocks on a multiprocessor at a time: as many as the registers of the maximum of words allow. */
template <typename real> constexpr int blocks_wanted = sizeof(real) == 4 ? 4 : 2;

/* Which pairs count: all that are near enough; of a half list without images of a target itself,
 * those of smaller rows; or what accepts says. */
enum counting { counting_full, counting_half, counting_refined };

/* Words of candidates in registers at a time: few, where there is much to know of each. */
template <enum counting counting, bool translated>
constexpr int most_words = counting == counting_refined || translated ? mask_step : 2 * mask_step;

/* What a warp shares. */
template <typename real> struct pairs_count_room {
    struct pairs_runs runs;
    struct pairs_point<real> target[chunk_most];
    real translation[warp_size][3];
};

/* The translations of a batch's runs. */
template <typename real>
static __device__ __forceinline__ void
translate_runs(const struct pairs_folded_grid &grid, const struct pairs_batch &batch,
               const struct pairs_runs &runs, real (*translation)[3])
{
    const uint32_t lane = threadIdx.x % warp_size;
    if (lane < batch.runs) {
        int32_t image[3];
        pairs_image_of(&grid, runs.image[lane], image);
        translation_of(grid, image, translation[lane]);
    }
    __syncwarp();
}

/* The words of all the chunk's batches. */
static __device__ uint32_t words_of_chunk(const uint32_t *place_first,
                                          const struct pairs_folded_grid &grid,
                                          const struct pairs_chunk &chunk,
                                          const struct pairs_window &window,
                                          struct pairs_runs *runs)
{
    uint32_t words = 0;
    for (int64_t b = 0; b < window.batches; b++)
        words += words_of(find_batch(place_first, grid, chunk, window, b, runs).candidates);
    return words;
}

/* A warp reserves at least this many bytes for masks, because all warps reserve by one counter. */
enum { mask_slab = 4096 };

/* What a lane has found so far, and the room for masks that its warp has taken. */
struct pairs_tally {
    uint64_t pairs;
    uint32_t most_words, most_of_row;
    uint64_t masks, masks_end;
};

/* Room for a chunk's masks; what is not there is taken all the same, so that the host learns how
 * much to give. */
static __device__ uint64_t take_masks(struct pairs_counters *counters, uint64_t bytes,
                                      struct pairs_tally *tally)
{
    if (tally->masks_end - tally->masks < bytes) {
        const unsigned long long wanted = bytes > mask_slab ? bytes : mask_slab;
        unsigned long long at = 0;
        if (threadIdx.x % warp_size == 0)
            at = atomicAdd(&counters->mask_bytes, wanted);
        tally->masks = __shfl_sync(whole_warp, at, 0);
        tally->masks_end = tally->masks + wanted;
    }
    tally->masks += bytes;
    return tally->masks - bytes;
}

/* A lane's candidates: what a test of them needs. */
template <int words, enum counting counting, bool translated, typename real>
struct pairs_lane_candidates {
    real x[words], y[words], z[words]; real translation[translated ? words : 1][3];
    uint32_t row[counting == counting_half ? words : 1];
    uint32_t at[counting == counting_refined ? words : 1]; /* in sorted order */
    uint32_t image[counting == counting_refined ? words : 1];
};

/* Loads the candidates from number `first` of the batch on. Absent ones, and those of other rows of
 * a hashed cell list, are infinitely far. */
template <int words, enum counting counting, bool translated, typename real>
static __device__ __forceinline__ void
load_candidates(const struct pairs_cuda_search<real> &search, bool folded,
                const struct pairs_count_room<real> &room, const struct pairs_lane_runs &runs,
                uint32_t candidates, uint32_t first,
                struct pairs_lane_candidates<words, counting, translated, real> *mine)
{
    const uint32_t lane = threadIdx.x % warp_size;
#pragma unroll
    for (int word = 0; word < words; word++) {
        const uint32_t number = first + word * warp_size;
        const uint32_t run = run_of_lane(runs, number);
        const uint32_t at = place_of_lane(runs, number, run);
        const bool is_there = number + lane < candidates;
        pairs_point<real> point = {(real)INFINITY, 0, 0, 0};
        if (is_there)
            point = search.points.sorted[at];
        mine->x[word] = point.x;
        mine->y[word] = point.y;
        mine->z[word] = point.z;
        if (folded && is_there &&
            (search.rows[at].x != room.runs.row[run].x ||
             search.rows[at].y != room.runs.row[run].y))
            mine->x[word] = (real)INFINITY;
        if (counting == counting_half)
            mine->row[word] = (uint32_t)point.row;
        if (counting == counting_refined) {
            mine->at[word] = at;
            mine->image[word] = room.runs.image[run % warp_size];
        }
        for (int c = 0; translated && c < 3; c++)
            mine->translation[word][c] = room.translation[run % warp_size][c];
    }
}

/* Whether the lane's candidate of a word is the target's partner. */
template <int words, enum counting counting, bool translated, typename real>
static __device__ __forceinline__ bool
is_partner(const struct pairs_cuda_search<real> &search, const struct pairs_folded_grid &grid,
           const struct pairs_lane_candidates<words, counting, translated, real> &mine, int word,
           const pairs_point<real> &target)
{
    real d[3] = {mine.x[word], mine.y[word], mine.z[word]};
    const real r2 = pairs_r2<translated>(target, mine.translation[translated ? word : 0], d);
    if (counting == counting_full)
        return r2 < search.limit;
    if (counting == counting_half)
        return r2 < search.limit && (uint32_t)target.row < mine.row[word];
    return r2 < (real)INFINITY &&
           accepts(search, grid, target, search.points.sorted[mine.at[word]], mine.image[word], r2);
}

/* Some words of candidates with all targets of the chunk; lane l then knows those of target l, and
 * writes them. self is the number of the lane's target among these candidates, if it is there. */
template <int words, enum counting counting, bool translated, typename real>
static __device__ __forceinline__ uint32_t count_words(
    const struct pairs_cuda_search<real> &search, const struct pairs_folded_grid &grid,
    uint32_t targets, const struct pairs_count_room<real> &room, const struct pairs_lane_runs &runs,
    uint32_t candidates, uint32_t first, uint32_t self, uint32_t *masks)
{
    const uint32_t lane = threadIdx.x % warp_size;
    struct pairs_lane_candidates<words, counting, translated, real> mine;
    load_candidates(search, grid.folded, room, runs, candidates, first, &mine);
    uint32_t mask[words] = {};
    for (uint32_t i = 0; i < targets; i++) {
        const pairs_point<real> target = room.target[i];
#pragma unroll
        for (int word = 0; word < words; word++) {
            const uint32_t hits =
                __ballot_sync(whole_warp, is_partner(search, grid, mine, word, target));
            mask[word] = i == lane ? hits : mask[word];
        }
    }
    uint32_t count = 0;
#pragma unroll
    for (uint32_t word = 0; word < words; word++) {
        if (self / warp_size == word)
            mask[word] &= ~(1u << self % warp_size);
        count += __popc(mask[word]);
    }
#pragma unroll
    for (int word = 0; word < words; word += mask_step)
        if (masks)
            *(uint4 *)(masks + word) =
                make_uint4(mask[word], mask[word + 1], mask[word + 2], mask[word + 3]);
    return count;
}

/* A batch with all targets of the chunk: the pairs of target l in lane l. */
template <enum counting counting, bool translated, typename real>
static __device__ __forceinline__ uint32_t count_batch(const struct pairs_cuda_search<real> &search,
                                                       const struct pairs_folded_grid &grid,
                                                       const struct pairs_chunk &chunk,
                                                       const struct pairs_batch &batch,
                                                       const struct pairs_count_room<real> &room,
                                                       uint32_t *masks)
{
    enum { most = most_words<counting, translated>, few = mask_step };
    const struct pairs_lane_runs runs = lane_runs(room.runs, batch);
    const uint32_t self = !search.two_sets && batch.has_home
                              ? chunk.first + threadIdx.x % warp_size - batch.home
                              : ~0u;
    uint32_t count = 0;
    for (uint32_t first = 0; first < batch.candidates;) {
        const bool many = most > few && batch.candidates - first > few * warp_size;
        if (many)
            count += count_words<most, counting, translated>(search, grid, chunk.count, room, runs,
                                                             batch.candidates, first, self - first,
                                                             masks);
        else
            count += count_words<few, counting, translated>(search, grid, chunk.count, room, runs,
                                                            batch.candidates, first, self - first,
                                                            masks);
        first += (many ? most : few) * warp_size;
        if (masks)
            masks += many ? most : few;
    }
    return count;
}

/* Writes the counts; gives whether the chunk is long. */
template <typename real>
static __device__ __forceinline__ bool
keep_counts(const struct pairs_cuda_search<real> &search, const struct pairs_chunk &chunk,
            const struct pairs_count_room<real> &room, uint32_t count, struct pairs_tally *tally)
{
    const uint32_t lane = threadIdx.x % warp_size;
    const bool is_long = chunk.words > long_words || __any_sync(whole_warp, count > long_row);
    if (lane < chunk.count)
        search.offsets[room.target[lane].row] = count;
    tally->pairs += count;
    if (is_long) {
        atomicAdd(&search.counters->long_pairs, (unsigned long long)count);
        atomicAdd(&search.counters->long_rows, lane < chunk.count ? 1ull : 0ull);
    } else {
        tally->most_words = max(tally->most_words, chunk.words);
        tally->most_of_row = max(tally->most_of_row, count);
    }
    return is_long;
}

/* Sums and maxima of integers: the order does not matter. A chunk without a pair counts too, as it
 * takes its room when the list is filled. */
static __device__ void tell(struct pairs_tally tally, struct pairs_counters *counters)
{
    tally.pairs = warp_sum(tally.pairs);
    tally.most_of_row = warp_largest(tally.most_of_row);
    if (threadIdx.x % warp_size != 0 || tally.pairs + tally.most_words == 0)
        return;
    atomicAdd(&counters->pairs, (unsigned long long)tally.pairs);
    atomicMax(&counters->most_words, tally.most_words);
    atomicMax(&counters->most_of_row, tally.most_of_row);
}

/* All of a chunk. */
template <typename real, enum counting counting>
static __device__ __forceinline__ void
count_chunk(const struct pairs_cuda_search<real> &search, uint32_t number,
            struct pairs_count_room<real> &room, struct pairs_tally *tally)
{
    const uint32_t lane = threadIdx.x % warp_size;
    struct pairs_chunk chunk = search.chunks[number];
    const struct pairs_folded_grid &grid = search.grids[chunk.system];
    if (lane < chunk.count)
        room.target[lane] = search.targets.sorted[chunk.first + lane];
    const struct pairs_window window = window_of(grid, chunk);
    struct pairs_batch batch = find_batch(search.place_first, grid, chunk, window, 0, &room.runs);
    chunk.words = window.batches == 1
                      ? words_of(batch.candidates)
                      : words_of_chunk(search.place_first, grid, chunk, window, &room.runs);
    const uint64_t row_bytes = (uint64_t)chunk.words * sizeof(uint32_t);
    chunk.masks = take_masks(search.counters, row_bytes * chunk.count, tally);
    uint32_t *masks = nullptr;
    if (lane < chunk.count && chunk.masks + row_bytes * chunk.count <= search.mask_room)
        masks = (uint32_t *)(search.masks + chunk.masks + row_bytes * lane);
    uint32_t count = 0;
    for (int64_t b = 0; b < window.batches; b++) {
        if (window.batches > 1)
            batch = find_batch(search.place_first, grid, chunk, window, b, &room.runs);
        if (batch.translated || counting == counting_refined) {
            translate_runs(grid, batch, room.runs, room.translation);
            count += count_batch<counting, true>(search, grid, chunk, batch, room, masks);
        } else {
            count += count_batch<counting, false>(search, grid, chunk, batch, room, masks);
        }
        if (masks)
            masks += words_of(batch.candidates);
        __syncwarp();
    }
    const bool is_long = keep_counts(search, chunk, room, count, tally);
    if (lane == 0) {
        search.chunks[number].masks = chunk.masks;
        search.chunks[number].words = chunk.words;
        search.chunks[number].is_long = is_long;
    }
    __syncwarp();
}

template <typename real, enum counting counting>
static __global__ void __launch_bounds__(block_threads, blocks_wanted<real>)
    count_pairs(const struct pairs_cuda_search<real> search)
{
    __shared__ struct pairs_count_room<real> rooms[block_warps];
    struct pairs_tally tally = {};
    wait_for_kernel_before();
    const uint32_t chunks = search.counters->chunks;
    for (uint32_t c = blockIdx.x * block_warps + threadIdx.x / warp_size; c < chunks;
         c += gridDim.x * block_warps)
        count_chunk<real, counting>(search, c, rooms[threadIdx.x / warp_size], &tally);
    tell(tally, search.counters);
}

template <typename real>
kith_status pairs_count(kith_context *context, const struct pairs_cuda_search<real> &search)
{
    const bool refined = search.radii || search.exclusions ||
                         (search.half && (search.two_sets || search.many_images));
    void (*const kernel)(const struct pairs_cuda_search<real>) =
        refined       ? count_pairs<real, counting_refined>
        : search.half ? count_pairs<real, counting_half>
                      : count_pairs<real, counting_full>;
    int resident = 1;
    KITH_TRY(cuda_check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block_threads, 0),
        "counting pairs"));
    const int64_t needed = ((int64_t)search.targets.count + block_warps - 1) / block_warps;
    const int64_t most = (int64_t)cuda_multiprocessors(context) * resident;
    return launch_overlapped(context, "counting pairs",
                             dim3((unsigned)(needed < most ? needed : most)), block_threads, kernel,
                             search);
}

template kith_status pairs_count(kith_context *, const struct pairs_cuda_search<float> &);
template kith_status pairs_count(kith_context *, const struct pairs_cuda_search<double> &);
