#ifndef FORCES_RING_WARP_CUDA_CUH
#define FORCES_RING_WARP_CUDA_CUH

/* What a warp does in the symmetric kernel (ring_cuda.cuh): 32 sources past its targets.
 *
 * A pair costs 17 instructions (3 differences, 3 for s², 1 root, 2 for 1/s³, 2 masses, 6 sums) and
 * 4 / targets for the turn.
 *
 * The sums are of accelerations, each side's weighted with the other's mass, or of forces, weighted
 * with both masses and divided by the body's own at the end: then one weight serves six sums, and
 * fewer registers are read. Forces need masses none of which is 0 or tiny beside the largest. */

#include "forces/pair_cuda.cuh"

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
    /* A float sum goes over 512 sources, of small tiles 1024, and such sums are added in double:
     * beside a pair that is close, what is far and added after it would be lost bit by bit. */
    static constexpr int flush_steps =
        sizeof(real) == sizeof(float) ? (tile > 1024 ? 16 : 32) / groups : 1 << 30;
    static constexpr int turns_unrolled = 2;
};

template <typename real> struct ring_body {
    real x, y, z, mass;
};

/* 32 sources, twice, so that a lane reads 32 in a row from its own on. */
template <typename real> struct source_ring;

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

#endif
