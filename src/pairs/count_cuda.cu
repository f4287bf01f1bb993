/* Counts each target's pairs on the GPU. A warp holds a group of candidates in registers and takes
 * the chunk's targets one after the other; who is near enough is kept as bits, so that to fill the
 * list nothing is measured again. */

#include "cuda/overlap.cuh"
#include "pairs/accept_cuda.cuh"
#include "pairs/runs_cuda.cuh"

enum { block_warps = 8, block_threads = block_warps * warp_size };

/* Blocks on a multiprocessor at a time: as many as a group's registers allow. */
template <typename real> constexpr int blocks_wanted = sizeof(real) == 4 ? 3 : 2;

/* The candidates that a lane has in registers: number word · 32 + lane of a group. */
template <typename real> struct pairs_group {
    real x[group_words], y[group_words], z[group_words];
    uint32_t run[group_words / 4]; /* four to a number */
};

template <typename real>
static __device__ __forceinline__ uint32_t run_of(const struct pairs_group<real> &group, int word)
{
    return group.run[word / 4] >> word % 4 * 8 & 255;
}

/* Loads the candidates from number `first` on. run is the lane's place among the runs, which only
 * goes forward. Absent ones, and those of a folded grid's other rows, are infinitely far. */
template <typename real>
static __device__ __forceinline__ void
load_group(const struct pairs_search<real> &search, bool folded, const struct pairs_runs &runs,
           uint32_t candidates, uint32_t first, uint32_t *run, struct pairs_group<real> *group)
{
#pragma unroll
    for (int word = 0; word < group_words; word++) {
        const uint32_t number = first + word * warp_size + threadIdx.x % warp_size;
        group->x[word] = (real)INFINITY;
        group->y[word] = group->z[word] = 0;
        if (word % 4 == 0)
            group->run[word / 4] = 0;
        if (number >= candidates)
            continue;
        while (runs.end[*run] <= number)
            ++*run;
        const uint32_t at = number + runs.delta[*run];
        const pairs_point<real> point = search.points.sorted[at];
        group->y[word] = point.y;
        group->z[word] = point.z;
        group->run[word / 4] |= *run << word % 4 * 8;
        if (!folded ||
            (search.rows[at].x == runs.row[*run].x && search.rows[at].y == runs.row[*run].y))
            group->x[word] = point.x;
    }
}

/* What a warp shares. */
template <typename real> struct pairs_count_room {
    struct pairs_runs runs;
    real translation[warp_size][3];
};

/* How many pairs the chunk's targets have: lane l knows those of targets l, 32 + l, … */
struct pairs_counts {
    uint32_t of[chunk_most / warp_size];
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

static __device__ __forceinline__ uint32_t sum_of_lanes(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, value);
#else
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(all_lanes, value, distance);
    return value;
#endif
}

/* The groups of all the chunk's batches. */
static __device__ uint32_t groups_of_chunk(const uint32_t *place_first,
                                           const struct pairs_folded_grid &grid,
                                           const struct pairs_chunk &chunk,
                                           const struct pairs_window &window,
                                           struct pairs_runs *runs)
{
    uint32_t groups = 0;
    for (int64_t b = 0; b < window.batches; b++)
        groups += groups_of(find_batch(place_first, grid, chunk, window, b, runs).candidates);
    return groups;
}

/* A warp takes room for masks by so many bytes at least, as all warps ask at one place. */
enum { mask_slab = 4096 };

/* What a warp has found so far, and the room for masks that it has taken. */
struct pairs_tally {
    uint64_t pairs, long_pairs, long_rows;
    uint32_t most_groups, most_of_row;
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
        tally->masks = __shfl_sync(all_lanes, at, 0);
        tally->masks_end = tally->masks + wanted;
    }
    tally->masks += bytes;
    return tally->masks - bytes;
}

/* Who of a group is near enough to a target: bit w for a lane's candidate of word w. Loops of a
 * fixed length without branches, so that the words' operations overlap. */
template <int words, bool translated, bool refined, typename real>
static __device__ __forceinline__ uint32_t test_group(const struct pairs_search<real> &search,
                                                      const struct pairs_folded_grid &grid,
                                                      const struct pairs_count_room<real> &room,
                                                      const struct pairs_group<real> &group,
                                                      uint32_t first,
                                                      const pairs_point<real> &target)
{
    uint32_t mine = 0;
    const real limit = search.limit;
#pragma unroll
    for (int word = 0; word < words; word++) {
        real d[3] = {group.x[word], group.y[word], group.z[word]};
        const uint32_t run = refined || translated ? run_of(group, word) : 0;
        const real r2 = pairs_r2<translated>(target, room.translation[run], d);
        bool hit = r2 < (refined ? (real)INFINITY : limit);
        if (refined && hit) {
            const uint32_t number = first + word * warp_size + threadIdx.x % warp_size;
            hit = accepts(search, grid, target, search.points.sorted[number + room.runs.delta[run]],
                          room.runs.image[run], r2);
        }
        mine |= hit ? 1u << word : 0;
    }
    return mine;
}

/* A group with all targets of the chunk. */
template <int words, bool translated, bool refined, typename real>
static __device__ __forceinline__ void
count_group(const struct pairs_search<real> &search, const struct pairs_folded_grid &grid,
            const struct pairs_chunk &chunk, const struct pairs_batch &batch,
            const struct pairs_count_room<real> &room, const struct pairs_group<real> &group,
            uint32_t first, uint8_t *masks, uint32_t groups, struct pairs_counts *counts)
{
    const uint32_t lane = threadIdx.x % warp_size;
    const bool has_self = !search.two_sets && batch.has_home;
    const pairs_point<real> *targets = search.targets.sorted + chunk.first;
    pairs_point<real> next = targets[0];
    for (uint32_t i = 0; i < chunk.count; i++) {
        const pairs_point<real> target = next;
        next = targets[min(i + 1, chunk.count - 1)];
        uint32_t mine =
            test_group<words, translated, refined>(search, grid, room, group, first, target);
        const uint32_t self = chunk.first + i - batch.home - first;
        if (has_self && self < group_size && self % warp_size == lane)
            mine &= ~(1u << self / warp_size);
        if (masks) {
            masks[lane] = (uint8_t)mine;
            masks += groups * warp_size;
        }
        const uint32_t hits = sum_of_lanes(__popc(mine));
#pragma unroll
        for (uint32_t k = 0; k < chunk_most / warp_size; k++)
            counts->of[k] += i == k * warp_size + lane ? hits : 0;
    }
}

template <bool translated, bool refined, typename real>
static __device__ __forceinline__ void
count_batch(const struct pairs_search<real> &search, const struct pairs_folded_grid &grid,
            const struct pairs_chunk &chunk, const struct pairs_batch &batch,
            const struct pairs_count_room<real> &room, uint8_t *masks, uint32_t groups,
            struct pairs_counts *counts)
{
    uint32_t run = 0;
    for (uint32_t first = 0; first < batch.candidates; first += group_size) {
        const uint32_t left = batch.candidates - first;
        struct pairs_group<real> group;
        load_group(search, grid.folded, room.runs, batch.candidates, first, &run, &group);
        if (left <= group_size / 4)
            count_group<group_words / 4, translated, refined>(search, grid, chunk, batch, room,
                                                              group, first, masks, groups, counts);
        else if (left <= group_size / 2)
            count_group<group_words / 2, translated, refined>(search, grid, chunk, batch, room,
                                                              group, first, masks, groups, counts);
        else
            count_group<group_words, translated, refined>(search, grid, chunk, batch, room, group,
                                                          first, masks, groups, counts);
        if (masks)
            masks += warp_size;
    }
}

/* Writes the counts; gives whether the chunk is long. */
template <typename real>
static __device__ bool keep_counts(const struct pairs_search<real> &search,
                                   const struct pairs_chunk &chunk, uint32_t groups,
                                   const struct pairs_counts &counts, struct pairs_tally *tally)
{
    uint64_t sum = 0;
    uint32_t most = 0;
#pragma unroll
    for (uint32_t k = 0; k < chunk_most / warp_size; k++) {
        const uint32_t i = k * warp_size + threadIdx.x % warp_size;
        if (i >= chunk.count)
            continue;
        search.offsets[search.targets.sorted[chunk.first + i].row] = counts.of[k];
        sum += counts.of[k];
        most = max(most, counts.of[k]);
    }
    for (int distance = warp_size / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
        most = max(most, __shfl_xor_sync(all_lanes, most, distance));
    }
    tally->pairs += sum;
    const bool is_long = groups > long_groups || most > long_row;
    if (is_long) {
        tally->long_pairs += sum;
        tally->long_rows += chunk.count;
    } else {
        tally->most_groups = max(tally->most_groups, groups);
        tally->most_of_row = max(tally->most_of_row, most);
    }
    return is_long;
}

/* Sums and maxima of whole numbers: the order does not matter. */
static __device__ void tell(const struct pairs_tally &tally, struct pairs_counters *counters)
{
    if (threadIdx.x % warp_size != 0 || tally.most_groups + tally.long_rows == 0)
        return;
    atomicAdd(&counters->pairs, (unsigned long long)tally.pairs);
    atomicMax(&counters->most_groups, tally.most_groups);
    atomicMax(&counters->most_of_row, tally.most_of_row);
    if (tally.long_rows > 0) {
        atomicAdd(&counters->long_pairs, (unsigned long long)tally.long_pairs);
        atomicAdd(&counters->long_rows, (unsigned long long)tally.long_rows);
    }
}

/* All of a chunk. */
template <typename real, bool refined>
static __device__ __forceinline__ void
count_chunk(const struct pairs_search<real> &search, uint32_t number,
            struct pairs_count_room<real> &room, struct pairs_tally *tally)
{
    const struct pairs_chunk chunk = search.chunks[number];
    const struct pairs_folded_grid &grid = search.grids[chunk.system];
    const struct pairs_window window = window_of(grid, chunk);
    struct pairs_batch batch = find_batch(search.place_first, grid, chunk, window, 0, &room.runs);
    const uint32_t groups =
        window.batches == 1 ? groups_of(batch.candidates)
                            : groups_of_chunk(search.place_first, grid, chunk, window, &room.runs);
    const uint64_t bytes = (uint64_t)groups * warp_size * chunk.count;
    const uint64_t at = take_masks(search.counters, bytes, tally);
    uint8_t *masks = at + bytes <= search.mask_room ? search.masks + at : nullptr;
    struct pairs_counts counts = {};
    for (int64_t b = 0; b < window.batches; b++) {
        if (window.batches > 1)
            batch = find_batch(search.place_first, grid, chunk, window, b, &room.runs);
        translate_runs(grid, batch, room.runs, room.translation);
        if (refined || batch.translated)
            count_batch<true, refined>(search, grid, chunk, batch, room, masks, groups, &counts);
        else
            count_batch<false, refined>(search, grid, chunk, batch, room, masks, groups, &counts);
        if (masks)
            masks += groups_of(batch.candidates) * warp_size;
        __syncwarp();
    }
    const bool is_long = keep_counts(search, chunk, groups, counts, tally);
    if (threadIdx.x % warp_size == 0) {
        search.chunks[number].masks = at;
        search.chunks[number].groups = groups;
        search.chunks[number].is_long = is_long;
    }
}

template <typename real, bool refined>
static __global__ void __launch_bounds__(block_threads, blocks_wanted<real>)
    count_pairs(const struct pairs_search<real> search)
{
    __shared__ struct pairs_count_room<real> rooms[block_warps];
    struct pairs_tally tally = {};
    wait_for_kernel_before();
    const uint32_t chunks = search.counters->chunks;
    for (uint32_t c = blockIdx.x * block_warps + threadIdx.x / warp_size; c < chunks;
         c += gridDim.x * block_warps)
        count_chunk<real, refined>(search, c, rooms[threadIdx.x / warp_size], &tally);
    tell(tally, search.counters);
}

template <typename real>
kith_status pairs_count(kith_context *context, const struct pairs_search<real> &search)
{
    void (*const kernel)(const struct pairs_search<real>) =
        search.half || search.radii || search.exclusions ? count_pairs<real, true>
                                                         : count_pairs<real, false>;
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

template kith_status pairs_count(kith_context *, const struct pairs_search<float> &);
template kith_status pairs_count(kith_context *, const struct pairs_search<double> &);
