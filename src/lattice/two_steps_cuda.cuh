#ifndef COLLISIONS_TWO_STEPS_CUDA_CUH
#define COLLISIONS_TWO_STEPS_CUDA_CUH

/* Partitioning in two steps, for beads that are scattered: of a tile nearly each has a piece of its
 * own then, and every key would be written to another place, of which an L2 cache takes far fewer a
 * second than it has room for. Here a block of threads sorts a tile by few bins, of which each gets
 * a run of keys: first by bins of many pieces, then each bin by its pieces. */

#include "device/overlap.cuh"
#include "lattice/blocks_cuda.cuh"

enum {
    step_threads = 512,
    step_each = 8,
    step_blocks = 2,
    step_tile = step_threads * step_each,
    most_bins = 256
};

/* Lower bits of a piece's number distinguish it from the others of its bin. */
__host__ __device__ static inline int fine_bits(const struct partition_plan &plan)
{
    return plan.piece_bits - plan.piece_bits / 2;
}

/* Not of chains, of which beads that follow each other are near. Keys between the steps have the
 * piece in their bin as well. */
__device__ __forceinline__ bool is_in_two_steps(const struct counting *counting,
                                                const struct block_box &box,
                                                const struct partition_plan &plan)
{
    return plan.sampled > 1 && !counting->gave_up && box.is_short &&
           counting->near < begin_block / 4 &&
           box.rests < 1ull << (32 - site_bits - fine_bits(plan));
}

/* What a block shares while it sorts a tile. */
struct tile_of_keys {
    uint32_t key[step_tile];
    unsigned char bin[step_tile];
    unsigned count[most_bins], start[most_bins], to[most_bins];
};

/* Where each bin starts in the tile, by the first warp. */
__device__ __forceinline__ void find_starts(struct tile_of_keys *tile)
{
    constexpr int each = most_bins / 32;
    const int lane = (int)threadIdx.x;
    unsigned sum = 0;
    for (int k = 0; k < each; k++)
        sum += tile->count[lane * each + k];
    unsigned before = warp_sum_to(sum) - sum;
    for (int k = 0; k < each; k++) {
        tile->start[lane * each + k] = before;
        before += tile->count[lane * each + k];
    }
}

/* Writes a tile's keys to their bins, of which bin b has that many keys so far and its room from
 * b × capacity on. keys[k] and bins[k] are those of number k × step_threads + threadIdx.x. */
__device__ __forceinline__ void write_to_bins(struct tile_of_keys *tile, const uint32_t *key,
                                              const unsigned *bin, int count, int bins,
                                              unsigned *filled, uint32_t *all, unsigned capacity,
                                              struct counting *counting,
                                              const struct partition_plan &plan, bool is_again)
{
    unsigned rank[step_each];
    if (threadIdx.x < most_bins)
        tile->count[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < step_each; k++)
        if (k * step_threads + (int)threadIdx.x < count)
            rank[k] = atomicAdd(&tile->count[bin[k]], 1u);
    __syncthreads();
    if (threadIdx.x < 32)
        find_starts(tile);
    else if ((int)threadIdx.x - 32 < bins)
        tile->to[threadIdx.x - 32] =
            atomicAdd(&filled[threadIdx.x - 32], tile->count[threadIdx.x - 32]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < step_each; k++)
        if (k * step_threads + (int)threadIdx.x < count) {
            const unsigned at = tile->start[bin[k]] + rank[k];
            tile->key[at] = key[k];
            tile->bin[at] = (unsigned char)bin[k];
        }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < step_each; k++) {
        const int i = k * step_threads + (int)threadIdx.x;
        if (i >= count)
            continue;
        const unsigned b = tile->bin[i], at = tile->to[b] + (unsigned)i - tile->start[b];
        if (at < capacity)
            all[b * capacity + at] = tile->key[i];
        else
            give_up(counting, plan, is_again);
    }
    __syncthreads();
}

/* Beads to bins. */
template <typename coordinate, int dimensions>
__global__ void __launch_bounds__(step_threads, step_blocks)
    part_to_bins(const struct collisions_problem problem, struct counting *counting,
                 const struct partition_plan plan, unsigned *filled, uint32_t *keys, bool is_again)
{
    __shared__ struct tile_of_keys tile;
    wait_for_kernel_before();
    if (__syncthreads_or(is_again != (counting->missed != 0)))
        return;
    const struct block_box box = block_box_for_all(counting, problem, plan);
    if (__syncthreads_or(!is_in_two_steps(counting, box, plan)))
        return;
    const int fine = fine_bits(plan);
    for (int64_t first = (int64_t)blockIdx.x * step_tile; first < problem.count;
         first += (int64_t)gridDim.x * step_tile) {
        const coordinate *const beads =
            (const coordinate *)problem.beads + first * problem.row_stride;
        const int count = (int)min(problem.count - first, (int64_t)step_tile);
        uint32_t key[step_each];
        unsigned bin[step_each];
        bool missed = !is_again && *(volatile unsigned *)&counting->missed;
#pragma unroll
        for (int k = 0; k < step_each; k++) {
            const int i = min(k * step_threads + (int)threadIdx.x, count - 1);
            const struct piece_key<uint32_t> made = piece_key_of<uint32_t, dimensions>(
                box, beads + i * problem.row_stride, problem.column_stride, plan);
            const unsigned in_bin = made.piece & ((1u << fine) - 1);
            const unsigned in_block = made.rest & ((1u << site_bits) - 1);
            bin[k] = made.piece >> fine;
            key[k] = (made.rest - in_block) << fine | in_bin << site_bits | in_block;
            missed |= !made.is_inside;
        }
        if (__syncthreads_or(missed)) {
            counting->missed = 1;
            return;
        }
        write_to_bins(&tile, key, bin, count, plan.pieces >> fine, filled, keys,
                      plan.capacity << fine, counting, plan, is_again);
    }
}

/* Tiles of all bins before each one, by the first warp. */
__device__ __forceinline__ void find_tiles(const unsigned *filled, int bins, unsigned *before)
{
    unsigned all = 0;
    for (int b = (int)threadIdx.x; b < most_bins; b += 32) {
        const unsigned mine = b < bins ? (filled[b] + step_tile - 1) / step_tile : 0;
        const unsigned sum = warp_sum_to(mine);
        before[b] = all + sum - mine;
        all += __shfl_sync(0xffffffff, sum, 31);
    }
    if (threadIdx.x == 0)
        before[most_bins] = all;
}

/* Bins to pieces. */
static __global__ void __launch_bounds__(step_threads, step_blocks)
    part_bins(const struct collisions_problem problem, struct counting *counting,
              const struct partition_plan plan, const unsigned *filled_bins, const uint32_t *bins,
              unsigned *filled, uint32_t *keys, bool is_again)
{
    __shared__ struct tile_of_keys tile;
    __shared__ unsigned tiles_before[most_bins + 1];
    wait_for_kernel_before();
    if (__syncthreads_or(is_again != (counting->missed != 0)))
        return;
    const struct block_box box = block_box_for_all(counting, problem, plan);
    if (__syncthreads_or(!is_in_two_steps(counting, box, plan)))
        return;
    const int fine = fine_bits(plan);
    if (threadIdx.x < 32)
        find_tiles(filled_bins, plan.pieces >> fine, tiles_before);
    __syncthreads();
    unsigned b = 0;
    for (unsigned t = blockIdx.x; t < tiles_before[most_bins]; t += gridDim.x) {
        while (t >= tiles_before[b + 1])
            b++;
        const unsigned first = (t - tiles_before[b]) * step_tile;
        const int count = (int)min(filled_bins[b] - first, (unsigned)step_tile);
        const uint32_t *const from = bins + b * (plan.capacity << fine) + first;
        uint32_t key[step_each];
        unsigned bin[step_each];
#pragma unroll
        for (int k = 0; k < step_each; k++) {
            const uint32_t given = from[min(k * step_threads + (int)threadIdx.x, count - 1)];
            const unsigned in_block = given & ((1u << site_bits) - 1);
            bin[k] = given >> site_bits & ((1u << fine) - 1);
            key[k] = given >> (site_bits + fine) << site_bits | in_block;
        }
        write_to_bins(&tile, key, bin, count, 1 << fine, filled + (b << fine),
                      keys + (b << fine) * plan.capacity, plan.capacity, counting, plan, is_again);
    }
}

/* filled: as many numbers as pieces, then most_bins; keys: twice as many as pieces have room. */
static inline kith_status part_in_two_steps(kith_context *context,
                                            const struct collisions_problem &problem,
                                            struct counting *counting,
                                            const struct partition_plan &plan, unsigned *filled,
                                            uint32_t *keys, bool is_again)
{
    const int64_t tiles = (problem.count + step_tile - 1) / step_tile;
    const unsigned blocks = at_most(tiles, (int64_t)cuda_multiprocessors(context) * step_blocks);
    unsigned *const filled_bins = filled + plan.pieces;
    uint32_t *const bins = keys + (int64_t)plan.pieces * plan.capacity;
    void (*const to_bins)(const struct collisions_problem, struct counting *,
                          const struct partition_plan, unsigned *, uint32_t *, bool) =
        problem.dtype == KITH_I32
            ? (problem.dimensions == 3 ? part_to_bins<int32_t, 3> : part_to_bins<int32_t, 2>)
            : (problem.dimensions == 3 ? part_to_bins<int64_t, 3> : part_to_bins<int64_t, 2>);
    KITH_TRY(launch_overlapped(context, "partitioning the beads into bins", blocks, step_threads,
                               to_bins, problem, counting, plan, filled_bins, bins, is_again));
    return launch_overlapped(context, "partitioning the bins", blocks, step_threads, part_bins,
                             problem, counting, plan, (const unsigned *)filled_bins,
                             (const uint32_t *)bins, filled, keys, is_again);
}

#endif
