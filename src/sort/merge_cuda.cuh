#ifndef SORT_MERGE_CUDA_CUH
#define SORT_MERGE_CUDA_CUH

/* A sort of few keys, stable, in few launches: tiles are sorted by a block each, and then up to
 * merged_runs sorted runs are merged at once, pass by pass. The rank of an element in the merged
 * run is the sum, over the runs, of how many elements come before it. A radix sort of few keys
 * leaves most of the device idle for as many launches as keys have digits. */

#include <cub/block/block_merge_sort.cuh>

#include "device/overlap.cuh"

enum {
    tile_threads = 128,
    tile_items = 4,
    tile_length = tile_threads * tile_items,
    merged_runs = 8,
    most_merged = tile_length * merged_runs * merged_runs * merged_runs, /* elements of a sort */
    merge_room = 6000 /* keys of a block in shared memory, of which all devices have 48 KB */
};

struct key_less {
    __device__ bool operator()(uint64_t a, uint64_t b) const
    {
        return a < b;
    }
};

/* Sorts tiles, in place or not; the values are the places before. Past the end are keys that come
 * last. */
static __global__ void __launch_bounds__(tile_threads)
    sort_tiles(int32_t count, const uint64_t *keys, uint64_t *sorted_keys, uint32_t *order)
{
    using sort = cub::BlockMergeSort<uint64_t, tile_threads, tile_items, uint32_t>;
    __shared__ typename sort::TempStorage memory;
    const int32_t first = (int32_t)(blockIdx.x * tile_length + threadIdx.x * tile_items);
    uint64_t key[tile_items];
    uint32_t value[tile_items];
    wait_for_kernel_before();
#pragma unroll
    for (int j = 0; j < tile_items; j++) {
        key[j] = first + j < count ? keys[first + j] : UINT64_MAX;
        value[j] = (uint32_t)(first + j);
    }
    sort(memory).StableSort(key, value, key_less());
#pragma unroll
    for (int j = 0; j < tile_items; j++)
        if (first + j < count) {
            sorted_keys[first + j] = key[j];
            order[first + j] = value[j];
        }
}

/* Whether a key comes before another: it is less or, with equals, at most that. */
static __device__ inline bool is_before(uint64_t key, uint64_t other, bool with_equals)
{
    return with_equals ? key <= other : key < other;
}

/* How many of the sorted keys come before this one. */
static __device__ inline int32_t count_before(const uint64_t *keys, int32_t count, uint64_t key,
                                              bool with_equals)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (is_before(keys[middle], key, with_equals))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same by a warp, which divides the range by 33 at a time. */
static __device__ inline int32_t count_before_by_warp(const uint64_t *keys, int32_t count,
                                                      uint64_t key, bool with_equals)
{
    const int32_t lane = (int32_t)threadIdx.x % 32;
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t step = (high - low + 32) / 33, at = low + (lane + 1) * step - 1;
        const bool before = at < high && is_before(keys[at], key, with_equals);
        const int32_t found = __popc(__ballot_sync(0xffffffffu, before));
        const int32_t next = low + (found + 1) * step - 1; /* the first that does not */
        low += found * step;
        high = found < 32 && next < high ? next : high;
    }
    return low;
}

/* Of each run to be merged: where its keys are that a block's own are between, and where those go
 * in shared memory. */
struct merged_part {
    int32_t first, count, place; /* first: in all keys */
    int32_t before;              /* keys of the run before them */
};

/* A block has the elements of a tile, one a thread, and merges merged_runs runs of `length`, of
 * which the last may be shorter. Of the other runs the keys between its own least and greatest go
 * to shared memory, or are read where they are, without room. */
static __global__ void __launch_bounds__(tile_length)
    merge_runs(int32_t count, int32_t length, const uint64_t *keys, const uint32_t *order,
               uint64_t *merged_keys, uint32_t *merged_order)
{
    static_assert(2 * merged_runs == tile_length / 32, "a warp finds a bound of a run");
    __shared__ uint64_t near_keys[merge_room];
    __shared__ int32_t bounds[merged_runs][2];
    __shared__ struct merged_part parts[merged_runs];
    const int32_t block_first = (int32_t)blockIdx.x * tile_length;
    const int32_t family = block_first / (length * merged_runs) * (length * merged_runs);
    const int32_t own = (block_first - family) / length;
    const int32_t block_end = block_first + tile_length < count ? block_first + tile_length : count;
    const int32_t thread = (int32_t)threadIdx.x, k = block_first + thread;
    const int32_t run_of_warp = thread / 64, is_end = thread / 32 % 2;
    const int32_t first_of_run = family + run_of_warp * length, left = count - first_of_run;
    const int32_t bound = count_before_by_warp(keys + first_of_run,
                                               left < 0 || run_of_warp == own ? 0
                                               : left < length                ? left
                                                                              : length,
                                               keys[is_end ? block_end - 1 : block_first], is_end);
    if (thread % 32 == 0)
        bounds[run_of_warp][is_end] = bound;
    __syncthreads();
    if (thread < merged_runs) {
        int32_t place = 0;
        for (int run = 0; run < thread; run++)
            place += bounds[run][1] - bounds[run][0];
        const int32_t before = bounds[thread][0];
        parts[thread] = {family + thread * length + before, bounds[thread][1] - before, place,
                         before};
    }
    __syncthreads();
    const struct merged_part last = parts[merged_runs - 1];
    const bool is_shared = last.place + last.count <= merge_room;
    if (is_shared) {
        uint64_t loaded[merged_runs]; /* in flight together */
#pragma unroll
        for (int run = 0; run < merged_runs; run++)
            loaded[run] = thread < parts[run].count ? keys[parts[run].first + thread] : 0;
#pragma unroll
        for (int run = 0; run < merged_runs; run++)
            if (thread < parts[run].count)
                near_keys[parts[run].place + thread] = loaded[run];
        for (int run = 0; run < merged_runs; run++)
            for (int32_t j = thread + tile_length; j < parts[run].count; j += tile_length)
                near_keys[parts[run].place + j] = keys[parts[run].first + j];
    }
    __syncthreads();
    if (k >= count)
        return;
    const uint64_t key = keys[k];
    int32_t rank = k - own * length;
#pragma unroll
    for (int run = 0; run < merged_runs; run++) {
        const struct merged_part part = parts[run];
        const uint64_t *of_run = is_shared ? near_keys + part.place : keys + part.first;
        rank += part.before + count_before(of_run, part.count, key, run < own);
    }
    merged_keys[rank] = key;
    merged_order[rank] = order[k];
}

#endif
