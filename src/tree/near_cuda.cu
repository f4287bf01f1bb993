/* What near points do to the points of leaves. */

#include "device/reals_cuda.cuh"
#include "tree/launch_cuda.cuh"
#include "tree/near_cuda.cuh"
#include "tree/near_law_cuda.h"
#include "tree/solve_cuda.h"

enum { threads = 128, warps = threads / 32, chunks = 4 };

template <typename real> struct near_task {
    struct tree_parts parts;
    const struct octree_cell *targets, *sources;
    const real4_of<real> *target, *source;
    const struct tree_lists *lists;
    const int32_t *near;
    bool self;
    real softening2;
    real4_of<real> *results;
};

/* The sources of a part, at most 32 at a time: a source a lane. Lanes know 32 of its cells, of
 * which those whose points follow each other are one run. */
struct tiles {
    const int32_t *near;        /* of the part */
    int32_t cells, next, known; /* how many, the first that no lane knows yet, cells of the lanes */
    int32_t first_of_lane, end_of_lane;
    unsigned runs;        /* lanes with which those begin that are left */
    int32_t first, count; /* points of this run that are left */
};

static __device__ inline void begin_tiles(struct tiles *tiles, const int32_t *near, int32_t cells)
{
    tiles->near = near;
    tiles->cells = cells;
    tiles->next = tiles->known = tiles->first = tiles->count = 0;
    tiles->first_of_lane = tiles->end_of_lane = 0;
    tiles->runs = 0;
}

static __device__ inline void load_runs(struct tiles *tiles, const struct octree_cell *sources,
                                        int lane)
{
    const int32_t left = tiles->cells - tiles->next;
    const bool is = lane < left;
    if (is) {
        const struct octree_cell *source = &sources[tiles->near[tiles->next + lane]];
        tiles->first_of_lane = source->first;
        tiles->end_of_lane = source->first + source->count;
    }
    const int32_t end_before = __shfl_up_sync(0xffffffffu, tiles->end_of_lane, 1);
    const bool follows = lane > 0 && end_before == tiles->first_of_lane;
    tiles->runs = __ballot_sync(0xffffffffu, is && !follows);
    tiles->known = left < 32 ? left : 32;
    tiles->next += tiles->known;
}

/* The next tile: *first is its first point; how many is returned, 0 at the end. */
static __device__ inline int32_t next_tile(struct tiles *tiles, const struct octree_cell *sources,
                                           int lane, int32_t *first)
{
    while (tiles->count == 0) {
        if (tiles->runs == 0) {
            if (tiles->next == tiles->cells)
                return 0;
            load_runs(tiles, sources, lane);
        }
        const int begin = __ffs((int)tiles->runs) - 1;
        tiles->runs &= tiles->runs - 1;
        const int last = (tiles->runs ? __ffs((int)tiles->runs) - 1 : tiles->known) - 1;
        tiles->first = __shfl_sync(0xffffffffu, tiles->first_of_lane, begin);
        tiles->count = __shfl_sync(0xffffffffu, tiles->end_of_lane, last) - tiles->first;
    }
    const int32_t count = tiles->count < 32 ? tiles->count : 32;
    *first = tiles->first;
    tiles->first += count;
    tiles->count -= count;
    return count;
}

/* The targets of a warp, up to 32 of a leaf: `width` lanes have one or more each, and the other
 * lanes the same for other sources. */
struct seats {
    int64_t first;
    int32_t targets, width, ways, seat, way;
};

/* Lanes among which the targets are distributed at most: a thread has up to four, or two of double
 * precision, as it has few registers. */
template <typename real> static constexpr int most_width = sizeof(real) == 4 ? 8 : 16;

template <typename real>
static __device__ inline struct seats take_seats(const struct octree_cell &cell, int32_t begin,
                                                 int lane)
{
    const int32_t left = cell.count - begin;
    struct seats seats;
    seats.first = (int64_t)cell.first + begin;
    seats.targets = left < 32 ? left : 32;
    seats.width = 1;
    while (seats.width < most_width<real> && seats.width < seats.targets)
        seats.width *= 2;
    seats.ways = 32 / seats.width;
    seats.seat = lane % seats.width;
    seats.way = lane / seats.width;
    return seats;
}

/* The target k of a lane; of lanes with fewer, another's. */
static __device__ inline int64_t target_of(const struct seats &seats, int k)
{
    const int32_t target = seats.seat + k * seats.width;
    return seats.first + (target < seats.targets ? target : seats.targets - 1);
}

/* What all sources of a part do to the targets of a warp, of which each lane has `each`; those of
 * the next tile are in flight while this one's are summed. Every tile has sums of its own, so that
 * long ones lose no digits. */
template <enum expansion_law law, int each, typename real>
static __device__ void sum_near(const struct near_task<real> &task, struct tiles tiles,
                                const struct seats &seats, int lane, real4_of<real> *tile,
                                real total[each][4])
{
    real4_of<real> p[each];
    for (int k = 0; k < each; k++)
        p[k] = task.target[target_of(seats, k)];
    int32_t first = 0, next = 0;
    int32_t count = next_tile(&tiles, task.sources, lane, &first);
    real4_of<real> held = {0, 0, 0, 0};
    if (lane < count)
        held = task.source[first + lane];
    while (count > 0) {
        __syncwarp(); /* the tile before is read */
        tile[lane] = held;
        __syncwarp();
        const int32_t next_count = next_tile(&tiles, task.sources, lane, &next);
        if (lane < next_count)
            held = task.source[next + lane];
        int32_t itself[each];
        real sum[each][4];
        for (int k = 0; k < each; k++) {
            itself[k] = task.self ? (int32_t)(target_of(seats, k) - first) : -1;
            for (int c = 0; c < 4; c++)
                sum[k][c] = 0;
        }
#pragma unroll 4
        for (int32_t j = seats.way; j < count; j += seats.ways) {
            const real4_of<real> q = tile[j];
#pragma unroll
            for (int k = 0; k < each; k++)
                add_pair<law>(p[k], q, j == itself[k] ? (real)0 : q.w, task.softening2, sum[k]);
        }
        for (int k = 0; k < each; k++)
            for (int c = 0; c < 4; c++)
                total[k][c] += sum[k][c];
        first = next;
        count = next_count;
    }
}

/* Over the lanes of a target, which the first of them adds to the results, or puts into the slots
 * of a part. */
template <typename real>
static __device__ inline void deliver(const struct near_task<real> &task,
                                      const struct tree_part &part, const struct octree_cell &cell,
                                      const struct seats &seats, int k, real total[4])
{
    for (int32_t offset = seats.width; offset < 32; offset *= 2)
        for (int c = 0; c < 4; c++)
            total[c] += __shfl_xor_sync(0xffffffffu, total[c], offset);
    if (seats.way > 0 || seats.seat + k * seats.width >= seats.targets)
        return;
    const int64_t target = target_of(seats, k);
    real4_of<real> before = {0, 0, 0, 0}, *to = task.results + target;
    if (part.slot >= 0)
        to = (real4_of<real> *)task.parts.sums + part.slot + (target - cell.first);
    else
        before = *to;
    *to = {before.x + total[0], before.y + total[1], before.z + total[2], before.w + total[3]};
}

template <enum expansion_law law, int each, typename real>
static __device__ inline void
meet_targets(const struct near_task<real> &task, const struct tree_part &part,
             const struct octree_cell &cell, const struct seats &seats, int lane,
             real4_of<real> *tile)
{
    struct tiles tiles;
    real total[each][4] = {};
    begin_tiles(&tiles, task.near + task.lists[part.cell].near + part.first, part.count);
    sum_near<law, each>(task, tiles, seats, lane, tile, total);
#pragma unroll
    for (int k = 0; k < each; k++)
        deliver(task, part, cell, seats, k, total[k]);
}

template <enum expansion_law law, typename real>
static __global__ void __launch_bounds__(threads) meet_near(const struct near_task<real> task)
{
    __shared__ real4_of<real> of_warps[warps][32];
    const int64_t index = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    real4_of<real> *tile = of_warps[threadIdx.x / 32];
    if (index >= (int64_t)*task.parts.count)
        return;
    const struct tree_part part = task.parts.part[index];
    const struct octree_cell cell = task.targets[part.cell];
    for (int32_t begin = 32 * (int32_t)blockIdx.y; begin < cell.count; begin += 32 * chunks) {
        const struct seats seats = take_seats<real>(cell, begin, lane);
        const int32_t each = (seats.targets + seats.width - 1) / seats.width;
        if (each == 1)
            meet_targets<law, 1>(task, part, cell, seats, lane, tile);
        else if (each == 2)
            meet_targets<law, 2>(task, part, cell, seats, lane, tile);
        else if constexpr (most_width<real> == 8) {
            if (each == 3)
                meet_targets<law, 3>(task, part, cell, seats, lane, tile);
            else
                meet_targets<law, 4>(task, part, cell, seats, lane, tile);
        }
    }
}

/* A warp a leaf with several parts, a target a lane. */
template <typename real>
static __global__ void __launch_bounds__(threads) add_near(const struct near_task<real> task)
{
    const int32_t k = (int32_t)(blockIdx.x * warps + threadIdx.x / 32);
    if (k >= task.parts.end - task.parts.first)
        return;
    const struct tree_part_sums of = task.parts.of_cell[k];
    if (of.parts == 0)
        return;
    const struct octree_cell cell = task.targets[task.parts.first + k];
    for (int32_t i = threadIdx.x % 32; i < cell.count; i += 32) {
        const real4_of<real> *sums = (const real4_of<real> *)task.parts.sums + of.first + i;
        real4_of<real> sum = {0, 0, 0, 0};
#pragma unroll 8
        for (int32_t part = 0; part < of.parts; part++) {
            const real4_of<real> by = sums[(int64_t)part * cell.count];
            sum.x += by.x;
            sum.y += by.y;
            sum.z += by.z;
            sum.w += by.w;
        }
        real4_of<real> *result = &task.results[(int64_t)cell.first + i];
        result->x += sum.x;
        result->y += sum.y;
        result->z += sum.z;
        result->w += sum.w;
    }
}

/* By any other law, on the context's stream. */
static kith_status meet_near_by_law(kith_context *context, const struct tree_points_cuda *points,
                                    const struct tree_parts &parts, const struct tree_batch &batch)
{
    const struct tree_expansions_cuda *expansions = points->expansions;
    struct tree_near_law_cuda task = {};
    task.softening2 = expansions->expansion.softening2;
    task.self = points->self;
    task.part_count = parts.count;
    task.part = parts.part;
    task.lists = batch.lists;
    task.near = batch.near;
    task.targets = points->targets->cell;
    task.sources = points->sources->cell;
    task.target = points->targets->point;
    task.source = points->sources->point;
    task.results = points->results;
    task.sums = parts.sums;
    return tree_meet_near_law_cuda(context, expansions->pair_law, expansions->dtype, &task,
                                   parts.most);
}

template <typename real>
static kith_status near(kith_context *context, const struct tree_points_cuda *points,
                        const struct tree_parts &parts, const struct tree_batch &batch)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct expansion *expansion = &points->expansions->expansion;
    const struct near_task<real> task = {
        parts, points->targets->cell, points->sources->cell,
            (const real4_of<real> *)points->targets->point,
            (const real4_of<real> *)points->sources->point, batch.lists, batch.near, points->self,
            (real)expansion->softening2, (real4_of<real> *)points->results
    };
    const dim3 grid(blocks_for(parts.most, warps), chunks);
    if (expansion->law == expansion_series)
        KITH_TRY(meet_near_by_law(context, points, parts, batch));
    else if (expansion->law == expansion_inverse)
        meet_near<expansion_inverse><<<grid, threads, 0, stream>>>(task);
    else
        meet_near<expansion_logarithm><<<grid, threads, 0, stream>>>(task);
    if (parts.slots > 0)
        add_near<<<blocks_for(parts.end - parts.first, warps), threads, 0, stream>>>(task);
    return cuda_check_launch("meeting near points of a tree");
}

kith_status tree_near_cuda(kith_context *context, const struct tree_points_cuda *points,
                           const struct tree_batch *batch, struct tree_parts_memory *memory)
{
    const kith_dtype dtype = points->targets->dtype;
    struct tree_parts parts = batch->parts[tree_list_near];
    if (batch->near_count == 0)
        return KITH_OK;
    KITH_TRY(tree_reserve_sums_cuda(context, 4 * kith_dtype_bytes(dtype), memory, &parts));
    return dtype == KITH_F64 ? near<double>(context, points, parts, *batch)
                             : near<float>(context, points, parts, *batch);
}
