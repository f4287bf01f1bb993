#ifndef SIMULATION_ADVANCE_PARTS_CUDA_CUH
#define SIMULATION_ADVANCE_PARTS_CUDA_CUH

/* Whole steps of an ensemble, a system in each part of a warp.
 *
 * A lane holds the state of some bodies of its system, so that what it reads of a source serves all
 * of them: 13 instructions per source and target in float (3 differences, 3 for s², 1 root, 3 for
 * m/s³, 3 sums), and one for reading the source. Positions and masses, and for jerks velocities,
 * go through shared memory, which belongs to the warp alone: no barrier of the block. A target's
 * sources are added in the order of their numbers. */

#include "simulation/advance_cuda.cuh"

enum { parts_warp = 32, parts_block_warps = 4, parts_threads = parts_block_warps * parts_warp };

template <typename scheme_, int lanes_, int bodies_of_lane_, bool per_body_> struct parts_variant {
    typedef scheme_ scheme;
    typedef typename scheme::real real;
    static constexpr int lanes = lanes_, bodies_of_lane = bodies_of_lane_;
    static constexpr bool per_body = per_body_, with_jerk = scheme::needs_jerk;
    static constexpr int systems = parts_warp / lanes; /* of a warp */
    static constexpr int bodies = lanes * bodies_of_lane;
    static constexpr int sums = with_jerk ? 6 : 3;

    /* One more, so that the systems of a warp read from different banks. */
    static constexpr int room = bodies + 1;
};

template <typename real> struct alignas(16) parts_place {
    real x[3], mass; /* mass: times G */
};

template <typename real> struct alignas(16) parts_velocity {
    real v[3], unused;
};

/* What the lanes of a system know of its bodies. */
template <typename variant> struct parts_memory {
    parts_place<typename variant::real> place[variant::room];
    parts_velocity<typename variant::real> velocity[variant::with_jerk ? variant::room : 1];
    typename variant::real half_softening2[variant::per_body ? variant::room : 1];
};

/* The bodies of a lane, whose components go through the stages of a step together. */
template <typename variant> struct parts_lane {
    static constexpr int components = 3 * variant::bodies_of_lane;
    typename variant::scheme::template state<components> bodies;
    typename variant::real softening2[variant::bodies_of_lane]; /* without the source's */
};

template <typename variant>
__device__ void publish(const struct parts_lane<variant> &mine, int lane,
                        struct parts_memory<variant> &memory)
{
    __syncwarp();
#pragma unroll
    for (int k = 0; k < variant::bodies_of_lane; k++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            memory.place[k * variant::lanes + lane].x[c] = mine.bodies.x[3 * k + c];
            if (variant::with_jerk)
                memory.velocity[k * variant::lanes + lane].v[c] = mine.bodies.v[3 * k + c];
        }
    __syncwarp();
}

/* A source on the targets of a lane. */
template <typename variant>
__device__ void add_source(const struct parts_memory<variant> &memory, int j,
                           const struct parts_lane<variant> &mine,
                           typename variant::real (&sum)[variant::bodies_of_lane][variant::sums])
{
    typedef typename variant::real real;
    const parts_place<real> source = memory.place[j];
    parts_velocity<real> velocity = {};
    if (variant::with_jerk)
        velocity = memory.velocity[j];
    const real half = variant::per_body ? memory.half_softening2[j] : (real)0;
#pragma unroll
    for (int k = 0; k < variant::bodies_of_lane; k++) {
        real difference[variant::sums], s2 = mine.softening2[k];
        if (variant::per_body)
            s2 += half;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            difference[c] = source.x[c] - mine.bodies.x[3 * k + c];
            s2 = fma(difference[c], difference[c], s2);
            if constexpr (variant::with_jerk)
                difference[3 + c] = velocity.v[c] - mine.bodies.v[3 * k + c];
        }
        add_pair(source.mass, s2, difference, sum[k]);
    }
}

template <typename variant>
__device__ void evaluate(const struct parts_memory<variant> &memory, int sources,
                         struct parts_lane<variant> &mine)
{
    typename variant::real sum[variant::bodies_of_lane][variant::sums] = {};
#pragma unroll 4
    for (int j = 0; j < sources; j++)
        add_source<variant>(memory, j, mine, sum);
#pragma unroll
    for (int k = 0; k < variant::bodies_of_lane; k++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            mine.bodies.a[3 * k + c] = sum[k][c];
            if constexpr (variant::with_jerk)
                mine.bodies.jerk[3 * k + c] = sum[k][3 + c];
        }
}

/* Bodies that are not there have no mass and stay at 0. */
template <typename variant>
__device__ void load(const struct advance_problem &problem, int64_t s, int lane,
                     struct parts_lane<variant> &mine, struct parts_memory<variant> &memory)
{
    typedef typename variant::real real;
    const real common = (real)problem.forces.softening2;
#pragma unroll
    for (int k = 0; k < variant::bodies_of_lane; k++) {
        const int i = k * variant::lanes + lane;
        const bool is_body = i < problem.forces.target_count;
        const int64_t at = i * problem.forces.system_stride + s;
        const real half =
            variant::per_body && is_body ? half_softening2_at<real>(problem, at) : (real)0;
        mine.softening2[k] = (variant::per_body ? half : common) + s2_floor<real>();
        if (variant::per_body)
            memory.half_softening2[i] = half;
        memory.place[i].mass = is_body ? mass_at<real>(problem, at) : (real)0;
        for (int c = 0; c < 3 && is_body; c++)
            load_state<real, parts_lane<variant>::components>(problem, c, at, 3 * k + c,
                                                              mine.bodies);
    }
}

template <typename variant>
__global__ void __launch_bounds__(parts_threads)
    parts_kernel(const struct advance_problem problem, const typename variant::scheme integrator)
{
    typedef typename variant::real real;
    __shared__ parts_memory<variant> memories[parts_block_warps * variant::systems];
    const int lane = threadIdx.x % variant::lanes, bodies = (int)problem.forces.target_count;
    struct parts_memory<variant> &memory = memories[threadIdx.x / variant::lanes];
    const int64_t s = ((int64_t)blockIdx.x * parts_threads + threadIdx.x) / variant::lanes;
    const int64_t last = problem.forces.system_count - 1;

    /* Past the last system it is done again, and not kept. */
    struct parts_lane<variant> mine = {
    };
    load<variant>(problem, s < last ? s : last, lane, mine, memory);
    integrator.begin(mine.bodies);
    for (int64_t step = 1; step <= problem.steps; step++)
        for (int32_t e = 0; e < integrator.evaluation_count; e++) {
            publish<variant>(mine, lane, memory);
            evaluate<variant>(memory, bodies, mine);
            integrator.go_on(e, step == problem.steps, mine.bodies);
        }
#pragma unroll
    for (int k = 0; k < variant::bodies_of_lane; k++) {
        const int i = k * variant::lanes + lane;
        const int64_t at = i * problem.forces.system_stride + s;
        for (int c = 0; c < 3 && i < bodies && s <= last; c++)
            store_state<real, parts_lane<variant>::components>(problem, c, at, 3 * k + c,
                                                               mine.bodies);
    }
}

#endif
