#ifndef COLLISIONS_BLOCKS_CUDA_CUH
#define COLLISIONS_BLOCKS_CUDA_CUH

/* How sites are partitioned: the piece that a site belongs to, and what distinguishes it from the
 * others there.
 *
 * What is partitioned are blocks of 4 × 4 × 4 sites (8 × 8 in 2D): beads that follow each other in
 * a chain mostly go to one piece, next to each other. The blocks of the box have numbers, and the
 * lower bits of a number, mixed with the rest of it, are its piece. So each run of as many blocks
 * as there are pieces has one in each, whatever the box. The rest and the site in the block are the
 * key, which mostly fits 32 bits. */

#include "lattice/table_cuda.cuh"

struct partition_plan {
    int pieces;        /* a power of two */
    int piece_bits;    /* its logarithm */
    int slots;         /* of a table in shared memory: a power of two */
    unsigned capacity; /* keys of a piece: there are always free slots */
    int sampled;       /* the extent is estimated from one of this many beads; 1: it is known */
};

static inline unsigned at_most(int64_t count, int64_t most)
{
    return (unsigned)(count < most ? count : most);
}

/* The blocks of a box, numbered along x, then y, then z. */
struct block_box {
    int64_t low[3];
    uint64_t blocks[3]; /* along x, y and z */
    uint64_t rests;     /* of numbers: all are below */
    bool is_possible;   /* there is room for it all in 64 bits */
    bool is_short;      /* in 32 */
};

/* Says that the pieces are not made for these beads. While the extent is guessed, all is done again
 * with the one that is measured: what counts instead relies on that. */
__device__ __forceinline__ void give_up(struct counting *counting,
                                        const struct partition_plan &plan, bool is_again)
{
    if (plan.sampled > 1 && !is_again)
        counting->missed = 1;
    else
        counting->gave_up = 1;
}

enum { site_bits = 6 };

/* Bits of a coordinate in a block. */
__host__ __device__ constexpr int bits_each(int dimensions)
{
    return site_bits / dimensions;
}

/* Not of a crowded box: blocks of sites that hold very many beads would make pieces of very
 * different sizes. Such a box is small, and counted in an array. No key has all its bits set. */
__device__ __forceinline__ struct block_box block_box_of(const struct counting *counting,
                                                         const struct collisions_problem &problem,
                                                         const struct partition_plan &plan)
{
    struct block_box box;
    const int64_t lowest = problem.dtype == KITH_I32 ? INT32_MIN : INT64_MIN;
    const int64_t highest = problem.dtype == KITH_I32 ? INT32_MAX : INT64_MAX;
    uint64_t largest = 0;
    const bool is_guess = plan.sampled > 1 && !counting->missed;
    for (int c = 0; c < 3; c++) {
        const uint64_t low = (uint64_t)counting->low[c], high = (uint64_t)counting->high[c];
        const uint64_t margin = is_guess && c < problem.dimensions ? (high - low) / 128 + 8 : 0;
        const uint64_t below = min(margin, low - (uint64_t)lowest);
        const uint64_t range = high - low + below + min(margin, (uint64_t)highest - high);
        box.low[c] = (int64_t)(low - below);
        box.blocks[c] = (range >> bits_each(problem.dimensions)) + 1;
        largest = max(largest, range);
    }
    const uint64_t rows = box.blocks[1] * box.blocks[2], all = box.blocks[0] * rows;
    const bool fits =
        __umul64hi(box.blocks[1], box.blocks[2]) == 0 && __umul64hi(box.blocks[0], rows) == 0;
    const uint64_t sites = sites_of(counting);
    const bool is_crowded = sites > 0 && sites <= (uint64_t)problem.count / 4;
    box.rests = ((all - 1) >> plan.piece_bits) + 1;
    box.is_possible = fits && all < 1ull << (64 - site_bits) && !is_crowded;
    box.is_short = box.is_possible && box.rests < 1u << (32 - site_bits) && rows <= UINT32_MAX &&
                   largest <= UINT32_MAX;
    return box;
}

/* Each thread of the block gets the box that one of them finds. */
__device__ __forceinline__ struct block_box
block_box_for_all(const struct counting *counting, const struct collisions_problem &problem,
                  const struct partition_plan &plan)
{
    __shared__ struct block_box box;
    if (threadIdx.x == 0)
        box = block_box_of(counting, problem, plan);
    __syncthreads();
    return box;
}

template <typename coordinate> struct unsigned_of;
template <> struct unsigned_of<int32_t> {
    typedef uint32_t type;
};
template <> struct unsigned_of<int64_t> {
    typedef uint64_t type;
};

template <typename key> struct piece_key {
    unsigned piece;
    key rest;
    bool is_inside; /* of the box */
};

/* Of a site, which has the coordinates x[0], x[stride] … key: uint32_t of a short box, where all is
 * done in 32 bits but for the block's number, or unsigned long long. */
template <typename key, int dimensions, typename coordinate>
__device__ __forceinline__ piece_key<key> piece_key_of(const struct block_box &box,
                                                       const coordinate *site, int64_t stride,
                                                       const struct partition_plan &plan)
{
    typedef typename unsigned_of<coordinate>::type number;
    constexpr int each = bits_each(dimensions);
    key block[3] = {}, in_block = 0;
    struct piece_key<key> result;
    result.is_inside = true;
#pragma unroll
    for (int c = 0; c < dimensions; c++) {
        const number x = (number)site[c * stride] - (number)box.low[c];
        result.is_inside &= x >> each < (number)box.blocks[c];
        block[c] = (key)(x >> each);
        in_block = (in_block << each) + ((key)x & (((key)1 << each) - 1));
    }
    const key row = block[1] + (key)box.blocks[1] * block[2];
    const uint64_t place = block[0] + (uint64_t)(key)box.blocks[0] * row;
    const key rest = (key)(place >> plan.piece_bits);
    uint32_t mixed = (uint32_t)(rest ^ (uint64_t)rest >> 32) * 0x9e3779b1;
    mixed = (mixed ^ mixed >> 16) * 0x85ebca6b;
    mixed ^= mixed >> 16;
    result.piece = ((uint32_t)place ^ mixed) & (uint32_t)(plan.pieces - 1);
    result.rest = (rest << site_bits) + in_block;
    return result;
}

#endif
