#ifndef SIMULATION_ADVANCE_BLOCK_CUDA_CUH
#define SIMULATION_ADVANCE_BLOCK_CUDA_CUH

/* Whole steps of one system by a block, or by blocks that each advance some of its bodies.
 *
 * The positions and masses (times G) of all bodies, and for jerks the velocities, lie in the shared
 * memory of each block. An evaluation of forces: a warp takes four targets of the block's (two for
 * jerks), the same in all lanes, and a part of the sources, side by side in the lanes; the warps'
 * sums go to shared memory. Then a thread for each component of each body adds them up and does the
 * stages until the next evaluation: it holds the component's position and velocity from the first
 * step to the last. The new positions go to the block's own memory, or as packets to all blocks.
 *
 * Two barriers within the block an evaluation, none between blocks. A target's sum is added in an
 * order that its number and the plan fix. */

#include "forces/pair_cuda.cuh"
#include "simulation/advance_cuda.cuh"
#include "simulation/advance_packets_cuda.cuh"

enum { block_warp = 32, block_warps = 16, block_threads = block_warps * block_warp };

/* How the work is divided: a block has this many bodies, a multiple of the targets of a warp; this
 * many warps, a power of two, share the sources of the same targets; room is for all bodies, those
 * of the last block that are not there included, and a multiple of what a warp reads in one
 * instruction. */
struct block_plan {
    int bodies, source_warps, room;
};

/* With `alone` a block is a system, else blocks share one. quad: sources that a lane reads in one
 * instruction; more are faster to read, fewer spread a small system over more lanes. */
template <typename scheme_, bool alone_, bool per_body_> struct block_variant {
    typedef scheme_ scheme;
    typedef typename scheme::real real;
    static constexpr bool alone = alone_, per_body = per_body_;
    static constexpr bool with_jerk = scheme::needs_jerk;
    static constexpr int targets = with_jerk ? 2 : 4;
    static constexpr int quad = alone ? 1 : (with_jerk ? 8 : 16) / sizeof(real);
    static constexpr int step = block_warp * quad; /* sources of a warp at a time */

    /* Of the columns: as many change from evaluation to evaluation as there are sums; then masses,
     * then ½ ε². */
    static constexpr int sums = with_jerk ? 6 : 3;
    static constexpr int of_mass = sums, of_softening = sums + 1;
    static constexpr int columns = per_body ? sums + 2 : sums + 1;
};

template <typename variant> size_t block_shared_bytes(const struct block_plan &plan)
{
    return sizeof(typename variant::real) *
           ((size_t)variant::columns * plan.room +
            (size_t)plan.source_warps * variant::sums * plan.bodies);
}

/* The columns of all bodies; then the warps' sums, [source warp][sum][body]. */
template <typename real> struct block_memory {
    real *columns, *partial;
    int room;

    __device__ real *column(int c) const
    {
        return columns + c * room;
    }
};

template <typename variant>
__device__ block_memory<typename variant::real> memory_of(const struct block_plan &plan,
                                                          void *shared)
{
    typename variant::real *const columns = (typename variant::real *)shared;
    return {columns, columns + variant::columns * plan.room, plan.room};
}

/* What does not change from step to step; positions are 0 yet, and masses past the last body. */
template <typename variant>
__device__ void prepare(const struct advance_problem &problem, const struct block_plan &plan,
                        int64_t system, const struct block_memory<typename variant::real> &memory)
{
    typedef typename variant::real real;
    for (int i = threadIdx.x; i < plan.room; i += block_threads) {
        const bool is_body = i < problem.forces.target_count;
        const int64_t at = i * stride_of(problem) + system;
        for (int c = 0; c < variant::sums; c++)
            memory.column(c)[i] = 0;
        memory.column(variant::of_mass)[i] = is_body ? mass_at<real>(problem, at) : (real)0;
        if (variant::per_body)
            memory.column(variant::of_softening)[i] =
                is_body ? half_softening2_at<real>(problem, at) : (real)0;
    }
}

template <typename real, int count> struct alignas(sizeof(real) * count) block_quad {
    real element[count];
};

/* Sums of targets on all lanes: adds them up so that the first of lane 32 k / targets has those of
 * target k. */
template <typename real, int targets, int sums> __device__ void fold(real (&sum)[targets][sums])
{
    const unsigned all_lanes = 0xffffffff;
#pragma unroll
    for (int half = targets / 2, bit = block_warp / 2; half > 0; half /= 2, bit /= 2) {
        const bool is_upper = threadIdx.x & bit;
#pragma unroll
        for (int k = 0; k < half; k++)
#pragma unroll
            for (int c = 0; c < sums; c++) {
                const real keeps = is_upper ? sum[k + half][c] : sum[k][c];
                const real gives = is_upper ? sum[k][c] : sum[k + half][c];
                sum[k][c] = keeps + __shfl_xor_sync(all_lanes, gives, bit);
            }
    }
#pragma unroll
    for (int bit = block_warp / targets / 2; bit > 0; bit /= 2)
#pragma unroll
        for (int c = 0; c < sums; c++)
            sum[0][c] += __shfl_xor_sync(all_lanes, sum[0][c], bit);
}

/* A warp's targets: positions, for jerks also velocities, and what their softening adds to s². */
template <typename variant> struct block_targets {
    typename variant::real place[variant::targets][variant::sums];
    typename variant::real softening2[variant::targets];
};

/* The sources j … of one lane on the warp's targets. */
template <typename variant>
__device__ void add_sources(const struct block_memory<typename variant::real> &memory, int j,
                            const struct block_targets<variant> &target,
                            typename variant::real (&sum)[variant::targets][variant::sums])
{
    typedef typename variant::real real;
    block_quad<real, variant::quad> source[variant::columns];
#pragma unroll
    for (int c = 0; c < variant::columns; c++)
        source[c] = *(const block_quad<real, variant::quad> *)(memory.column(c) + j);
#pragma unroll
    for (int e = 0; e < variant::quad; e++)
#pragma unroll
        for (int k = 0; k < variant::targets; k++) {
            real difference[variant::sums], s2 = target.softening2[k];
            if (variant::per_body)
                s2 += source[variant::columns - 1].element[e];
#pragma unroll
            for (int c = 0; c < variant::sums; c++)
                difference[c] = source[c].element[e] - target.place[k][c];
#pragma unroll
            for (int c = 0; c < 3; c++)
                s2 = fma(difference[c], difference[c], s2);
            add_pair(source[variant::of_mass].element[e], s2, difference, sum[k]);
        }
}

template <typename variant>
__device__ struct block_targets<variant>
targets_at(const struct advance_problem &problem, int first,
           const struct block_memory<typename variant::real> &memory) {
    typedef typename variant::real real;
    const real common = (real)problem.forces.softening2 + s2_floor<real>();
    struct block_targets<variant> target;
#pragma unroll
    for (int k = 0; k < variant::targets; k++) {
#pragma unroll
        for (int c = 0; c < variant::sums; c++)
            target.place[k][c] = memory.column(c)[first + k];
        target.softening2[k] =
            variant::per_body ? memory.column(variant::columns - 1)[first + k] + s2_floor<real>()
                              : common;
    }
    return target;
}

/* The warps' sums for the bodies from the first on, to memory.partial. */
template <typename variant>
__device__ void evaluate(const struct advance_problem &problem, const struct block_plan &plan,
                         int first, const struct block_memory<typename variant::real> &memory)
{
    typedef typename variant::real real;
    constexpr int lanes_of_target = block_warp / variant::targets;
    const int lane = threadIdx.x % block_warp, w = threadIdx.x / block_warp;
    const int part = w % plan.source_warps, sources = (int)problem.forces.source_count;
    for (int group = w / plan.source_warps; group < plan.bodies / variant::targets;
         group += block_warps / plan.source_warps) {
        const struct block_targets<variant> target =
            targets_at<variant>(problem, first + group * variant::targets, memory);
        real sum[variant::targets][variant::sums] = {};
        for (int j = part * variant::step + lane * variant::quad; j < sources;
             j += plan.source_warps * variant::step)
            add_sources<variant>(memory, j, target, sum);
        fold(sum);
        real *to = memory.partial + part * variant::sums * plan.bodies + group * variant::targets;
        if (lane % lanes_of_target == 0)
            for (int c = 0; c < variant::sums; c++)
                to[c * plan.bodies + lane / lanes_of_target] = sum[0][c];
    }
}

/* Waits for the positions of a round, and for jerks the velocities, and puts them into shared
 * memory; packets is the round's. */
template <typename variant>
__device__ void receive(const struct advance_problem &problem, const struct block_plan &plan,
                        const packet *packets, uint32_t round, int bodies,
                        const struct block_memory<typename variant::real> &memory)
{
    typedef typename variant::real real;
    constexpr int at_once = variant::with_jerk ? 1 : 2, numbers = packet_pair<real>::numbers;
    const int pairs = bodies / numbers, dimensions = problem.forces.dimensions;
    for (int p = threadIdx.x; p < pairs; p += at_once * block_threads) {
        struct packet_pair<real> pair[at_once][variant::sums];
        bool is_complete;
        do {
            is_complete = true;
#pragma unroll
            for (int u = 0; u < at_once; u++)
#pragma unroll
                for (int c = 0; c < variant::sums; c++)
                    if (c % 3 < dimensions && p + u * block_threads < pairs)
                        pair[u][c] = look_at<real>(
                            packets + (c * plan.room + (p + u * block_threads) * numbers) *
                                          packets_of<real>::count);
#pragma unroll
            for (int u = 0; u < at_once; u++)
#pragma unroll
                for (int c = 0; c < variant::sums; c++)
                    if (c % 3 < dimensions && p + u * block_threads < pairs)
                        is_complete = is_complete && is_of_round(pair[u][c], round);
        } while (!is_complete);
#pragma unroll
        for (int u = 0; u < at_once; u++)
#pragma unroll
            for (int c = 0; c < variant::sums; c++)
                if (c % 3 < dimensions && p + u * block_threads < pairs)
                    unpack(pair[u][c], memory.column(c) + (p + u * block_threads) * numbers);
    }
}

/* Where a thread finds the component that it advances. */
struct block_place {
    int component, body, i; /* of the block, of all */
};

/* Hands the new position, and for jerks the velocity, to all who need it, and waits until the block
 * has everybody's. */
template <typename variant>
__device__ void exchange(const struct advance_problem &problem, const struct block_plan &plan,
                         packet *packets, uint32_t round, const struct block_place &place,
                         const typename variant::scheme::template state<1> &now,
                         const struct block_memory<typename variant::real> &memory)
{
    typedef typename variant::real real;
    constexpr int of_number = packets_of<real>::count;
    const int all_bodies = variant::alone ? plan.bodies : (int)gridDim.x * plan.bodies;
    packet *const these = packets + (int64_t)(round % 2) * variant::sums * plan.room * of_number;
    if (place.component < problem.forces.dimensions) {
        const int at = place.component * plan.room + place.i, velocities = 3 * plan.room;
        if (variant::alone) {
            memory.columns[at] = now.x[0];
            if (variant::with_jerk)
                memory.columns[velocities + at] = now.v[0];
        } else {
            send(these + at * of_number, now.x[0], round);
            if (variant::with_jerk)
                send(these + (velocities + at) * of_number, now.v[0], round);
        }
    }
    if (!variant::alone)
        receive<variant>(problem, plan, these, round, all_bodies, memory);
    __syncthreads();
}

/* Σ of the warps' sums of a kind for a body. */
template <typename variant>
__device__ typename variant::real total(const struct block_plan &plan, int kind, int body,
                                        const struct block_memory<typename variant::real> &memory)
{
    typename variant::real sum = 0;
    for (int w = 0; w < plan.source_warps; w++)
        sum += memory.partial[(w * variant::sums + kind) * plan.bodies + body];
    return sum;
}

/* packets: two rounds of [sums][room] numbers, zeroed; unless alone. */
template <typename variant>
__global__ void __launch_bounds__(block_threads, 1)
    advance_kernel(const struct advance_problem problem, const typename variant::scheme integrator,
                   const struct block_plan plan, packet *packets)
{
    typedef typename variant::real real;
    extern __shared__ double2 shared[];
    const struct block_memory<real> memory = memory_of<variant>(plan, shared);
    const int64_t system = variant::alone ? blockIdx.x : 0;
    const int first = variant::alone ? 0 : (int)blockIdx.x * plan.bodies;

    /* The component that the thread advances, if any; one of a body that is not there stays 0. */
    const int body = threadIdx.x % plan.bodies;
    const struct block_place place = {(int)threadIdx.x / plan.bodies, body, first + body};
    const bool has_body =
        place.component < problem.forces.dimensions && place.i < problem.forces.target_count;
    const int64_t at = place.i * stride_of(problem) + system;
    typename variant::scheme::template state<1> now = {};
    if (has_body)
        load_state<real, 1>(problem, place.component, at, 0, now);

    prepare<variant>(problem, plan, system, memory);
    __syncthreads();
    integrator.begin(now);
    uint32_t round = 0;
    for (int64_t step = 1; step <= problem.steps; step++)
        for (int32_t k = 0; k < integrator.evaluation_count; k++) {
            exchange<variant>(problem, plan, packets, ++round, place, now, memory);
            evaluate<variant>(problem, plan, first, memory);
            __syncthreads();
            if (has_body) {
                now.a[0] = total<variant>(plan, place.component, body, memory);
                if constexpr (variant::with_jerk)
                    now.jerk[0] = total<variant>(plan, 3 + place.component, body, memory);
                integrator.go_on(k, step == problem.steps, now);
            }
        }
    if (has_body)
        store_state<real, 1>(problem, place.component, at, 0, now);
}

#endif
