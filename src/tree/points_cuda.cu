/* What the points of leaves get: from local expansions, from far multipoles and from near points.
 * A warp has up to 32 targets of a leaf; if they are fewer, several lanes share one and the
 * sources. */

#include "device/reals_cuda.cuh"
#include "tree/fixed_cuda.cuh"
#include "tree/launch_cuda.cuh"
#include "tree/near_cuda.cuh"
#include "tree/solve_cuda.h"

/* near_of_part: source cells that a warp takes for its targets. */
enum { threads = 128, warps = threads / 32, chunks = 4, near_of_part = 64 };

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

template <typename real>
static __device__ inline void put_result(const struct seats &seats, real total[4],
                                         real4_of<real> *results)
{
    sum_ways(seats, total);
    if (seats.writes)
        results[seats.target] = {total[0], total[1], total[2], total[3]};
}

template <typename real>
static __device__ inline void add_result(const struct seats &seats, real total[4],
                                         real4_of<real> *results)
{
    sum_ways(seats, total);
    if (!seats.writes)
        return;
    real4_of<real> result = results[seats.target];
    result.x += total[0];
    result.y += total[1];
    result.z += total[2];
    result.w += total[3];
    results[seats.target] = result;
}

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

/* All sources of a part, on the target of each lane; those of the next tile are in flight while
 * this one's are summed. Every tile has sums of its own, so that long ones lose no digits. */
template <enum expansion_law law, typename real>
static __device__ void sum_near(const struct near_task<real> &task, struct tiles tiles,
                                const struct seats &seats, int lane, real4_of<real> *tile,
                                real total[4])
{
    const real4_of<real> p = task.target[seats.target];
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
        const int64_t itself = task.self ? seats.target - first : -1;
        real sum[4] = {0, 0, 0, 0};
#pragma unroll 4
        for (int32_t j = seats.way; j < count; j += seats.ways) {
            const real4_of<real> q = tile[j];
            add_pair<law>(p, q, j == itself ? (real)0 : q.w, task.softening2, sum);
        }
        for (int c = 0; c < 4; c++)
            total[c] += sum[c];
        first = next;
        count = next_count;
    }
}

template <enum expansion_law law, typename real>
static __global__ void __launch_bounds__(threads) meet_near(const struct near_task<real> task)
{
    __shared__ real4_of<real> of_warps[warps][32];
    const int64_t index = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (index >= (int64_t)*task.parts.count)
        return;
    const struct tree_part part = task.parts.part[index];
    const struct octree_cell cell = task.targets[part.cell];
    for (int32_t begin = 32 * (int32_t)blockIdx.y; begin < cell.count; begin += 32 * chunks) {
        const struct seats seats = take_seats(cell, begin, lane);
        struct tiles tiles;
        real total[4] = {0, 0, 0, 0};
        begin_tiles(&tiles, task.near + task.lists[part.cell].near + part.first, part.count);
        sum_near<law>(task, tiles, seats, lane, of_warps[threadIdx.x / 32], total);
        if (part.slot < 0)
            add_result(seats, total, task.results);
        else
            put_result(seats, total, (real4_of<real> *)task.parts.sums + part.slot - cell.first);
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

template <typename real>
static kith_status near(cudaStream_t stream, const struct tree_points_cuda *points,
                        const struct tree_parts &parts, const struct tree_batch &batch)
{
    const struct expansion *expansion = &points->expansions->expansion;
    const struct near_task<real> task = {
        parts, points->targets->cell, points->sources->cell,
            (const real4_of<real> *)points->targets->point,
            (const real4_of<real> *)points->sources->point, batch.lists, batch.near,
            points->targets == points->sources, (real)expansion->softening2,
            (real4_of<real> *)points->results
    };
    const dim3 grid(blocks_for(parts.most, warps), chunks);
    if (expansion->law == expansion_inverse)
        meet_near<expansion_inverse><<<grid, threads, 0, stream>>>(task);
    else
        meet_near<expansion_logarithm><<<grid, threads, 0, stream>>>(task);
    add_near<<<blocks_for(parts.end - parts.first, warps), threads, 0, stream>>>(task);
    return cuda_check_launch("meeting near points of a tree");
}

kith_status tree_near_cuda(kith_context *context, const struct tree_points_cuda *points,
                           const struct tree_batch *batch, const struct tree_aside *aside,
                           struct tree_parts_memory *memory)
{
    const kith_dtype dtype = points->targets->dtype;
    const cudaStream_t stream = aside ? aside->stream : cuda_stream(context);
    struct tree_parts parts;
    if (batch->near_count == 0)
        return KITH_OK;
    KITH_TRY(tree_divide_cuda(context, tree_list_near, near_of_part, 4 * kith_dtype_bytes(dtype),
                              points->targets->cell, batch, memory, &parts));
    if (aside)
        KITH_TRY(tree_fork_cuda(context, aside));
    return dtype == KITH_F64 ? near<double>(stream, points, parts, *batch)
                             : near<float>(stream, points, parts, *batch);
}

/* Each warp of a block has the coefficients that its lanes read in shared memory. */
template <typename real, int room>
static __global__ void __launch_bounds__(threads)
    l2p(const struct expansion_shape shape, const struct octree_cell *cells, int32_t cell_count,
        struct octree_range range, const real4_of<real> *points, const real *records,
        const real *locals, real4_of<real> *results)
{
    extern __shared__ char memory[];
    const int32_t index = (int32_t)(blockIdx.x * warps + threadIdx.x / 32);
    const int lane = threadIdx.x % 32;
    const int32_t length = extended_length(shape, 1);
    if (index >= cell_count || cells[index].children > 0)
        return;
    const struct octree_cell cell = cells[index];
    if (cell.first >= range.end || cell.first + cell.count <= range.first)
        return;
    const int32_t begin = 32 * (int32_t)blockIdx.y;
    if (begin >= cell.count)
        return;
    const real *head = records + (int64_t)index * shape.record;
    const real inverse = 1 / head[3];
    const real *local = locals + (int64_t)index * shape.local;
    real *field = (real *)memory + (threadIdx.x / 32) * length;
    for_each_coefficient(shape.order + 1,
                         shape.max_c + 1 < shape.order + 1 ? shape.max_c + 1 : shape.order + 1,
                         [&](int32_t k, int32_t a, int32_t b, int32_t c) {
                             if (k % 32 == lane)
                                 field[k] = extended_coefficient(shape, local, a, b, c);
                         });
    __syncwarp();
    for (int32_t i = begin + lane; i < cell.count; i += 32 * chunks) {
        const real4_of<real> p = points[(int64_t)cell.first + i];
        const real d[3] = {(p.x - head[0]) * inverse, (p.y - head[1]) * inverse,
                           (p.z - head[2]) * inverse};
        real h[room], total[4];
        make_polynomials(shape, d, h);
        dot_field(shape, h, field, total);
        real4_of<real> *to = &results[(int64_t)cell.first + i];
        real4_of<real> result = *to;
        result.x = fma(total[1], inverse, result.x);
        result.y = fma(total[2], inverse, result.y);
        result.z = fma(total[3], inverse, result.z);
        result.w += total[0];
        *to = result;
    }
}

/* f_α, and f_{α + e} of the steps e in x, y and z, of a leaf's expansion: lane a of each row. */
template <typename known, typename real>
static __device__ __forceinline__ void
load_field(const struct expansion_shape &shape, const real *local, int lane, real4_of<real> *field)
{
    repeat<known::max_c + 1>([&](auto of_c) {
        repeat<known::order + 1 - decltype(of_c)::value>([&](auto of_b) {
            constexpr int c = decltype(of_c)::value, b = decltype(of_b)::value;
            if (lane <= known::order - b - c)
                field[known::row(b, c) + lane] = {
                    extended_coefficient(shape, local, lane, b, c),
                    extended_coefficient(shape, local, lane + 1, b, c),
                    extended_coefficient(shape, local, lane, b + 1, c),
                    extended_coefficient(shape, local, lane, b, c + 1)};
        });
    });
}

/* l2p of a constant order, without coefficients of a thread in memory. */
template <typename known, typename real>
static __global__ void __launch_bounds__(threads)
    l2p_fixed(const struct expansion_shape shape, const struct octree_cell *cells,
              int32_t cell_count, struct octree_range range, const real4_of<real> *points,
              const real *records, const real *locals, real4_of<real> *results)
{
    __shared__ real4_of<real> of_warps[warps][known::count];
    const int32_t index = (int32_t)(blockIdx.x * warps + threadIdx.x / 32);
    const int32_t begin = 32 * (int32_t)blockIdx.y;
    const int lane = threadIdx.x % 32;
    if (index >= cell_count || cells[index].children > 0)
        return;
    const struct octree_cell cell = cells[index];
    if (begin >= cell.count || cell.first >= range.end || cell.first + cell.count <= range.first)
        return;
    const real *head = records + (int64_t)index * shape.record;
    const real inverse = 1 / head[3];
    real4_of<real> *field = of_warps[threadIdx.x / 32];
    load_field<known>(shape, locals + (int64_t)index * shape.local, lane, field);
    __syncwarp();
    for (int32_t i = begin + lane; i < cell.count; i += 32 * chunks) {
        const real4_of<real> p = points[(int64_t)cell.first + i];
        const real d[3] = {(p.x - head[0]) * inverse, (p.y - head[1]) * inverse,
                           (p.z - head[2]) * inverse};
        real h[known::count] = {1};
        real4_of<real> total = {0, 0, 0, 0};
        make_fixed_harmonics<known>(d, h, [&](auto of_degree) {
            asm volatile("" ::: "memory"); /* what is read is not kept in registers */
            repeat<decltype(of_degree)::value + 1>([&](auto of_b) {
                constexpr int n = decltype(of_degree)::value, b = decltype(of_b)::value;
                repeat<(b < n && known::max_c > 0) + 1>([&](auto of_c) {
                    constexpr int at =
                        known::row(b, decltype(of_c)::value) + n - b - decltype(of_c)::value;
                    const real4_of<real> f = field[at];
                    total.x = fma(h[at], f.x, total.x);
                    total.y = fma(h[at], f.y, total.y);
                    total.z = fma(h[at], f.z, total.z);
                    total.w = fma(h[at], f.w, total.w);
                });
            });
        });
        real4_of<real> *to = &results[(int64_t)cell.first + i];
        real4_of<real> result = *to;
        result.x = fma(total.y, inverse, result.x);
        result.y = fma(total.z, inverse, result.y);
        result.z = fma(total.w, inverse, result.z);
        result.w += total.x;
        *to = result;
    }
}

kith_status tree_l2p_cuda(kith_context *context, const struct tree_points_cuda *points)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct tree_expansions_cuda *expansions = points->expansions;
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    const int32_t cells = points->targets->cell_count;
    return with_real_and_room(expansions->dtype, room_for(shape, 0), [&](auto of, auto room) {
        using real = decltype(of);
        const int64_t first = expansions->target_record;
        const size_t shared = warps * (size_t)extended_length(shape, 1) * sizeof(real);
        const dim3 grid(blocks_for(cells, warps), chunks);
        const real4_of<real> *target = (const real4_of<real> *)points->targets->point;
        const real *records = (const real *)expansions->records + first * shape.record;
        const real *locals = (const real *)expansions->locals + first * shape.local;
        real4_of<real> *results = (real4_of<real> *)points->results;
        if (!with_fixed_for_points<real>(shape, [&](auto known) {
                l2p_fixed<decltype(known), real><<<grid, threads, 0, stream>>>(
                    shape, points->targets->cell, cells, expansions->range, target, records, locals,
                    results);
            }))
            l2p<real, decltype(room)::value><<<grid, threads, shared, stream>>>(
                shape, points->targets->cell, cells, expansions->range, target, records, locals,
                results);
        return cuda_check_launch("evaluating the expansions of a tree");
    });
}

/* The field of a source cell at a point: sums[0 … 2] += ∇φ, sums[3] += φ. */
template <typename real, int room>
static __device__ void add_cell(const struct expansion_shape &shape, const real *record,
                                const real x[3], real sums[4])
{
    const real size = record[3];
    const struct expansion_direction<real> to = look_at(record, x, size, (real)shape.softening);
    const real first = shape.law == expansion_logarithm ? (real)1 : to.inverse;
    real field[room], power[expansion_max_order + 2], total[4];
    const int32_t order = shape.order + 1;
    make_derivatives(shape.basis, shape.law, order, to.d, to.s2, to.inverse, field);
    make_powers(order, (real)1, size * to.inverse, power);
    for_each_coefficient(
        order,
        shape.basis == expansion_harmonic ? (order < 2 ? order : 2)
        : shape.basis == expansion_plane  ? 0
                                          : order,
        [&](int32_t k, int32_t a, int32_t b, int32_t c) { field[k] *= power[a + b + c]; });
    dot_field(shape, record + expansion_header, field, total);
    const real of_gradient = first * (1 / size);
    for (int k = 0; k < 3; k++)
        sums[k] = fma(of_gradient, total[k + 1], sums[k]);
    sums[3] = fma(first, total[0], sums[3]);
}

template <typename real> struct far_task {
    struct expansion_shape shape;
    int32_t cells, first, end;
    const struct octree_cell *targets;
    const real4_of<real> *target;
    const struct tree_lists *lists;
    const int32_t *far;
    const real *records;
    real4_of<real> *results;
};

template <typename real, int room>
static __global__ void __launch_bounds__(threads) m2p(const struct far_task<real> task)
{
    const int32_t index = (int32_t)(blockIdx.x * warps + threadIdx.x / 32);
    const int lane = threadIdx.x % 32;
    if (index >= task.cells || task.targets[index].children > 0)
        return;
    const struct octree_cell cell = task.targets[index];
    for (int32_t begin = 32 * (int32_t)blockIdx.y; begin < cell.count; begin += 32 * chunks) {
        const struct seats seats = take_seats(cell, begin, lane);
        const real4_of<real> p = task.target[seats.target];
        const real x[3] = {p.x, p.y, p.z};
        real total[4] = {0, 0, 0, 0};
        for (int32_t k = index; k >= task.first; k = task.targets[k].parent) {
            if (k >= task.end)
                continue;
            const struct tree_lists lists = task.lists[k];
            for (int32_t j = seats.way; j < lists.far_count; j += seats.ways)
                add_cell<real, room>(
                    task.shape, task.records + (int64_t)task.far[lists.far + j] * task.shape.record,
                    x, total);
        }
        add_result(seats, total, task.results);
    }
}

kith_status tree_m2p_cuda(kith_context *context, const struct tree_points_cuda *points,
                          const struct tree_batch *batch)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct tree_expansions_cuda *expansions = points->expansions;
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    const int32_t cells = points->targets->cell_count;
    return with_real_and_room(expansions->dtype, room_for(shape, 1), [&](auto of, auto room) {
        using real = decltype(of);
        const struct far_task<real> task = {
            shape, cells, batch->first, batch->end, points->targets->cell,
                (const real4_of<real> *)points->targets->point, batch->lists, batch->far,
                (const real *)expansions->records, (real4_of<real> *)points->results
        };
        m2p<real, decltype(room)::value>
            <<<dim3(blocks_for(cells, warps), chunks), threads, 0, stream>>>(task);
        return cuda_check_launch("meeting far cells of a tree");
    });
}
