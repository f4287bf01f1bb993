#ifndef COLLISIONS_PARTITION_CUDA_CUH
#define COLLISIONS_PARTITION_CUDA_CUH

/* Counting by one partition: keys of sites are parted by their hash into pieces, each of which fits
 * a table in shared memory. A bead is read twice (its extent, its key), its key written once and
 * read once. */

#include "collisions/lattice_cuda.cuh"
#include "collisions/table_cuda.cuh"

/* A piece has room for so many keys, and its table twice as many slots. Hashes spread sites evenly,
 * so pieces are that full only if many beads share few sites: then the kernels give up. */
struct partition_plan {
    int64_t pieces;   /* a power of two */
    int64_t capacity; /* keys of a piece */
    int slots;        /* of a table: a power of two */
    int tile;         /* beads of a block */
};

enum { partition_block = 512 };

/* Sites are parted by blocks of 4 × 4 × 4 (8 × 8 in 2D): beads that follow each other in a chain
 * mostly go to one piece, next to each other. These are the bits of a key that tell the sites of a
 * block apart. */
__device__ __forceinline__ uint64_t site_bits(const struct device_box &box, int dimensions)
{
    const int each = dimensions == 3 ? 2 : 3;
    uint64_t bits = 0;
    for (int c = 0; c < dimensions; c++)
        bits |= (((uint64_t)1 << min(each, box.bits[c])) - 1) << box.shift[c];
    return bits;
}

__device__ __forceinline__ unsigned piece_of(uint64_t key, uint64_t bits_of_site, int64_t pieces)
{
    return (unsigned)(mix(key & ~bits_of_site) >> 32) & (unsigned)(pieces - 1);
}

/* Blocks of sites that hold very many beads would make pieces of very different sizes; such a box
 * is small, and counted in an array. */
__device__ __forceinline__ bool is_crowded(const struct counting *counting, int64_t beads)
{
    const uint64_t sites = sites_of(counting);
    return sites > 0 && sites <= (uint64_t)beads / 4;
}

/* The lanes that have the same piece take their places together. */
template <bool together>
__device__ __forceinline__ unsigned take_place(unsigned *next, unsigned piece)
{
    if (!together)
        return atomicAdd(&next[piece], 1u);
    const unsigned active = __activemask(), alike = __match_any_sync(active, piece);
    const int leader = __ffs((int)alike) - 1, lane = threadIdx.x % 32;
    unsigned place = 0;
    if (lane == leader)
        place = atomicAdd(&next[piece], (unsigned)__popc(alike));
    return __shfl_sync(alike, place, leader) + (unsigned)__popc(alike & ((1u << lane) - 1));
}

/* A block's tile of beads: counted by piece in shared memory, room taken in the pieces by one
 * atomic operation a piece, keys written. The tile is read twice; the second time it is in a cache.
 */
template <typename coordinate, bool together>
__global__ void __launch_bounds__(partition_block)
    part_keys(const struct collisions_problem problem, struct counting *counting,
              const struct partition_plan plan, unsigned *filled, uint64_t *keys)
{
    extern __shared__ unsigned in_piece[]; /* pieces: beads of the tile, then where they go */
    const struct device_box box = box_of(counting);
    if (box.total_bits > 64 || is_crowded(counting, problem.count)) {
        if (threadIdx.x == 0)
            counting->gave_up = 1;
        return;
    }
    const uint64_t bits = site_bits(box, problem.dimensions);
    for (int64_t p = threadIdx.x; p < plan.pieces; p += partition_block)
        in_piece[p] = 0;
    __syncthreads();

    const int64_t first = (int64_t)blockIdx.x * plan.tile;
    const int64_t end = min(first + plan.tile, problem.count);
    for (int64_t i = first + threadIdx.x; i < end; i += partition_block)
        take_place<together>(
            in_piece, piece_of(key_of(box, load_site<coordinate>(problem, i)), bits, plan.pieces));
    __syncthreads();
    for (int64_t p = threadIdx.x; p < plan.pieces; p += partition_block)
        if (in_piece[p] > 0)
            in_piece[p] = atomicAdd(&filled[p], in_piece[p]);
    __syncthreads();
    for (int64_t i = first + threadIdx.x; i < end; i += partition_block) {
        const uint64_t key = key_of(box, load_site<coordinate>(problem, i));
        const unsigned piece = piece_of(key, bits, plan.pieces);
        const int64_t at = take_place<together>(in_piece, piece);
        if (at < plan.capacity)
            keys[piece * plan.capacity + at] = key;
        else
            counting->gave_up = 1;
    }
}

/* The keys of a piece in a table with open addressing. The highest value marks a free slot: the one
 * key that may be that is counted apart. */
template <int threads>
__global__ void __launch_bounds__(threads)
    count_pieces(struct counting *counting, const struct partition_plan plan,
                 const unsigned *filled, const uint64_t *keys)
{
    extern __shared__ unsigned long long slot[]; /* slots keys, then slots counts of 32 bits */
    unsigned *const times = (unsigned *)(slot + plan.slots);
    __shared__ unsigned of_last;
    if (counting->gave_up)
        return;
    const unsigned mask = (unsigned)plan.slots - 1;
    const unsigned long long none = ~0ull;
    unsigned long long collisions = 0;
    for (int64_t piece = blockIdx.x; piece < plan.pieces; piece += gridDim.x) {
        for (int s = threadIdx.x; s < plan.slots / 2; s += threads)
            ((ulonglong2 *)slot)[s] = make_ulonglong2(none, none);
        for (int s = threadIdx.x; s < plan.slots / 4; s += threads)
            ((uint4 *)times)[s] = make_uint4(0, 0, 0, 0);
        if (threadIdx.x == 0)
            of_last = 0;
        __syncthreads();
        const unsigned count = filled[piece];
        for (unsigned k = threadIdx.x; k < count; k += threads) {
            const unsigned long long key = keys[piece * plan.capacity + k];
            if (key == none) {
                collisions += atomicAdd(&of_last, 1u);
                continue;
            }
            unsigned at = (unsigned)mix(key) & mask;
            for (;; at = (at + 1) & mask) {
                unsigned long long there = *(volatile unsigned long long *)&slot[at];
                if (there == none)
                    there = atomicCAS(&slot[at], none, key);
                if (there == none || there == key)
                    break;
            }
            collisions += atomicAdd(&times[at], 1u);
        }
        __syncthreads();
    }
    add_of_block(collisions, counting);
}

static inline struct partition_plan plan_partition(int64_t n, int64_t mean, int slots, int tile)
{
    struct partition_plan plan = {1, 0, slots, tile};
    while (plan.pieces * mean < n)
        plan.pieces *= 2;
    plan.capacity = slots * 3 / 4;
    return plan;
}

template <bool together, int threads>
static inline void count_by_partition(cudaStream_t stream, int multiprocessors,
                                      const struct collisions_problem &problem,
                                      struct counting *counting, const struct partition_plan &plan,
                                      unsigned *filled, uint64_t *keys)
{
    const unsigned blocks = (unsigned)((problem.count + plan.tile - 1) / plan.tile);
    const int shared = (int)(plan.pieces * (int64_t)sizeof(unsigned));
    const int table = plan.slots * (int)(sizeof(uint64_t) + sizeof(unsigned));
    void (*const part)(const struct collisions_problem, struct counting *,
                       const struct partition_plan, unsigned *, uint64_t *) =
        problem.dtype == KITH_I32 ? part_keys<int32_t, together> : part_keys<int64_t, together>;
    cudaMemsetAsync(filled, 0, (size_t)plan.pieces * sizeof *filled, stream);
    cudaFuncSetAttribute(part, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    part<<<blocks, partition_block, shared, stream>>>(problem, counting, plan, filled, keys);

    const int64_t at_once = (int64_t)multiprocessors * 8;
    cudaFuncSetAttribute(count_pieces<threads>, cudaFuncAttributeMaxDynamicSharedMemorySize, table);
    count_pieces<threads>
        <<<(unsigned)(plan.pieces < at_once ? plan.pieces : at_once), threads, table, stream>>>(
            counting, plan, filled, keys);
}

#endif
