#ifndef FORCES_RING_CUDA_CUH
#define FORCES_RING_CUDA_CUH

/* Symmetric all-pairs forces: each pair is evaluated once, and both bodies get their share.
 *
 * A block of warps holds a tile of targets, `targets` of them in each lane's registers. The sources
 * of the partner tile come in steps of 32, one a lane; each lane then meets every source by reading
 * it from shared memory one place further along each time, while the sources' own sums are handed
 * from lane to lane by shuffles. After 32 turns the sums of the warps are added, and stored: no sum
 * is ever shared by two blocks. ring_sum_cuda.cuh adds what was stored.
 *
 * A pair costs 17 instructions (3 differences, 3 for s², 1 root, 2 for 1/s³, 2 masses, 6 sums) and
 * 4 / targets for the turn.
 *
 * The sums are of accelerations, each side's weighted with the other's mass, or of forces, weighted
 * with both masses and divided by the body's own at the end: then one weight serves six sums, and
 * fewer registers are read. Forces need masses none of which is 0 or tiny beside the largest. */

#include "forces/overlap_cuda.cuh"
#include "forces/pair_cuda.cuh"
#include "forces/problem.h"
#include "forces/ring.h"

enum { ring_lanes = 32 };

enum ring_form { sums_are_accelerations, sums_are_forces };

/* Masses with which sums may be forces: m_i m_j / s³ then neither overflows nor loses bits that
 * count. */
constexpr float least_mass_of_forces = 0x1p-40f, end_mass_of_forces = 2;

/* What is set before compiling. */
template <typename real_, int targets_, int warps_, int groups_, int blocks_per_multiprocessor_,
          bool potential_, int together_ = 0, bool ahead_ = false,
          enum ring_form form_ = sums_are_accelerations>
struct ring_variant {
    typedef real_ real;
    static constexpr int targets = targets_; /* of a lane */
    static constexpr int warps = warps_;     /* of a block */
    static constexpr int groups = groups_;   /* of 32 sources in a step, between two barriers */
    static constexpr int blocks_per_multiprocessor = blocks_per_multiprocessor_;
    static constexpr bool potential = potential_;
    /* How a source meets a lane's targets: one by one (0), or so many at the same time, and whether
     * the distances of the next ones are taken before these are summed. */
    static constexpr int together = together_;
    static constexpr bool ahead = ahead_;
    static constexpr enum ring_form form = form_;
    static constexpr int values = potential ? 4 : 3; /* summed for a body: Σ m d / s³, Σ m / s */
    static constexpr int tile = targets * warps * ring_lanes;
    static constexpr int step_sources = groups * ring_lanes;
    static constexpr int steps = tile / step_sources; /* of a meeting */
    static_assert(tile % step_sources == 0 && groups <= warps, "a warp loads a group");
    /* A float sum goes over so many steps; these sums are then added in a second one. */
    static constexpr int flush_steps = sizeof(real) == sizeof(float) ? 128 / groups : 1 << 30;
    static constexpr int turns_unrolled = 2;
};

/* Bodies' sums, as rows of `values` columns of `padded` reals, a body an element: row o of
 * by_source has what the tiles' partners at offset first_offset + o got, row p of by_target what
 * the p-th block that works for a tile has summed for it. */
template <typename real> struct ring_rows {
    real *by_source, *by_target;
    int64_t padded;
};

template <typename real> struct ring_body {
    real x, y, z, mass;
};

/* Bodies behind the last have no mass. */
template <typename real>
__device__ inline struct ring_body<real> load_body(const struct forces_problem &problem,
                                                   int64_t i) {
    struct ring_body<real> body = {
    };
    if (i < problem.target_count) {
        body.x = ((const real *)problem.target_position[0])[i];
        body.y = ((const real *)problem.target_position[1])[i];
        if (problem.target_position[2])
            body.z = ((const real *)problem.target_position[2])[i];
        body.mass = ((const real *)problem.source_mass)[i];
    }
    return body;
}

/* 32 sources, twice, so that a lane reads 32 in a row from its own on. */
template <typename real>
struct source_ring;

template <> struct source_ring<float> {
    float4 body[2 * ring_lanes];
    __device__ void put(int lane, struct ring_body<float> b)
    {
        body[lane] = body[lane + ring_lanes] = make_float4(b.x, b.y, b.z, b.mass);
    }
    __device__ struct ring_body<float> get(int k) const {
        const float4 b = body[k];
        return {b.x, b.y, b.z, b.w};
    }
};

template <> struct source_ring<double> {
    double2 xy[2 * ring_lanes], z_mass[2 * ring_lanes];
    __device__ void put(int lane, struct ring_body<double> b)
    {
        xy[lane] = xy[lane + ring_lanes] = make_double2(b.x, b.y);
        z_mass[lane] = z_mass[lane + ring_lanes] = make_double2(b.z, b.mass);
    }
    __device__ struct ring_body<double> get(int k) const {
        return {xy[k].x, xy[k].y, z_mass[k].x, z_mass[k].y};
    }
};

template <typename variant> struct ring_shared {
    typedef typename variant::real real;
    struct source_ring<real> sources[2][variant::groups];
    real sums[2][variant::groups][variant::values][variant::warps][ring_lanes];
};

/* A lane's targets and what they have felt. */
template <typename variant> struct ring_targets {
    struct ring_body<typename variant::real> body[variant::targets];
    typename variant::real sum[variant::targets][variant::values];
};

/* One pair. is_self: the two are one body. */
template <typename variant, bool symmetric>
__device__ inline void meet(struct ring_targets<variant> &targets, int k,
                            const struct ring_body<typename variant::real> &source,
                            typename variant::real softening2, bool is_self,
                            typename variant::real *source_sum)
{
    typedef typename variant::real real;
    const struct ring_body<real> &target = targets.body[k];
    const real dx = source.x - target.x, dy = source.y - target.y, dz = source.z - target.z;
    const real s2 = fma(dz, dz, fma(dy, dy, fma(dx, dx, softening2)));
    real inverse_s3;
    if (variant::potential) {
        const real y = inverse(s2);
        inverse_s3 = y * y * y;
        if (s2 != s2_floor<real>() && !is_self) {
            targets.sum[k][3] = fma(source.mass, y, targets.sum[k][3]);
            if (symmetric)
                source_sum[3] = fma(target.mass, y, source_sum[3]);
        }
    } else {
        inverse_s3 = inverse_cube(s2);
    }
    if (variant::form == sums_are_forces)
        inverse_s3 *= target.mass;
    const real by_source = source.mass * inverse_s3;
    targets.sum[k][0] = fma(by_source, dx, targets.sum[k][0]);
    targets.sum[k][1] = fma(by_source, dy, targets.sum[k][1]);
    targets.sum[k][2] = fma(by_source, dz, targets.sum[k][2]);
    if (symmetric) {
        const real by_target = target.mass * inverse_s3;
        source_sum[0] = fma(-by_target, dx, source_sum[0]);
        source_sum[1] = fma(-by_target, dy, source_sum[1]);
        source_sum[2] = fma(-by_target, dz, source_sum[2]);
    }
}

/* A source and a lane's targets. */
template <typename variant> struct ring_pairs {
    typename variant::real dx[variant::targets], dy[variant::targets], dz[variant::targets],
        inverse_s[variant::targets];
};

/* Takes the distances of a source and the targets from `first` on, as many as meet it together.
 *
 * Here and in exchange the order of the statements is the one of those tried from which the
 * compiler makes the loop with the fewest waits for registers. */
template <typename variant>
__device__ inline void approach(const struct ring_targets<variant> &targets, int first,
                                const struct ring_body<float> &source, float softening2,
                                struct ring_pairs<variant> &pairs)
{
    const int end = min(first + variant::together, variant::targets);
#pragma unroll
    for (int k = first; k < end; k++)
        pairs.dy[k] = source.y - targets.body[k].y;
#pragma unroll
    for (int k = first; k < end; k++)
        pairs.dz[k] = source.z - targets.body[k].z;
#pragma unroll
    for (int k = first; k < end; k++)
        pairs.dx[k] = source.x - targets.body[k].x;
#pragma unroll
    for (int k = first; k < end; k++)
        pairs.inverse_s[k] = fma(pairs.dy[k], pairs.dy[k], softening2);
#pragma unroll
    for (int k = first; k < end; k++)
        pairs.inverse_s[k] = fma(pairs.dz[k], pairs.dz[k], pairs.inverse_s[k]);
#pragma unroll
    for (int k = first; k < end; k++)
        pairs.inverse_s[k] = fma(pairs.dx[k], pairs.dx[k], pairs.inverse_s[k]);
#pragma unroll
    for (int k = first; k < end; k++)
        pairs.inverse_s[k] = inverse(pairs.inverse_s[k]);
}

/* Adds to the sums of a source and of those targets. */
template <typename variant>
__device__ inline void exchange(struct ring_targets<variant> &targets, int first,
                                const struct ring_body<float> &source,
                                const struct ring_pairs<variant> &pairs, float *source_sum)
{
    const int end = min(first + variant::together, variant::targets);
    float inverse_s2[variant::targets];
    float to_target[variant::targets], to_source[variant::targets]; /* weights of the distance */
#pragma unroll
    for (int k = first; k < end; k++)
        inverse_s2[k] = pairs.inverse_s[k] * pairs.inverse_s[k];
#pragma unroll
    for (int k = first; k < end; k++) {
        const float y = pairs.inverse_s[k], y2 = inverse_s2[k], mass = targets.body[k].mass;
        if (variant::form == sums_are_forces) {
            to_target[k] = to_source[k] = mass * source.mass * (y2 * y);
        } else {
            to_target[k] = source.mass * (y2 * y);
            to_source[k] = mass * (y2 * y);
        }
    }
#pragma unroll
    for (int k = first; k < end; k++) {
        float *const sum = targets.sum[k];
        source_sum[1] = fma(-to_source[k], pairs.dy[k], source_sum[1]);
        sum[1] = fma(to_target[k], pairs.dy[k], sum[1]);
        source_sum[2] = fma(-to_source[k], pairs.dz[k], source_sum[2]);
        sum[2] = fma(to_target[k], pairs.dz[k], sum[2]);
        source_sum[0] = fma(-to_source[k], pairs.dx[k], source_sum[0]);
        sum[0] = fma(to_target[k], pairs.dx[k], sum[0]);
    }
}

/* 32 sources past the targets of a lane, of which so many meet a source together. */
template <typename variant>
__device__ inline void walk_together(struct ring_targets<variant> &targets,
                                     const struct source_ring<float> &sources, float softening2,
                                     float *source_sum)
{
    constexpr int lead = variant::ahead ? variant::together : 0;
    const int lane = threadIdx.x % ring_lanes;
    float sum[3] = {};
#pragma unroll variant::turns_unrolled
    for (int turn = 0; turn < ring_lanes; turn++) {
        const struct ring_body<float> source = sources.get(lane + turn);
        struct ring_pairs<variant> pairs;
        if (variant::ahead)
            approach<variant>(targets, 0, source, softening2, pairs);
#pragma unroll
        for (int first = 0; first < variant::targets; first += variant::together) {
            approach<variant>(targets, first + lead, source, softening2, pairs);
            exchange<variant>(targets, first, source, pairs, sum);
        }
        for (int v = 0; v < 3; v++)
            sum[v] = __shfl_sync(0xffffffff, sum[v], (lane + 1) % ring_lanes);
    }
    for (int v = 0; v < 3; v++)
        source_sum[v] = sum[v];
}

/* 32 sources past the targets. In a tile's meeting with itself, which is not symmetric (each pair
 * is met from both sides), self is the source's number in the tile less the lane's first target's.
 */
template <typename variant, bool symmetric>
__device__ inline void walk(struct ring_targets<variant> &targets,
                            const struct source_ring<typename variant::real> &sources,
                            typename variant::real softening2, int first_source,
                            typename variant::real *source_sum)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
#pragma unroll(symmetric ? variant::turns_unrolled : 1)
    for (int turn = 0; turn < ring_lanes; turn++) {
        const struct ring_body<typename variant::real> source = sources.get(lane + turn);
        const int j = first_source + (lane + turn) % ring_lanes;
#pragma unroll
        for (int k = 0; k < variant::targets; k++) {
            const int i = (w * variant::targets + k) * ring_lanes + lane;
            meet<variant, symmetric>(targets, k, source, softening2, !symmetric && i == j,
                                     source_sum);
        }
        if (symmetric)
            for (int v = 0; v < variant::values; v++)
                source_sum[v] = __shfl_sync(0xffffffff, source_sum[v], (lane + 1) % ring_lanes);
    }
}

/* Adds the targets' sums to the block's row of the tile, from `row` on, or begins the row. */
template <typename variant>
__device__ inline void flush(struct ring_targets<variant> &targets, typename variant::real *row,
                             int64_t padded, bool begins)
{
    const int first =
        threadIdx.x / ring_lanes * variant::targets * ring_lanes + threadIdx.x % ring_lanes;
#pragma unroll
    for (int k = 0; k < variant::targets; k++)
        for (int v = 0; v < variant::values; v++) {
            typename variant::real *to = row + v * padded + first + k * ring_lanes;
            *to = begins ? targets.sum[k][v] : *to + targets.sum[k][v];
            targets.sum[k][v] = 0;
        }
}

/* Where in the ring a block is: step `step` of the meeting of `tile` at `offset`. */
struct ring_place {
    int64_t tile, offset, partner;
    int step;
};

template <typename variant>
__device__ inline struct ring_place place_at(struct ring_chunk chunk, int64_t number)
{
    const struct ring_meeting meeting = ring_meeting_at(chunk, number / variant::steps);
    const int64_t partner = ring_partner(chunk.tiles, meeting.tile, meeting.offset);
    return {meeting.tile, meeting.offset, partner, (int)(number % variant::steps)};
}

/* The next step of the same tile. */
template <typename variant> __device__ inline void go_on(struct ring_place &place, int64_t tiles)
{
    if (++place.step == variant::steps) {
        place.step = 0;
        place.offset++;
        place.partner = place.partner + 1 == tiles ? 0 : place.partner + 1;
    }
}

template <typename variant> __device__ inline int64_t first_source(const struct ring_place &place)
{
    return place.partner * variant::tile + place.step * variant::step_sources;
}

/* Adds the warps' sums of a step's sources and stores them. */
template <typename variant>
__device__ inline void store_sources(const struct ring_shared<variant> &shared, int buffer,
                                     const struct ring_place &place, struct ring_chunk chunk,
                                     const struct ring_rows<typename variant::real> &rows)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
    const int64_t row = place.offset - chunk.first_offset;
    typename variant::real *to =
        rows.by_source + row * variant::values * rows.padded + first_source<variant>(place) + lane;
    for (int k = w; k < variant::groups * variant::values; k += variant::warps) {
        const int group = k / variant::values, v = k % variant::values;
        typename variant::real sum = 0;
        for (int other = 0; other < variant::warps; other++)
            sum += shared.sums[buffer][group][v][other][lane];
        to[v * rows.padded + group * ring_lanes] = sum;
    }
}

/* A step's sources past the targets of a warp. */
template <typename variant>
__device__ inline void
meet_sources(struct ring_targets<variant> &targets, struct ring_shared<variant> &shared, int buffer,
             const struct ring_place &place, typename variant::real softening2)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
#pragma unroll 1
    for (int group = 0; group < variant::groups; group++) {
        if (place.offset == 0) {
            walk<variant, false>(targets, shared.sources[buffer][group], softening2,
                                 place.step * variant::step_sources + group * ring_lanes, nullptr);
        } else {
            typename variant::real source_sum[variant::values] = {};
            if constexpr (variant::together > 0)
                walk_together<variant>(targets, shared.sources[buffer][group], softening2,
                                       source_sum);
            else
                walk<variant, true>(targets, shared.sources[buffer][group], softening2, 0,
                                    source_sum);
            for (int v = 0; v < variant::values; v++)
                shared.sums[buffer][group][v][w][lane] = source_sum[v];
        }
    }
}

/* The steps begin … end − 1, all of the same tile; the targets' sums go to the row. While a step
 * is met, the first warps bring the next one's sources. */
template <typename variant>
__device__ inline void visit(const struct forces_problem &problem, struct ring_chunk chunk,
                             const struct ring_rows<typename variant::real> &rows, int64_t begin,
                             int64_t end, typename variant::real *row,
                             struct ring_targets<variant> &targets,
                             struct ring_shared<variant> &shared)
{
    typedef typename variant::real real;
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
    const real floor = (variant::form == sums_are_forces ? 4 : 1) * s2_floor<real>();
    const real softening2 =
        (real)(problem.softening2_at ? *problem.softening2_at : problem.softening2) + floor;
    const bool is_loader = w < variant::groups;

    struct ring_place place = place_at<variant>(chunk, begin);
    __syncthreads();
    if (is_loader)
        shared.sources[0][w].put(
            lane, load_body<real>(problem, first_source<variant>(place) + threadIdx.x));
    __syncthreads();
    bool begins = true;
    for (int64_t u = begin; u < end; u++) {
        const int buffer = (int)(u - begin) % 2;
        struct ring_place next = place;
        go_on<variant>(next, chunk.tiles);
        struct ring_body<real> prefetched = {
        };
        if (is_loader && u + 1 < end)
            prefetched = load_body<real>(problem, first_source<variant>(next) + threadIdx.x);

        meet_sources<variant>(targets, shared, buffer, place, softening2);
        if (is_loader)
            shared.sources[1 - buffer][w].put(lane, prefetched);
        __syncthreads();
        if (place.offset > 0)
            store_sources<variant>(shared, buffer, place, chunk, rows);
        if (u + 1 == end || (u - begin) % variant::flush_steps == variant::flush_steps - 1) {
            flush<variant>(targets, row, rows.padded, begins);
            begins = false;
        }
        place = next;
    }
}

/* All the steps of a tile that are this block's. */
template <typename variant>
__device__ inline void serve_tile(const struct forces_problem &problem, struct ring_chunk chunk,
                                  const struct ring_rows<typename variant::real> &rows,
                                  int64_t tile, int64_t begin, int64_t end, int64_t part,
                                  struct ring_shared<variant> &shared)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
    const int64_t first = tile * variant::tile + (int64_t)w * variant::targets * ring_lanes + lane;
    struct ring_targets<variant> targets = {
    };
#pragma unroll
    for (int k = 0; k < variant::targets; k++)
        targets.body[k] = load_body<typename variant::real>(problem, first + k * ring_lanes);
    typename variant::real *row =
        rows.by_target + part * variant::values * rows.padded + tile * variant::tile;
    visit<variant>(problem, chunk, rows, begin, end, row, targets, shared);
}

/* The chunk's steps are dealt to the blocks evenly, all of which run at the same time. If `form` is
 * not NULL, nothing happens unless it is the variant's. */
template <typename variant>
__global__ void __launch_bounds__(variant::warps *ring_lanes, variant::blocks_per_multiprocessor)
    ring_kernel(const struct forces_problem problem, const struct ring_chunk chunk,
                const struct ring_rows<typename variant::real> rows, const enum ring_form *form)
{
    wait_for_kernel_before();
    if (form && *form != variant::form)
        return;
    __shared__ struct ring_shared<variant> shared;
    const int64_t steps = ring_meetings(chunk) * variant::steps;
    const int64_t end = share_begin(steps, gridDim.x, blockIdx.x + 1);
    int64_t begin = share_begin(steps, gridDim.x, blockIdx.x);
    while (begin < end) {
        const int64_t tile = ring_meeting_at(chunk, begin / variant::steps).tile;
        const int64_t tile_begin = ring_first_meeting(chunk, tile) * variant::steps;
        const int64_t tile_end = ring_first_meeting(chunk, tile + 1) * variant::steps;
        const int64_t visit_end = end < tile_end ? end : tile_end;
        const int64_t part = blockIdx.x - share_of(steps, gridDim.x, tile_begin);
        serve_tile<variant>(problem, chunk, rows, tile, begin, visit_end, part, shared);
        begin = visit_end;
    }
}

#endif
