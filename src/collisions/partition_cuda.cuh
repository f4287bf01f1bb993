#ifndef COLLISIONS_PARTITION_CUDA_CUH
#define COLLISIONS_PARTITION_CUDA_CUH

/* Counting by one partition: keys of sites are parted by their hash into pieces, each of which fits
 * a table in shared memory. A bead is read twice (its extent, its key), its key written once and
 * read once. */

#include "collisions/lattice_cuda.cuh"

/* A piece has room for so many keys, and its table twice as many slots. Hashes spread sites evenly,
 * so pieces are that full only if many beads share few sites: then the kernels give up. */
struct partition_plan {
    int64_t pieces;   /* a power of two */
    int64_t capacity; /* keys of a piece */
    int slots;        /* of a table: a power of two */
    int tile;         /* beads of a block */
};

enum { partition_block = 512, partition_items = 16, most_tile_pieces = 4096 };

__device__ __forceinline__ int64_t piece_of(uint64_t mixed, int64_t pieces)
{
    return (int64_t)(mixed >> 32) & (pieces - 1);
}

/* A block's beads: counted by piece in shared memory, room taken in the pieces by one atomic
 * operation a piece, keys written. */
template <typename coordinate>
__global__ void __launch_bounds__(partition_block)
    part_keys(const struct collisions_problem problem, struct counting *counting,
              const struct partition_plan plan, unsigned *filled, uint64_t *keys)
{
    extern __shared__ unsigned in_piece[]; /* pieces: beads of the block, then where they begin */
    const struct device_box box = box_of(counting);
    if (box.total_bits > 64) {
        if (threadIdx.x == 0)
            counting->gave_up = 1;
        return;
    }
    for (int64_t p = threadIdx.x; p < plan.pieces; p += partition_block)
        in_piece[p] = 0;
    __syncthreads();

    uint64_t mixed[partition_items];
    unsigned rank[partition_items];
    const int64_t first = (int64_t)blockIdx.x * (partition_block * partition_items) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < partition_items; k++) {
        const int64_t i = first + k * partition_block;
        if (i < problem.count) {
            mixed[k] = mix(key_of(box, load_site<coordinate>(problem, i)));
            rank[k] = atomicAdd(&in_piece[piece_of(mixed[k], plan.pieces)], 1u);
        }
    }
    __syncthreads();
    for (int64_t p = threadIdx.x; p < plan.pieces; p += partition_block)
        if (in_piece[p] > 0)
            in_piece[p] = atomicAdd(&filled[p], in_piece[p]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < partition_items; k++) {
        const int64_t i = first + k * partition_block;
        if (i < problem.count) {
            const int64_t piece = piece_of(mixed[k], plan.pieces);
            const int64_t at = in_piece[piece] + (int64_t)rank[k];
            if (at < plan.capacity)
                keys[piece * plan.capacity + at] = mixed[k];
            else
                counting->gave_up = 1;
        }
    }
}

enum { piece_block = 512 };

/* 0 marks a free slot: the key 0, of the lowest corner of the box, is counted apart. */
static __global__ void __launch_bounds__(piece_block)
    count_pieces(struct counting *counting, const struct partition_plan plan,
                 const unsigned *filled, const uint64_t *keys)
{
    extern __shared__ unsigned long long slot[]; /* slots keys, then slots counts of 32 bits */
    unsigned *const times = (unsigned *)(slot + plan.slots);
    __shared__ unsigned of_zero;
    if (counting->gave_up)
        return;
    const unsigned mask = (unsigned)plan.slots - 1;
    unsigned long long collisions = 0;
    for (int64_t piece = blockIdx.x; piece < plan.pieces; piece += gridDim.x) {
        for (int s = threadIdx.x; s < plan.slots / 2; s += piece_block)
            ((ulonglong2 *)slot)[s] = make_ulonglong2(0, 0);
        for (int s = threadIdx.x; s < plan.slots / 4; s += piece_block)
            ((uint4 *)times)[s] = make_uint4(0, 0, 0, 0);
        if (threadIdx.x == 0)
            of_zero = 0;
        __syncthreads();
        const unsigned count = filled[piece];
        for (unsigned k = threadIdx.x; k < count; k += piece_block) {
            const unsigned long long key = keys[piece * plan.capacity + k];
            if (key == 0) {
                collisions += atomicAdd(&of_zero, 1u);
                continue;
            }
            unsigned at = (unsigned)key & mask;
            for (;;) {
                unsigned long long there = slot[at];
                if (there == 0)
                    there = atomicCAS(&slot[at], 0ull, key);
                if (there == 0 || there == key)
                    break;
                at = (at + 1) & mask;
            }
            collisions += atomicAdd(&times[at], 1u);
        }
        __syncthreads();
    }
    add_of_block(collisions, counting);
}

static inline struct partition_plan plan_partition(int64_t n, int64_t mean, int slots)
{
    struct partition_plan plan = {1, 0, slots, partition_block * partition_items};
    while (plan.pieces * mean < n)
        plan.pieces *= 2;
    plan.capacity = slots * 3 / 4;
    return plan;
}

static inline void count_by_partition(cudaStream_t stream, int multiprocessors,
                                      const struct collisions_problem &problem,
                                      struct counting *counting, const struct partition_plan &plan,
                                      unsigned *filled, uint64_t *keys)
{
    const unsigned blocks = (unsigned)((problem.count + plan.tile - 1) / plan.tile);
    const size_t shared = (size_t)plan.pieces * sizeof(unsigned);
    cudaMemsetAsync(filled, 0, (size_t)plan.pieces * sizeof *filled, stream);
    void (*const part)(const struct collisions_problem, struct counting *,
                       const struct partition_plan, unsigned *, uint64_t *) =
        problem.dtype == KITH_I32 ? part_keys<int32_t> : part_keys<int64_t>;
    if (shared > 48 * 1024)
        cudaFuncSetAttribute(part, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    part<<<blocks, partition_block, shared, stream>>>(problem, counting, plan, filled, keys);

    const size_t table = (size_t)plan.slots * (sizeof(uint64_t) + sizeof(unsigned));
    if (table > 48 * 1024)
        cudaFuncSetAttribute(count_pieces, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)table);
    const int64_t at_once = (int64_t)multiprocessors * 8;
    count_pieces<<<(unsigned)(plan.pieces < at_once ? plan.pieces : at_once), piece_block, table,
                   stream>>>(counting, plan, filled, keys);
}

#endif
