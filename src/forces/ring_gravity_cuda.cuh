#ifndef FORCES_RING_GRAVITY_CUDA_CUH
#define FORCES_RING_GRAVITY_CUDA_CUH

/* Gravity in the symmetric kernel (ring_warp_cuda.cuh).
 *
 * A pair costs 17 instructions (3 differences, 3 for s², 1 root, 2 for 1/s³, 2 masses, 6 sums) and
 * 4 / targets for the turn.
 *
 * The sums are of accelerations, each side's weighted with the other's mass, or of forces, weighted
 * with both masses and divided by the body's own at the end: then one weight serves six sums, and
 * fewer registers are read. Forces need masses none of which is 0 or tiny compared with the
 * largest. */

#include "forces/deliver_cuda.cuh"
#include "forces/problem.h"
#include "forces/ring_warp_cuda.cuh"

static inline const void **ring_weight(struct forces_problem *problem)
{
    return &problem->source_mass;
}

/* Masses with which sums may be forces: m_i m_j / s³ then neither overflows nor loses bits that
 * count. */
constexpr float least_mass_of_forces = 0x1p-40f, end_mass_of_forces = MASS_LIMIT;

template <typename real_, bool potential_, enum ring_form form_ = sums_are_accelerations>
struct ring_gravity {
    typedef real_ real;
    typedef struct forces_problem problem;
    static constexpr bool potential = potential_;
    static constexpr enum ring_form form = form_;
    static constexpr bool by_masses = form == sums_are_forces;

    struct constants {
        real softening2; /* ε² + s2_floor */
    };

    static __device__ inline struct constants load(const problem &problem)
    {
        return {(real)(problem.softening2_at ? *problem.softening2_at : problem.softening2) +
                s2_floor<real>()};
    }

    /* Bodies past the last have no mass. */
    static __device__ inline struct ring_body<real> load_body(const problem &problem, int64_t i) {
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

    /* One pair. is_self: the two are one body. */
    template <bool symmetric>
    static __device__ inline void
    meet(const struct constants &constants, const struct ring_body<real> &target,
         const struct ring_body<real> &source, bool is_self, real *target_sum, real *source_sum)
    {
        const real dx = source.x - target.x, dy = source.y - target.y, dz = source.z - target.z;
        const real s2 = fma(dz, dz, fma(dy, dy, fma(dx, dx, constants.softening2)));
        real inverse_s3;
        if (potential) {
            const real y = inverse(s2);
            inverse_s3 = y * y * y;
            if (s2 != s2_floor<real>() && !is_self) {
                target_sum[3] = fma(source.mass, y, target_sum[3]);
                if (symmetric)
                    source_sum[3] = fma(target.mass, y, source_sum[3]);
            }
        } else {
            inverse_s3 = inverse_cube(s2);
        }
        if (form == sums_are_forces)
            inverse_s3 *= target.mass;
        const real by_source = source.mass * inverse_s3;
        target_sum[0] = fma(by_source, dx, target_sum[0]);
        target_sum[1] = fma(by_source, dy, target_sum[1]);
        target_sum[2] = fma(by_source, dz, target_sum[2]);
        if (symmetric) {
            const real by_target = target.mass * inverse_s3;
            source_sum[0] = fma(-by_target, dx, source_sum[0]);
            source_sum[1] = fma(-by_target, dy, source_sum[1]);
            source_sum[2] = fma(-by_target, dz, source_sum[2]);
        }
    }

    /* Whether sums may be forces, as far as this body's mass goes. */
    static __device__ inline bool serves(const problem &problem, int64_t i)
    {
        const real mass = ((const real *)problem.source_mass)[i];
        return (mass >= least_mass_of_forces) & (mass < end_mass_of_forces);
    }

    /* divides: the sums are forces. */
    static __device__ inline void result(const problem &problem, int64_t i, int value, double sum,
                                         bool divides)
    {
        if (divides)
            deliver<real>(problem, i, value, sum / (double)((const real *)problem.source_mass)[i]);
        else
            deliver<real>(problem, i, value, sum);
    }
};

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

/* 32 sources past the targets of a lane, of which this many meet a source together. */
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
        float of_turn[3] = {};
        if (variant::ahead)
            approach<variant>(targets, 0, source, softening2, pairs);
#pragma unroll
        for (int first = 0; first < variant::targets; first += variant::together) {
            approach<variant>(targets, first + lead, source, softening2, pairs);
            exchange<variant>(targets, first, source, pairs, variant::by_turns ? of_turn : sum);
        }
        for (int v = 0; v < 3 && variant::by_turns; v++)
            sum[v] += of_turn[v];
        for (int v = 0; v < 3; v++)
            sum[v] = __shfl_sync(0xffffffff, sum[v], (lane + 1) % ring_lanes);
    }
    for (int v = 0; v < 3; v++)
        source_sum[v] = sum[v];
}

#endif
