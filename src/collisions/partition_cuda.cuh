#ifndef COLLISIONS_PARTITION_CUDA_CUH
#define COLLISIONS_PARTITION_CUDA_CUH

/* Counting by one partition: sites are parted by a hash into pieces, each of which fits a table in
 * shared memory. A bead is read for its extent and for its key, its key written once and read once.
 *
 * What is hashed are blocks of 4 × 4 × 4 sites (8 × 8 in 2D): beads that follow each other in a
 * chain mostly go to one piece, next to each other. The hash of a block is another number of as
 * many bits, a different one for each block. Some of its bits number the piece: the rest and the
 * site in the block tell sites of a piece apart, and mostly fit 32 bits. */

#include "collisions/lattice_cuda.cuh"
#include "collisions/table_cuda.cuh"

/* A piece has room for so many keys, and its table a third more slots. Hashes spread blocks evenly,
 * so pieces are that full only if many beads share few blocks: then the kernels give up. */
struct partition_plan {
    int64_t pieces;   /* a power of two */
    int piece_bits;   /* its logarithm */
    int slots;        /* of a table: a power of two */
    int64_t capacity; /* keys of a piece */
    int tile;         /* beads of a block of threads */
    bool is_large;    /* tables of which a multiprocessor holds one: short keys have another kernel,
                         with smaller ones */
};

/* Blocks of sites in a box. */
struct block_box {
    int64_t low[3];
    int dimensions, shift[3], bits, each; /* of a block's number; of a coordinate in a block */
    bool is_possible;                     /* there is room for it all in 64 bits */
    bool is_short;                        /* what tells sites of a piece apart fits 32 bits */
};

enum { site_bits = 6 };

/* Not of a crowded box: blocks of sites that hold very many beads would make pieces of very
 * different sizes. Such a box is small, and counted in an array. */
__device__ __forceinline__ struct block_box block_box_of(const struct counting *counting,
                                                         const struct collisions_problem &problem,
                                                         int piece_bits)
{
    const struct device_box sites = box_of(counting);
    const uint64_t all = sites_of(counting);
    struct block_box box;
    box.bits = 0;
    box.dimensions = problem.dimensions;
    box.each = problem.dimensions == 3 ? 2 : 3;
    for (int c = 0; c < 3; c++) {
        box.low[c] = sites.low[c];
        box.shift[c] = min(box.bits, 63);
        box.bits += max(sites.bits[c] - box.each, 0);
    }
    const bool is_crowded = all > 0 && all <= (uint64_t)problem.count / 4;
    box.is_possible = box.bits + site_bits <= 64 && !is_crowded;
    box.is_short = box.bits - piece_bits + site_bits <= 32;
    return box;
}

/* Shifts by more than half of the bits and odd factors can be undone: no two numbers get alike. */
__device__ __forceinline__ uint64_t mix_block(uint64_t block, int bits)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    const int half = bits / 2 + 1;
    block ^= block >> half;
    block = block * 0xff51afd7ed558ccd & mask;
    block ^= block >> half;
    block = block * 0xc4ceb9fe1a85ec53 & mask;
    return block ^ block >> half;
}

/* The piece, and what tells its sites apart. */
struct piece_key {
    unsigned piece;
    uint64_t rest;
};

/* A coordinate from the lowest on; of int32 it fits 32 bits, and the work in them is half. */
template <typename coordinate> struct unsigned_of;
template <> struct unsigned_of<int32_t> {
    typedef uint32_t type;
};
template <> struct unsigned_of<int64_t> {
    typedef uint64_t type;
};

template <typename coordinate>
__device__ __forceinline__ struct piece_key piece_key_of(const struct block_box &box,
                                                         const struct site &site,
                                                         const struct partition_plan &plan)
{
    typedef typename unsigned_of<coordinate>::type number;
    uint64_t block = 0;
    unsigned in_block = 0;
    for (int c = 0; c < 3; c++) {
        const number x = (number)site.x[c] - (number)box.low[c];
        block |= (uint64_t)(x >> box.each) << box.shift[c];
        if (c < box.dimensions)
            in_block = in_block << box.each | ((unsigned)x & ((1u << box.each) - 1));
    }
    const uint64_t mixed = mix_block(block, box.bits);
    struct piece_key key;
    key.piece = (unsigned)mixed & (unsigned)(plan.pieces - 1);
    key.rest = mixed >> plan.piece_bits << site_bits | in_block;
    return key;
}

enum { partition_block = 512 };

/* A block's tile of beads: counted by piece in shared memory, room taken in the pieces by one
 * atomic operation a piece, keys written. The tile is read twice; the second time it is in a cache.
 */
template <typename coordinate>
__global__ void __launch_bounds__(partition_block)
    part_keys(const struct collisions_problem problem, struct counting *counting,
              const struct partition_plan plan, unsigned *filled, void *keys)
{
    extern __shared__ unsigned in_piece[]; /* pieces: beads of the tile, then where they go */
    const struct block_box box = block_box_of(counting, problem, plan.piece_bits);
    if (!box.is_possible) {
        if (threadIdx.x == 0)
            counting->gave_up = 1;
        return;
    }
    for (int64_t p = threadIdx.x; p < plan.pieces; p += partition_block)
        in_piece[p] = 0;
    __syncthreads();

    const int64_t first = (int64_t)blockIdx.x * plan.tile;
    const int64_t end = min(first + plan.tile, problem.count);
    for (int64_t i = first + threadIdx.x; i < end; i += partition_block)
        atomicAdd(
            &in_piece[piece_key_of<coordinate>(box, load_site<coordinate>(problem, i), plan).piece],
            1u);
    __syncthreads();
    for (int64_t p = threadIdx.x; p < plan.pieces; p += partition_block)
        if (in_piece[p] > 0)
            in_piece[p] = atomicAdd(&filled[p], in_piece[p]);
    __syncthreads();
    for (int64_t i = first + threadIdx.x; i < end; i += partition_block) {
        const struct piece_key key =
            piece_key_of<coordinate>(box, load_site<coordinate>(problem, i), plan);
        const int64_t at = atomicAdd(&in_piece[key.piece], 1u);
        const int64_t to = key.piece * plan.capacity + at;
        if (at >= plan.capacity)
            counting->gave_up = 1;
        else if (box.is_short)
            ((uint32_t *)keys)[to] = (uint32_t)key.rest;
        else
            ((uint64_t *)keys)[to] = key.rest;
    }
}

__device__ __forceinline__ unsigned slot_of(uint32_t key)
{
    key *= 0x9e3779b1;
    return key ^ key >> 15;
}

__device__ __forceinline__ unsigned slot_of(unsigned long long key)
{
    return (unsigned)mix(key);
}

/* The keys of pieces in a table with open addressing. The highest value marks a free slot: the one
 * key that may be that is counted apart. */
template <typename integer>
__device__ __forceinline__ unsigned long long
count_keys(const struct partition_plan &plan, const unsigned *filled, const void *all, void *memory)
{
    __shared__ unsigned of_last;
    integer *const slot = (integer *)memory; /* slots keys, then slots counts */
    unsigned *const times = (unsigned *)(slot + plan.slots);
    const integer *const keys = (const integer *)all;
    const unsigned mask = (unsigned)plan.slots - 1;
    const integer none = (integer) ~(integer)0;
    unsigned long long collisions = 0;
    for (int64_t piece = blockIdx.x; piece < plan.pieces; piece += gridDim.x) {
        const uint4 ones = make_uint4(~0u, ~0u, ~0u, ~0u), zeros = make_uint4(0, 0, 0, 0);
        for (int s = threadIdx.x; s < plan.slots * (int)sizeof(integer) / 16; s += blockDim.x)
            ((uint4 *)slot)[s] = ones;
        for (int s = threadIdx.x; s < plan.slots / 4; s += blockDim.x)
            ((uint4 *)times)[s] = zeros;
        if (threadIdx.x == 0)
            of_last = 0;
        __syncthreads();
        const unsigned count = filled[piece];
        for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
            const integer key = keys[piece * plan.capacity + k];
            if (key == none) {
                collisions += atomicAdd(&of_last, 1u);
                continue;
            }
            unsigned at = slot_of(key) & mask;
            for (;; at = (at + 1) & mask) {
                integer there = *(volatile integer *)&slot[at];
                if (there == none)
                    there = atomicCAS(&slot[at], none, key);
                if (there == none || there == key)
                    break;
            }
            collisions += atomicAdd(&times[at], 1u);
        }
        __syncthreads();
    }
    return collisions;
}

/* The same of short keys, with counters of 16 bits: 6 bytes a slot, and a multiprocessor holds two
 * of the large tables. A key is put where it belongs without looking first, and the first at a site
 * is not counted: 0.74 instead of 0.92 ms for the pieces of 10^8 beads on an H200, looking first.
 */
__device__ __forceinline__ unsigned long long count_short_keys(const struct partition_plan &plan,
                                                               const unsigned *filled,
                                                               const uint32_t *keys, uint32_t *slot)
{
    __shared__ unsigned of_last;
    unsigned *const times = slot + plan.slots; /* less one; two to a word */
    const unsigned mask = (unsigned)plan.slots - 1, none = ~0u;
    unsigned long long collisions = 0;
    for (int64_t piece = blockIdx.x; piece < plan.pieces; piece += gridDim.x) {
        const uint4 ones = make_uint4(~0u, ~0u, ~0u, ~0u), zeros = make_uint4(0, 0, 0, 0);
        for (int s = threadIdx.x; s < plan.slots / 4; s += blockDim.x)
            ((uint4 *)slot)[s] = ones;
        for (int s = threadIdx.x; s < plan.slots / 8; s += blockDim.x)
            ((uint4 *)times)[s] = zeros;
        if (threadIdx.x == 0)
            of_last = 0;
        __syncthreads();
        const unsigned count = filled[piece];
        for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
            const uint32_t key = keys[piece * plan.capacity + k];
            if (key == none) {
                collisions += atomicAdd(&of_last, 1u);
                continue;
            }
            unsigned at = slot_of(key) & mask;
            uint32_t there = atomicCAS(&slot[at], none, key);
            while (there != none && there != key) {
                at = (at + 1) & mask;
                there = atomicCAS(&slot[at], none, key);
            }
            if (there == none)
                continue;
            const unsigned shift = at % 2 * 16;
            collisions += (atomicAdd(&times[at / 2], 1u << shift) >> shift & 0xffff) + 1;
        }
        __syncthreads();
    }
    return collisions;
}

enum { piece_block = 1024 };

static __global__ void __launch_bounds__(piece_block)
    count_short_pieces(const struct collisions_problem problem, struct counting *counting,
                       const struct partition_plan plan, const unsigned *filled, const void *keys)
{
    extern __shared__ uint4 short_table[];
    if (counting->gave_up || !block_box_of(counting, problem, plan.piece_bits).is_short)
        return;
    add_of_block(count_short_keys(plan, filled, (const uint32_t *)keys, (uint32_t *)short_table),
                 counting);
}

static __global__ void __launch_bounds__(piece_block)
    count_pieces(const struct collisions_problem problem, struct counting *counting,
                 const struct partition_plan plan, const unsigned *filled, const void *keys)
{
    extern __shared__ uint4 piece_table[];
    if (counting->gave_up)
        return;
    const bool is_short = block_box_of(counting, problem, plan.piece_bits).is_short;
    if (is_short && plan.is_large)
        return;
    add_of_block(is_short ? count_keys<uint32_t>(plan, filled, keys, piece_table)
                          : count_keys<unsigned long long>(plan, filled, keys, piece_table),
                 counting);
}

static inline struct partition_plan plan_partition(int64_t n, int64_t mean, int slots, int tile)
{
    struct partition_plan plan = {1, 0, slots, slots * 3 / 4, tile, slots > 8192};
    while (plan.pieces * mean < n) {
        plan.pieces *= 2;
        plan.piece_bits++;
    }
    return plan;
}

/* keys: pieces × capacity × 8 bytes; filled: pieces numbers. */
static inline void count_by_partition(cudaStream_t stream, int multiprocessors,
                                      const struct collisions_problem &problem,
                                      struct counting *counting, const struct partition_plan &plan,
                                      unsigned *filled, void *keys)
{
    const unsigned blocks = (unsigned)((problem.count + plan.tile - 1) / plan.tile);
    const int shared = (int)(plan.pieces * (int64_t)sizeof(unsigned));
    const int table = plan.slots * (int)(sizeof(uint64_t) + sizeof(unsigned));
    void (*const part)(const struct collisions_problem, struct counting *,
                       const struct partition_plan, unsigned *, void *) =
        problem.dtype == KITH_I32 ? part_keys<int32_t> : part_keys<int64_t>;
    cudaMemsetAsync(filled, 0, (size_t)plan.pieces * sizeof *filled, stream);
    cudaFuncSetAttribute(part, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    part<<<blocks, partition_block, shared, stream>>>(problem, counting, plan, filled, keys);

    if (plan.is_large) {
        const int table_of_short = plan.slots * (int)(sizeof(uint32_t) + sizeof(uint16_t));
        const int64_t two_each = (int64_t)multiprocessors * 2;
        cudaFuncSetAttribute(count_short_pieces, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             table_of_short);
        count_short_pieces<<<(unsigned)(plan.pieces < two_each ? plan.pieces : two_each),
                             piece_block, table_of_short, stream>>>(problem, counting, plan, filled,
                                                                    keys);
    }
    const int64_t at_once = (int64_t)multiprocessors * 8;
    cudaFuncSetAttribute(count_pieces, cudaFuncAttributeMaxDynamicSharedMemorySize, table);
    count_pieces<<<(unsigned)(plan.pieces < at_once ? plan.pieces : at_once), piece_block, table,
                   stream>>>(problem, counting, plan, filled, keys);
}

#endif
