/* Morton keys on a GPU. This file is compiled without fused operations, as they would change keys.
 */

#include "device/cuda_state.h"
#include "device/overlap.cuh"
#include "sort/sort.h"

enum { threads = 256, most_blocks = 512 };

struct extremes {
    double low[3], high[3];
};

template <typename real>
static __device__ inline double coordinate(const struct sort_points &points, int c, int64_t i)
{
    return c < points.dimensions ? (double)((const real *)points.position[c])[i] : 0.0;
}

static __device__ inline void widen(struct extremes *to, const struct extremes &by)
{
    for (int c = 0; c < 3; c++) {
        to->low[c] = fmin(to->low[c], by.low[c]);
        to->high[c] = fmax(to->high[c], by.high[c]);
    }
}

/* Of the block, in thread 0. */
static __device__ struct extremes extremes_of_block(struct extremes found)
{
    __shared__ struct extremes of_warp[threads / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        struct extremes other;
        for (int c = 0; c < 3; c++) {
            other.low[c] = __shfl_xor_sync(0xffffffffu, found.low[c], offset);
            other.high[c] = __shfl_xor_sync(0xffffffffu, found.high[c], offset);
        }
        widen(&found, other);
    }
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = found;
    __syncthreads();
    for (int warp = 1; warp < threads / 32 && threadIdx.x == 0; warp++)
        widen(&found, of_warp[warp]);
    return found;
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    find_extremes(const struct sort_points points, struct extremes *of_blocks)
{
    struct extremes found;
    wait_for_kernel_before();
    for (int c = 0; c < 3; c++)
        found.low[c] = found.high[c] = coordinate<real>(points, c, 0);
    for (int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x; i < points.count;
         i += (int64_t)gridDim.x * threads)
        for (int c = 0; c < 3; c++) {
            const double x = coordinate<real>(points, c, i);
            found.low[c] = fmin(found.low[c], x);
            found.high[c] = fmax(found.high[c], x);
        }
    found = extremes_of_block(found);
    if (threadIdx.x == 0)
        of_blocks[blockIdx.x] = found;
}

/* Of all blocks, in thread 0 of this one. */
static __device__ struct extremes extremes_of_blocks(int blocks, const struct extremes *of_blocks)
{
    struct extremes found = of_blocks[0];
    for (int k = (int)threadIdx.x; k < blocks; k += threads)
        widen(&found, of_blocks[k]);
    return extremes_of_block(found);
}

static __global__ void __launch_bounds__(threads)
    make_grid(int32_t dimensions, int blocks, const struct extremes *of_blocks,
              struct morton_grid *grid)
{
    wait_for_kernel_before();
    const struct extremes found = extremes_of_blocks(blocks, of_blocks);
    if (threadIdx.x == 0)
        *grid = morton_grid_around(dimensions, found.low, found.high);
}

static __global__ void __launch_bounds__(threads)
    join_extremes(int blocks, const struct extremes *of_blocks, struct extremes *of_all)
{
    wait_for_kernel_before();
    const struct extremes found = extremes_of_blocks(blocks, of_blocks);
    if (threadIdx.x == 0)
        *of_all = found;
}

template <typename real>
static __device__ inline void make_all_keys(const struct sort_points &points,
                                            const struct morton_grid &grid, uint64_t *keys)
{
    for (int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x; i < points.count;
         i += (int64_t)gridDim.x * threads) {
        const double x = coordinate<real>(points, 0, i), y = coordinate<real>(points, 1, i);
        keys[i] = points.dimensions == 3
                      ? morton_key_3d(&grid, x, y, coordinate<real>(points, 2, i))
                      : morton_key_2d(&grid, x, y);
    }
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    make_keys(const struct sort_points points, const struct morton_grid *made, uint64_t *keys)
{
    wait_for_kernel_before();
    make_all_keys<real>(points, *made, keys);
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    make_keys_in(const struct sort_points points, const struct morton_grid grid, uint64_t *keys)
{
    wait_for_kernel_before();
    make_all_keys<real>(points, grid, keys);
}

static const char what[] = "making the keys of points";

static int64_t blocks_for(const struct sort_points *points)
{
    return (points->count + threads - 1) / threads;
}

/* Extremes of each of *blocks blocks, and room for one more. */
template <typename real>
static kith_status find(kith_context *context, const struct sort_points *points, int *blocks,
                        struct extremes **of_blocks)
{
    const int64_t needed = blocks_for(points);
    *blocks = needed < most_blocks ? (int)needed : (int)most_blocks;
    KITH_TRY(
        cuda_scratch(context, (*blocks + 1) * (int64_t)sizeof **of_blocks, (void **)of_blocks));
    return launch_overlapped(context, what, dim3((unsigned)*blocks), threads, find_extremes<real>,
                             *points, *of_blocks);
}

template <typename real>
static kith_status find_range(kith_context *context, const struct sort_points *points,
                              struct extremes *found)
{
    int blocks = 0;
    struct extremes *of_blocks = NULL;
    KITH_TRY(find<real>(context, points, &blocks, &of_blocks));
    KITH_TRY(launch_overlapped(context, what, dim3(1), threads, join_extremes, blocks,
                               (const struct extremes *)of_blocks, of_blocks + blocks));
    const struct cuda_reading reading = {found, of_blocks + blocks, sizeof *found};
    return cuda_read(context, &reading, 1);
}

kith_status sort_find_range_cuda(kith_context *context, const struct sort_points *points,
                                 double low[3], double high[3])
{
    struct extremes found = {};
    KITH_TRY(points->dtype == KITH_F64 ? find_range<double>(context, points, &found)
                                       : find_range<float>(context, points, &found));
    for (int c = 0; c < 3; c++) {
        low[c] = found.low[c];
        high[c] = found.high[c];
    }
    return KITH_OK;
}

static dim3 blocks_of_keys(kith_context *context, const struct sort_points *points)
{
    const int64_t needed = blocks_for(points), most = (int64_t)cuda_multiprocessors(context) * 16;
    return dim3((unsigned)(needed < most ? needed : most));
}

template <typename real>
static kith_status make(kith_context *context, const struct sort_points *points, uint64_t *keys,
                        struct morton_grid *grid)
{
    int blocks = 0;
    struct extremes *of_blocks = NULL;
    KITH_TRY(find<real>(context, points, &blocks, &of_blocks));
    KITH_TRY(launch_overlapped(context, what, dim3(1), threads, make_grid, points->dimensions,
                               blocks, (const struct extremes *)of_blocks, grid));
    return launch_overlapped(context, what, blocks_of_keys(context, points), threads,
                             make_keys<real>, *points, (const struct morton_grid *)grid, keys);
}

kith_status sort_keys_in_grid_cuda(kith_context *context, const struct sort_points *points,
                                   const struct morton_grid *grid, uint64_t *keys)
{
    if (points->count == 0)
        return KITH_OK;
    return points->dtype == KITH_F64
               ? launch_overlapped(context, what, blocks_of_keys(context, points), threads,
                                   make_keys_in<double>, *points, *grid, keys)
               : launch_overlapped(context, what, blocks_of_keys(context, points), threads,
                                   make_keys_in<float>, *points, *grid, keys);
}

kith_status sort_morton_keys_cuda(kith_context *context, const struct sort_points *points,
                                  uint64_t *keys, struct morton_grid *grid)
{
    if (points->count == 0)
        return KITH_OK;
    return points->dtype == KITH_F64 ? make<double>(context, points, keys, grid)
                                     : make<float>(context, points, keys, grid);
}
