#ifndef FORCES_RING_WARP_CUDA_CUH
#define FORCES_RING_WARP_CUDA_CUH

/* What a warp does in the symmetric kernel (ring_cuda.cuh): 32 sources past its targets, by any
 * pair function: ring_gravity_cuda.cuh, ring_law_cuda.cuh. A pair function is a type with
 *
 *   real, potential    precision, and whether the potential is summed
 *   form, by_masses    what the sums are, and whether the masses choose between two forms
 *   problem            what the kernels get
 *   constants          what is the same for all pairs; load(problem) makes it
 *   load_body          body i of the problem; past the last one that adds nothing
 *   meet<symmetric>    one pair: adds to the target's sums and, if symmetric, the source's
 *   serves             by_masses: whether the mass of a body allows this form
 *   result             hands the sum of a value to deliver
 *
 * and, where several targets meet a source together, walk_together. */

#include "forces/pair_cuda.cuh"

enum { ring_lanes = 32 };

enum ring_form { sums_are_accelerations, sums_are_forces };

/* What is set before compiling. */
template <typename pair_, int targets_, int warps_, int groups_, int blocks_per_multiprocessor_,
          int together_ = 0, bool ahead_ = false, bool by_turns_ = false>
struct ring_variant {
    typedef pair_ pair;
    typedef typename pair::real real;
    static constexpr int targets = targets_; /* of a lane */
    static constexpr int warps = warps_;     /* of a block */
    static constexpr int groups = groups_;   /* of 32 sources in a step, between two barriers */
    static constexpr int blocks_per_multiprocessor = blocks_per_multiprocessor_;
    static constexpr bool potential = pair::potential;
    /* How a source meets a lane's targets: one by one (0), or this many at the same time, and
     * whether the distances of the next ones are taken before these are summed. */
    static constexpr int together = together_;
    static constexpr bool ahead = ahead_;
    /* Whether what a source gets from a lane's targets is added up by itself. */
    static constexpr bool by_turns = by_turns_;
    static constexpr enum ring_form form = pair::form;
    static constexpr int values = potential ? 4 : 3; /* summed for a body: field, potential */
    static constexpr int tile = targets * warps * ring_lanes;
    static constexpr int step_sources = groups * ring_lanes;
    static constexpr int steps = tile / step_sources; /* of a meeting */
    static_assert(tile % step_sources == 0 && groups <= warps, "a warp loads a group");
    /* A float sum goes over 512 sources, of small tiles 1024, and such sums are added in double:
     * after a close pair, what is far and added later would be lost bit by bit. */
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

/* The same for pair functions in which several targets meet a source together. */
template <typename variant>
__device__ inline void walk_together(struct ring_targets<variant> &targets,
                                     const struct source_ring<float> &sources, float softening2,
                                     float *source_sum);

/* 32 sources past the targets. In a tile's meeting with itself, which is not symmetric (each pair
 * is met from both sides), self is the source's number in the tile less the lane's first target's.
 */
template <typename variant, bool symmetric>
__device__ inline void walk(struct ring_targets<variant> &targets,
                            const struct source_ring<typename variant::real> &sources,
                            const typename variant::pair::constants &constants, int first_source,
                            typename variant::real *source_sum)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
#pragma unroll(symmetric ? variant::turns_unrolled : 1)
    for (int turn = 0; turn < ring_lanes; turn++) {
        const struct ring_body<typename variant::real> source = sources.get(lane + turn);
        const int j = first_source + (lane + turn) % ring_lanes;
        typename variant::real of_turn[variant::values] = {};
#pragma unroll
        for (int k = 0; k < variant::targets; k++) {
            const int i = (w * variant::targets + k) * ring_lanes + lane;
            variant::pair::template meet<symmetric>(constants, targets.body[k], source,
                                                    !symmetric && i == j, targets.sum[k],
                                                    variant::by_turns ? of_turn : source_sum);
        }
        for (int v = 0; v < variant::values && symmetric; v++) {
            const typename variant::real sum =
                variant::by_turns ? source_sum[v] + of_turn[v] : source_sum[v];
            source_sum[v] = __shfl_sync(0xffffffff, sum, (lane + 1) % ring_lanes);
        }
    }
}

#endif
