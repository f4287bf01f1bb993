/* Hashed cell lists on a GPU. This file is compiled without fused operations: its numbers are those
 * of the CPU. */

#include "cells/cells_cuda.h"

#include "cells/choose.h"
#include "core/memory.h"
#include "device/cuda.h"
#include "sort/cub_cuda.h"
#include "sort/search.h"

enum { threads = 256 };

static __device__ inline void empty_bounds(struct cells_bounds *bounds)
{
    for (int k = 0; k < 3; k++) {
        bounds->low[k] = INFINITY;
        bounds->high[k] = -INFINITY;
    }
    bounds->largest = 0;
}

static __device__ inline void join(struct cells_bounds *to, const struct cells_bounds &from)
{
    for (int k = 0; k < 3; k++) {
        to->low[k] = fmin(to->low[k], from.low[k]);
        to->high[k] = fmax(to->high[k], from.high[k]);
    }
    to->largest = fmax(to->largest, from.largest);
}

/* Of the block, in thread 0. */
static __device__ struct cells_bounds bounds_of_block(struct cells_bounds found)
{
    __shared__ struct cells_bounds of_warp[threads / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        struct cells_bounds other;
        for (int k = 0; k < 3; k++) {
            other.low[k] = __shfl_xor_sync(0xffffffffu, found.low[k], offset);
            other.high[k] = __shfl_xor_sync(0xffffffffu, found.high[k], offset);
        }
        other.largest = __shfl_xor_sync(0xffffffffu, found.largest, offset);
        join(&found, other);
    }
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = found;
    __syncthreads();
    for (int warp = 1; warp < threads / 32 && threadIdx.x == 0; warp++)
        join(&found, of_warp[warp]);
    return found;
}

struct positions {
    const void *data;
    int64_t row_stride, column_stride, count;
    int32_t dimensions;
};

template <typename real>
static __device__ inline bool wrapped(const struct positions &positions,
                                      const struct pairs_lattice &lattice, int64_t row, double x[3])
{
    const real *from = (const real *)positions.data + row * positions.row_stride;
    int32_t wraps[3];
    for (int c = 0; c < 3; c++)
        x[c] = c < positions.dimensions ? (double)from[c * positions.column_stride] : 0;
    return isfinite(x[0] + x[1] + x[2]) && pairs_wrap(&lattice, x, wraps);
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    wrap(const struct positions positions, const struct pairs_lattice lattice,
         const struct cells_points points, struct cells_bounds *bounds, unsigned long long *bad_row)
{
    struct cells_bounds found;
    empty_bounds(&found);
    for (int64_t row = (int64_t)blockIdx.x * threads + threadIdx.x; row < positions.count;
         row += (int64_t)gridDim.x * threads) {
        double x[3];
        const bool good = wrapped<real>(positions, lattice, row, x);
        for (int c = 0; c < 3; c++) {
            x[c] = good ? (double)(real)x[c] : NAN;
            ((real *)points.position[c])[row] = (real)x[c];
        }
        if (!good)
            atomicMax(bad_row, ~(unsigned long long)row);
        for (int k = 0; k < 3 && good; k++) {
            found.largest = fmax(found.largest, fabs(x[k]));
            if (lattice.periodic[k])
                continue;
            const double fraction = pairs_fraction(&lattice, x, k);
            found.low[k] = fmin(found.low[k], fraction);
            found.high[k] = fmax(found.high[k], fraction);
        }
    }
    found = bounds_of_block(found);
    if (threadIdx.x == 0)
        bounds[blockIdx.x] = found;
}

kith_status cells_wrap_cuda(kith_context *context, kith_array positions,
                            const struct pairs_lattice *lattice, const struct cells_points *points,
                            struct cells_bounds *bounds, unsigned long long *bad_row)
{
    const struct positions from = {positions.data, positions.strides[0], positions.strides[1],
                                   points->count, (int32_t)positions.shape[1]};
    const cudaStream_t stream = cuda_stream(context);
    if (points->dtype == KITH_F32)
        wrap<float>
            <<<cells_bounds_parts, threads, 0, stream>>>(from, *lattice, *points, bounds, bad_row);
    else
        wrap<double>
            <<<cells_bounds_parts, threads, 0, stream>>>(from, *lattice, *points, bounds, bad_row);
    return cuda_check_launch("wrapping points into the cell");
}

struct choice {
    struct pairs_lattice lattice;
    int32_t dimensions, parts;
    double edge; /* pairs_safe_distance of points at the origin */
    int64_t most_buckets;
    int32_t last_divisions;
};

static __global__ void __launch_bounds__(threads)
    choose(const struct choice choice, const struct cells_bounds *bounds, struct cells_grid *grid)
{
    struct cells_bounds found;
    empty_bounds(&found);
    for (int part = (int)threadIdx.x; part < choice.parts; part += threads)
        join(&found, bounds[part]);
    found = bounds_of_block(found);
    if (threadIdx.x == 0)
        cells_choose(&choice.lattice, choice.dimensions,
                     choice.edge + 16 * DBL_EPSILON * found.largest, 1, choice.last_divisions,
                     &found, choice.most_buckets, grid);
}

kith_status cells_grid_choose_cuda(kith_context *context, const struct pairs_lattice *lattice,
                                   kith_dtype dtype, int32_t dimensions, double cutoff,
                                   int32_t last_divisions, const struct cells_bounds *bounds,
                                   int32_t sides, int64_t count, struct cells_grid *grid)
{
    const struct choice choice = {*lattice,
                                  dimensions,
                                  sides * cells_bounds_parts,
                                  pairs_safe_distance(lattice, dtype, cutoff, 0),
                                  cells_most_buckets(count),
                                  last_divisions};
    choose<<<1, threads, 0, cuda_stream(context)>>>(choice, bounds, grid);
    return cuda_check_launch("choosing cells");
}

/* The bucket of each row, and the row. */
static __global__ void __launch_bounds__(threads)
    number(const struct cells_grid *chosen, const struct pairs_lattice lattice,
           const struct cells_points points, uint32_t *keys, uint32_t *order)
{
    const struct cells_grid grid = *chosen;
    const int64_t row = (int64_t)blockIdx.x * threads + threadIdx.x;
    int64_t cell[3], bucket = 0;
    if (row >= points.count)
        return;
    cells_of_point(&grid, &lattice, &points, row, cell);
    for (int k = 0; k < 3; k++)
        bucket += cells_bucket(&grid, cell[k], k);
    keys[row] = (uint32_t)bucket;
    order[row] = (uint32_t)row;
}

static __global__ void __launch_bounds__(threads)
    find_begins(const struct cells_grid *grid, int64_t count, const uint32_t *keys, int32_t *begin)
{
    const int64_t buckets = grid->bucket_count;
    for (int64_t bucket = (int64_t)blockIdx.x * threads + threadIdx.x; bucket <= buckets;
         bucket += (int64_t)gridDim.x * threads)
        begin[bucket] = (int32_t)search_u32(keys, 0, count, bucket);
}

static int32_t bits_of(int64_t count)
{
    int32_t bits = 1;
    while (count >> bits)
        bits++;
    return bits;
}

/* Room for keys or for an order. */
static int64_t column_bytes(int64_t count)
{
    return kith_padded(count) * (int64_t)sizeof(uint32_t);
}

int64_t cells_sort_scratch_bytes_cuda(int64_t count)
{
    return 4 * column_bytes(count);
}

static kith_status sort_pairs(kith_context *context, int64_t count, int32_t bits,
                              uint32_t *(&keys)[2], uint32_t *(&order)[2])
{
    const cudaStream_t stream = cuda_stream(context);
    size_t bytes = 0;
    void *working = NULL;
    KITH_TRY(cuda_check(
        sort_pairs_by_turns_cuda(NULL, bytes, keys, order, (uint32_t)count, bits, stream),
        "sorting points by cells"));
    KITH_TRY(cuda_scratch(context, (int64_t)bytes, &working));
    return cuda_check(
        sort_pairs_by_turns_cuda(working, bytes, keys, order, (uint32_t)count, bits, stream),
        "sorting points by cells");
}

kith_status cells_sort_cuda(kith_context *context, const struct cells_grid *grid,
                            const struct pairs_lattice *lattice, const struct cells_points *points,
                            int64_t most_buckets, void *scratch, uint32_t **order, int32_t *begin)
{
    const cudaStream_t stream = cuda_stream(context);
    const int64_t count = points->count, blocks = (count + threads - 1) / threads;
    char *room = (char *)scratch;
    uint32_t *keys[2] = {(uint32_t *)room, (uint32_t *)(room + column_bytes(count))};
    uint32_t *rows[2] = {(uint32_t *)(room + 2 * column_bytes(count)),
                         (uint32_t *)(room + 3 * column_bytes(count))};
    if (blocks > 0) {
        number<<<(unsigned)blocks, threads, 0, stream>>>(grid, *lattice, *points, keys[0], rows[0]);
        KITH_TRY(cuda_check_launch("numbering cells"));
        KITH_TRY(sort_pairs(context, count, bits_of(most_buckets), keys, rows));
    }
    *order = rows[0];
    if (!begin)
        return KITH_OK;
    find_begins<<<(unsigned)cuda_multiprocessors(context) * 8, threads, 0, stream>>>(
        grid, count, keys[0], begin);
    return cuda_check_launch("finding the points of cells");
}
