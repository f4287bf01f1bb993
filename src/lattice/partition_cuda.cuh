#ifndef COLLISIONS_PARTITION_CUDA_CUH
#define COLLISIONS_PARTITION_CUDA_CUH

/* Counting by one partition: sites are parted by a hash into pieces, each of which fits a table in
 * shared memory. A key is written once and read once, or in two steps twice. */

#include "device/overlap.cuh"
#include "lattice/blocks_cuda.cuh"
#include "lattice/pieces_cuda.cuh"
#include "lattice/two_steps_cuda.cuh"

/* Threads of a block, beads of a thread at a time, blocks of a multiprocessor. Partitioning 10^8
 * beads of a walk takes 0.76 to 0.79 ms on an H200; with three blocks, whose registers do not hold
 * it all, 0.84; with tiles twice as large 0.85. */
enum { part_threads = 512, part_each = 8, part_blocks = 2, part_tile = part_threads * part_each };

/* Beads of a tile, while a block of threads moves them: a place is the piece, and how many
 * beads of the tile are there before, of 16 bits each. */
struct part_place {
    unsigned both;
    __device__ __forceinline__ bool is_bead() const
    {
        return both != ~0u;
    }
    __device__ __forceinline__ bool is_first() const
    {
        return (both & 0xffff) == 0;
    }
    __device__ __forceinline__ unsigned piece() const
    {
        return both >> 16;
    }
    __device__ __forceinline__ unsigned rank() const
    {
        return both & 0xffff;
    }
};

/* If there are more pieces than beads of a tile, only pieces with beads are inspected: by the first
 * bead there. Else it is faster to inspect all: neighboring atomic operations are done together.
 */
__device__ __forceinline__ bool looks_at_all(const struct partition_plan &plan)
{
    return plan.pieces <= part_tile;
}

/* in_piece afterwards is where the tile's keys go in each piece. */
__device__ __forceinline__ void take_room(const struct partition_plan &plan,
                                          const struct part_place *place, unsigned *in_piece,
                                          unsigned *filled)
{
    if (looks_at_all(plan)) {
        for (int p = threadIdx.x; p < plan.pieces; p += part_threads)
            if (in_piece[p] > 0)
                in_piece[p] = atomicAdd(&filled[p], in_piece[p]);
        return;
    }
#pragma unroll
    for (int k = 0; k < part_each; k++) {
        const unsigned p = place[k].piece();
        if (place[k].is_first())
            in_piece[p] = atomicAdd(&filled[p], in_piece[p]);
    }
}

__device__ __forceinline__ void forget_tile(const struct partition_plan &plan,
                                            const struct part_place *place, unsigned *in_piece)
{
    if (looks_at_all(plan)) {
        for (int p = threadIdx.x; p < plan.pieces; p += part_threads)
            in_piece[p] = 0;
        return;
    }
#pragma unroll
    for (int k = 0; k < part_each; k++)
        if (place[k].is_first())
            in_piece[place[k].piece()] = 0;
}

/* Tile by tile: beads are counted by piece in shared memory, which is zero between tiles, room is
 * taken for them by one atomic operation a piece, and keys are written. */
template <typename key, int dimensions, typename coordinate>
__device__ __forceinline__ void
part_tiles(const struct collisions_problem &problem, const struct block_box &box,
           const struct partition_plan &plan, struct counting *counting, unsigned *in_piece,
           unsigned *filled, key *keys, bool is_again)
{
    for (int64_t first = (int64_t)blockIdx.x * part_tile; first < problem.count;
         first += (int64_t)gridDim.x * part_tile) {
        const coordinate *const beads =
            (const coordinate *)problem.beads + first * problem.row_stride;
        const int count = (int)min(problem.count - first, (int64_t)part_tile);
        struct part_place place[part_each];
        key rest[part_each];
        bool missed = !is_again && *(volatile unsigned *)&counting->missed;
#pragma unroll
        for (int k = 0; k < part_each; k++) { /* all loads before any bead is counted */
            const int i = min(k * part_threads + (int)threadIdx.x, count - 1);
            const struct piece_key<key> made = piece_key_of<key, dimensions>(
                box, beads + i * problem.row_stride, problem.column_stride, plan);
            place[k].both = made.piece;
            missed |= !made.is_inside;
            rest[k] = made.rest;
        }
#pragma unroll
        for (int k = 0; k < part_each; k++) {
            const unsigned piece = place[k].both;
            place[k].both = ~0u;
            if (k * part_threads + (int)threadIdx.x < count)
                place[k].both = piece << 16 | atomicAdd(&in_piece[piece], 1u);
        }
        if (__syncthreads_or(missed)) {
            counting->missed = 1;
            return;
        }
        take_room(plan, place, in_piece, filled);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < part_each; k++) {
            if (!place[k].is_bead())
                continue;
            const unsigned at = in_piece[place[k].piece()] + place[k].rank();
            if (at < plan.capacity)
                keys[place[k].piece() * plan.capacity + at] = rest[k];
            else
                give_up(counting, plan, is_again);
        }
        __syncthreads();
        forget_tile(plan, place, in_piece);
        __syncthreads();
    }
}

template <typename coordinate, int dimensions>
__global__ void __launch_bounds__(part_threads, part_blocks)
    part_keys(const struct collisions_problem problem, struct counting *counting,
              const struct partition_plan plan, unsigned *filled, void *keys, bool is_again)
{
    extern __shared__ unsigned in_piece[]; /* pieces */
    for (int p = threadIdx.x; p < plan.pieces; p += part_threads)
        in_piece[p] = 0;
    wait_for_kernel_before();
    if (__syncthreads_or(is_again != (counting->missed != 0)))
        return;
    const struct block_box box = block_box_for_all(counting, problem, plan);
    if (!box.is_possible)
        give_up(counting, plan, is_again);
    else if (is_in_two_steps(counting, box, plan))
        return;
    else if (box.is_short)
        part_tiles<uint32_t, dimensions, coordinate>(problem, box, plan, counting, in_piece, filled,
                                                     (uint32_t *)keys, is_again);
    else
        part_tiles<unsigned long long, dimensions, coordinate>(
            problem, box, plan, counting, in_piece, filled, (unsigned long long *)keys, is_again);
}

static inline struct partition_plan plan_partition(int64_t n, int64_t mean, int slots, int sampled)
{
    struct partition_plan plan = {1, 0, slots, (unsigned)slots / 4 * 3, sampled};
    while (plan.pieces * mean < n) {
        plan.pieces *= 2;
        plan.piece_bits++;
    }
    return plan;
}

/* The shared memory of the kernels: for the counters of pieces, for tables of short and of long
 * keys. */
static inline int bytes_of_counters(const struct partition_plan &plan)
{
    return plan.pieces * (int)sizeof(unsigned);
}

static inline int bytes_of_short(const struct partition_plan &plan)
{
    return plan.slots * (int)(sizeof(uint32_t) + sizeof(uint16_t));
}

static inline int bytes_of_long(const struct partition_plan &plan)
{
    return plan.slots * (int)(sizeof(uint64_t) + sizeof(unsigned));
}

static inline kith_status part(kith_context *context, const struct collisions_problem &problem,
                               struct counting *counting, const struct partition_plan &plan,
                               unsigned *filled, void *keys, bool is_again)
{
    const int64_t most = (int64_t)cuda_multiprocessors(context) * part_blocks;
    const int64_t tiles = (problem.count + part_tile - 1) / part_tile;
    void (*const kernel)(const struct collisions_problem, struct counting *,
                         const struct partition_plan, unsigned *, void *, bool) =
        problem.dtype == KITH_I32
            ? (problem.dimensions == 3 ? part_keys<int32_t, 3> : part_keys<int32_t, 2>)
            : (problem.dimensions == 3 ? part_keys<int64_t, 3> : part_keys<int64_t, 2>);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         bytes_of_counters(plan));
    return launch_overlapped(context, "partitioning the beads", at_most(tiles, most), part_threads,
                             (size_t)bytes_of_counters(plan), kernel, problem, counting, plan,
                             filled, keys, is_again);
}

/* Parts the keys. keys: pieces × capacity × 8 bytes; filled: as many numbers as pieces and bins. To
 * find the extent first reads all beads once more: of many beads it is guessed from some, with a
 * margin, and all is done again if one was outside. */
static inline kith_status part_beads(kith_context *context,
                                     const struct collisions_problem &problem,
                                     struct counting *counting, const struct partition_plan &plan,
                                     unsigned *filled, void *keys)
{
    const int64_t numbers = plan.pieces + most_bins;
    for (int is_again = 0; is_again <= (plan.sampled > 1); is_again++) {
        KITH_TRY(start_counting(context, problem, counting, is_again ? 1 : plan.sampled, filled,
                                numbers, is_again));
        KITH_TRY(part(context, problem, counting, plan, filled, keys, is_again));
        if (plan.sampled > 1)
            KITH_TRY(part_in_two_steps(context, problem, counting, plan, filled, (uint32_t *)keys,
                                       is_again));
    }
    return KITH_OK;
}

/* Counts what part_beads partitioned. If it gave up, leaves a clear table of slots in the memory of
 * the keys. */
static inline kith_status count_parted(kith_context *context,
                                       const struct collisions_problem &problem,
                                       struct counting *counting, const struct partition_plan &plan,
                                       const unsigned *filled, void *keys, int64_t table_slots)
{
    const int64_t multiprocessors = cuda_multiprocessors(context);
    const int of_short = bytes_of_short(plan), of_long = bytes_of_long(plan);
    cudaFuncSetAttribute(count_pieces, cudaFuncAttributeMaxDynamicSharedMemorySize, of_short);
    cudaFuncSetAttribute(count_long_pieces, cudaFuncAttributeMaxDynamicSharedMemorySize, of_long);
    KITH_TRY(launch_overlapped(
        context, "counting in pieces", at_most(plan.pieces, multiprocessors * 2), piece_threads,
        (size_t)of_short, count_pieces, problem, counting, plan, filled, (const void *)keys));
    return launch_overlapped(context, "counting in pieces with long keys",
                             at_most(plan.pieces, multiprocessors), piece_threads, (size_t)of_long,
                             count_long_pieces, problem, counting, plan, filled, keys, table_slots);
}

#endif
