/* Whole steps of systems of up to 32 bodies, a warp each, with all state in registers. What counts
 * is how long one step waits for the next: a body has several lanes, which share its sources and
 * add their sums up by shuffles, all of them to the same bits; no barrier, no shared memory. */

#include "core/status.h"
#include "device/cuda.h"
#include "simulation/advance_cuda.cuh"
#include "simulation/advance_cuda.h"

enum { warp = 32, block_warps = 4 };
static const unsigned all_lanes = 0xffffffff;

/* The sources of a lane: it meets the body a turn further along the ring of bodies. */
template <typename real, int turns> struct ring {
    int from[turns];                     /* a lane of that body */
    real mass[turns], softening2[turns]; /* mass: times G */
};

template <typename real, int slots, int turns>
__device__ struct ring<real, turns> ring_of(const struct advance_problem &problem, int64_t at,
                                            int slot, int part) {
    constexpr int parts = warp / slots;
    const int bodies = (int)problem.forces.target_count;
    const bool is_body = slot < bodies;
    const real mass = is_body ? mass_at<real>(problem, at) : (real)0;
    const real half = is_body ? half_softening2_at<real>(problem, at) : (real)0;
    struct ring<real, turns> ring;
#pragma unroll
    for (int t = 0; t < turns; t++) {
        const int ahead = t * parts + part + 1;
        const bool meets = is_body && ahead < bodies;
        ring.from[t] = meets ? (slot + ahead) % bodies : slot;
        const real of_source = __shfl_sync(all_lanes, mass, ring.from[t]);
        ring.mass[t] = meets ? of_source : (real)0;
        ring.softening2[t] = (half + s2_floor<real>()) + __shfl_sync(all_lanes, half, ring.from[t]);
    }
    return ring;
}

/* The sums of the lanes of a body. */
template <int slots, typename real, int sums>
__device__ void add_lanes(real (&sum)[sums])
{
#pragma unroll
    for (int distance = slots; distance < warp; distance *= 2)
#pragma unroll
        for (int c = 0; c < sums; c++)
            sum[c] += __shfl_xor_sync(all_lanes, sum[c], distance);
}

/* Accelerations, and jerks if there are six sums. Lanes without a partner in a turn use themselves
 * without mass. */
template <int slots, typename real, int turns, int sums>
__device__ void evaluate(const struct ring<real, turns> &ring, int bodies,
                         const struct motion<real, 3> &motion, real (&sum)[sums])
{
    constexpr int parts = warp / slots;
#pragma unroll
    for (int t = 0; t < turns; t++) {
        if (t > 0 && t * parts + 1 >= bodies)
            break;
        real difference[sums], s2 = ring.softening2[t];
#pragma unroll
        for (int c = 0; c < sums; c++) {
            const real mine = c < 3 ? motion.x[c] : motion.v[c - 3];
            difference[c] = __shfl_sync(all_lanes, mine, ring.from[t]) - mine;
        }
#pragma unroll
        for (int c = 0; c < 3; c++)
            s2 = fma(difference[c], difference[c], s2);
        add_pair(ring.mass[t], s2, difference, sum);
    }
    add_lanes<slots>(sum);
}

template <int slots, typename scheme>
__global__ void __launch_bounds__(block_warps *warp)
    advance_kernel(const struct advance_problem problem, const scheme integrator)
{
    typedef typename scheme::real real;
    constexpr int parts = warp / slots, turns = (slots - 1 + parts - 1) / parts;
    const int slot = threadIdx.x % slots, part = threadIdx.x % warp / slots;
    const int64_t s = (int64_t)blockIdx.x * block_warps + threadIdx.x / warp;
    const int bodies = (int)problem.forces.target_count;
    const int64_t at = slot * stride_of(problem) + s;
    if (s >= systems_of(problem))
        return;

    typename scheme::template state<3> now = {};
    for (int c = 0; c < 3 && slot < bodies; c++)
        load_state<real, 3>(problem, c, at, c, now);
    const struct ring<real, turns> ring = ring_of<real, slots, turns>(problem, at, slot, part);

    integrator.begin(now);
    for (int64_t step = 1; step <= problem.steps; step++)
        for (int32_t k = 0; k < integrator.evaluation_count; k++) {
            real sum[scheme::needs_jerk ? 6 : 3] = {};
            evaluate<slots, real, turns>(ring, bodies, now, sum);
#pragma unroll
            for (int c = 0; c < 3; c++) {
                now.a[c] = sum[c];
                if constexpr (scheme::needs_jerk)
                    now.jerk[c] = sum[3 + c];
            }
            integrator.go_on(k, step == problem.steps, now);
        }
    for (int c = 0; c < 3 && slot < bodies && part == 0; c++)
        store_state<real, 3>(problem, c, at, c, now);
}

template <typename scheme>
static kith_status launch(kith_context *context, const struct advance_problem *problem)
{
    const int64_t bodies = problem->forces.target_count, systems = systems_of(*problem);
    void (*const kernel)(const struct advance_problem, const scheme) =
        bodies <= 2    ? advance_kernel<2, scheme>
        : bodies <= 4  ? advance_kernel<4, scheme>
        : bodies <= 8  ? advance_kernel<8, scheme>
        : bodies <= 16 ? advance_kernel<16, scheme>
                       : advance_kernel<32, scheme>;
    const int64_t blocks = (systems + block_warps - 1) / block_warps;
    const int warps = systems < block_warps ? (int)systems : (int)block_warps;
    kernel<<<(unsigned)blocks, warps * warp, 0, cuda_stream(context)>>>(*problem, scheme(*problem));
    return cuda_check_launch("starting the kernel that advances a system in a warp");
}

template <typename real>
static kith_status launch_method(kith_context *context, const struct advance_problem *problem)
{
    switch (problem->method) {
    case advance_runge_kutta:
        return launch<cuda_runge_kutta<real>>(context, problem);
    case advance_hermite:
        return launch<cuda_hermite<real>>(context, problem);
    default:
        return launch<cuda_composition<real>>(context, problem);
    }
}

kith_status advance_warps_cuda(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.dtype == KITH_F64 ? launch_method<double>(context, problem)
                                             : launch_method<float>(context, problem);
}
