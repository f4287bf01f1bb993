#ifndef SORT_MERGE_CUDA_CUH
#define SORT_MERGE_CUDA_CUH

/* A sort of few keys, stable, in three launches: tiles are sorted by a block each, and then twice
 * up to merged_runs sorted runs are merged at once. The rank of an element in the merged run is the
 * sum, over the runs, of how many elements come before it. A radix sort of so few keys leaves most
 * of the device idle for as many launches as keys have digits. */

#include <cub/block/block_merge_sort.cuh>

#include "device/overlap.cuh"

enum {
    tile_threads = 128,
    tile_items = 4,
    tile_length = tile_threads * tile_items,
    merged_runs = 16,
    most_merged = tile_length * merged_runs * merged_runs, /* elements of a sort */
    merge_room = 12288                                     /* keys of a block in shared memory */
};

static_assert(2 * merged_runs == 32, "a warp finds the bounds of runs");

struct key_less {
    __device__ bool operator()(uint64_t a, uint64_t b) const
    {
        return a < b;
    }
};

/* Sorts tiles in place; the values are the places before. Past the end are keys that come last. */
static __global__ void __launch_bounds__(tile_threads)
    sort_tiles(int32_t count, uint64_t *keys, uint32_t *order)
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
            keys[first + j] = key[j];
            order[first + j] = value[j];
        }
}

/* How many of the sorted keys are less than this one or, with equals, at most it. */
static __device__ inline int32_t count_before(const uint64_t *keys, int32_t count, uint64_t key,
                                              bool with_equals)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (with_equals ? keys[middle] <= key : keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of each run to be merged: where the keys are that a block's keys are between, and where those
 * begin in shared memory. */
struct merged_part {
    int32_t first, before, count, place;
};

/* A block has the elements of a tile, one a thread, and merges merged_runs runs of `length`, of
 * which the last may be shorter. It has shared memory for `room` keys; of the other runs, those
 * between its own least and greatest go there, or are read where they are if they are more. */
static __global__ void __launch_bounds__(tile_length)
    merge_runs(int32_t count, int32_t length, int32_t room, const uint64_t *keys,
               const uint32_t *order, uint64_t *merged_keys, uint32_t *merged_order)
{
    extern __shared__ uint64_t near_keys[];
    __shared__ struct merged_part parts[merged_runs];
    const int32_t block_first = (int32_t)blockIdx.x * tile_length;
    const int32_t family = block_first / (length * merged_runs) * (length * merged_runs);
    const int32_t own = (block_first - family) / length;
    const int32_t block_end = block_first + tile_length < count ? block_first + tile_length : count;
    const int32_t k = block_first + (int32_t)threadIdx.x;
    wait_for_kernel_before();
    if (threadIdx.x < 2 * merged_runs) { /* a bound a lane */
        const int run = (int)threadIdx.x % merged_runs;
        const bool is_end = threadIdx.x >= merged_runs;
        const int32_t first = family + run * length, left = count - first;
        const int32_t all = left < 0 ? 0 : left < length ? left : length;
        int32_t bound = is_end ? all : 0;
        if (length > tile_length)
            bound =
                count_before(keys + first, all, keys[is_end ? block_end - 1 : block_first], is_end);
        const int32_t end = __shfl_down_sync(0xffffffffu, bound, merged_runs);
        if (!is_end)
            parts[run] = {first, bound, end - bound, 0};
    }
    __syncthreads();
    int32_t places = 0;
    for (int run = 0; run < merged_runs; run++) {
        const int32_t place = places;
        places += run == own ? 0 : parts[run].count;
        if (threadIdx.x == 0)
            parts[run].place = place;
    }
    const bool is_shared = places <= room;
    __syncthreads();
    for (int run = 0; run < merged_runs && is_shared; run++)
        for (int32_t j = (int32_t)threadIdx.x; j < parts[run].count && run != own; j += tile_length)
            near_keys[parts[run].place + j] = keys[parts[run].first + parts[run].before + j];
    __syncthreads();
    if (k >= count)
        return;
    const uint64_t key = keys[k];
    int32_t rank = family + (k - parts[own].first);
    for (int run = 0; run < merged_runs; run++) {
        const struct merged_part part = parts[run];
        const uint64_t *of_run =
            is_shared ? near_keys + part.place : keys + part.first + part.before;
        if (run != own)
            rank += part.before + count_before(of_run, part.count, key, run < own);
    }
    merged_keys[rank] = key;
    merged_order[rank] = order[k];
}

#endif
