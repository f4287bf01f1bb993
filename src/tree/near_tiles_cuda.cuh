#ifndef TREE_NEAR_TILES_CUDA_CUH
#define TREE_NEAR_TILES_CUDA_CUH

/* How a warp takes the targets of a leaf and the near sources of a part, and the sum over a block.
 * What is compiled at run time reads this. */

#include "tree/lists_cuda.h"
#include "tree/octree_cell.h"

/* Threads and warps of a block; blocks that share a leaf's targets. */
enum { near_threads = 128, near_warps = near_threads / 32, near_chunks = 4 };

/* The targets of a warp: those of the leaf from `begin` on. */
struct seats {
    int64_t target; /* the lane's, in the order of the tree; of lanes without one, another's */
    int32_t ways, way;
    bool writes;
};

static __device__ inline struct seats take_seats(const struct octree_cell &cell, int32_t begin,
                                                 int lane)
{
    const int32_t left = cell.count - begin < 32 ? cell.count - begin : 32;
    int32_t width = 1;
    while (width < left)
        width *= 2;
    const int32_t seat = lane % width;
    struct seats seats;
    seats.target = (int64_t)cell.first + begin + (seat < left ? seat : left - 1);
    seats.ways = 32 / width;
    seats.way = lane / width;
    seats.writes = seats.way == 0 && seat < left;
    return seats;
}

/* Over the lanes of a target: ∇φ and φ, the same in all of them. */
template <typename real>
static __device__ inline void sum_ways(const struct seats &seats, real total[4])
{
    for (int32_t offset = 32 / seats.ways; offset < 32; offset *= 2)
        for (int k = 0; k < 4; k++)
            total[k] += __shfl_xor_sync(0xffffffffu, total[k], offset);
}

template <typename four, typename real>
static __device__ inline void put_result(const struct seats &seats, real total[4], four *results)
{
    sum_ways(seats, total);
    if (seats.writes)
        results[seats.target] = {total[0], total[1], total[2], total[3]};
}

template <typename four, typename real>
static __device__ inline void add_result(const struct seats &seats, real total[4], four *results)
{
    sum_ways(seats, total);
    if (!seats.writes)
        return;
    four result = results[seats.target];
    result.x += total[0];
    result.y += total[1];
    result.z += total[2];
    result.w += total[3];
    results[seats.target] = result;
}

/* The sources of a part, at most 32 at a time: a source a lane. Lanes know 32 of its cells. */
struct tiles {
    const int32_t *near; /* of the part */
    int32_t cells, cell; /* how many, and which one is next */
    int32_t first_of_lane, count_of_lane;
    int32_t first, count; /* points of this cell that are left */
};

static __device__ inline void begin_tiles(struct tiles *tiles, const int32_t *near, int32_t cells)
{
    tiles->near = near;
    tiles->cells = cells;
    tiles->cell = tiles->first = tiles->count = 0;
    tiles->first_of_lane = tiles->count_of_lane = 0;
}

/* The next tile: *first is its first point; how many is returned, 0 at the end. */
static __device__ inline int32_t next_tile(struct tiles *tiles, const struct octree_cell *sources,
                                           int lane, int32_t *first)
{
    while (tiles->count == 0) {
        if (tiles->cell == tiles->cells)
            return 0;
        if (tiles->cell % 32 == 0 && tiles->cell + lane < tiles->cells) {
            const struct octree_cell *source = &sources[tiles->near[tiles->cell + lane]];
            tiles->first_of_lane = source->first;
            tiles->count_of_lane = source->count;
        }
        tiles->first = __shfl_sync(0xffffffffu, tiles->first_of_lane, tiles->cell % 32);
        tiles->count = __shfl_sync(0xffffffffu, tiles->count_of_lane, tiles->cell % 32);
        tiles->cell++;
    }
    const int32_t count = tiles->count < 32 ? tiles->count : 32;
    *first = tiles->first;
    tiles->first += count;
    tiles->count -= count;
    return count;
}

/* Over a block of near_threads, in all of its threads. */
static __device__ inline double sum_of_block(double x)
{
    __shared__ double of_warp[near_warps];
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, offset);
    __syncthreads(); /* the last sum is read */
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    x = of_warp[0];
    for (int warp = 1; warp < near_warps; warp++)
        x += of_warp[warp];
    return x;
}

#endif
