/* Whole steps of systems of up to 32 bodies, a warp each, with all state in registers. What counts
 * is how long one step waits for the next: a body has several lanes, which share its sources and
 * add their sums up by shuffles, all of them to the same bits; no barrier, no shared memory. */

#include "core/status.h"
#include "cuda/cuda.h"
#include "forces/pair_cuda.cuh"
#include "simulation/advance_cuda.cuh"
#include "simulation/advance_cuda.h"

enum { warp = 32, block_warps = 4 };
static const unsigned all_lanes = 0xffffffff;

/* The sources of a lane: it meets the body a turn further along the ring of bodies. */
template <typename real, int turns> struct ring {
    int from[turns]; /* a lane of that body */
    real mass[turns], softening2[turns];
};

template <typename real, int slots, int turns>
__device__ struct ring<real, turns> ring_of(const struct advance_problem &problem, int64_t at,
                                            int slot, int part) {
    constexpr int parts = warp / slots;
    const int bodies = (int)problem.forces.target_count;
    const bool is_body = slot < bodies;
    const real mass = is_body ? ((const real *)problem.forces.source_mass)[at] : (real)0;
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

/* Lanes that meet nobody in a turn meet themselves without mass. */
template <typename real, int slots, int turns>
__device__ void evaluate(const struct ring<real, turns> &ring, int bodies, real g,
                         struct motion<real, 3> &motion)
{
    constexpr int parts = warp / slots;
    real sum[3] = {};
#pragma unroll
    for (int t = 0; t < turns; t++) {
        if (t > 0 && t * parts + 1 >= bodies)
            break;
        real d[3], s2 = ring.softening2[t];
#pragma unroll
        for (int c = 0; c < 3; c++) {
            d[c] = __shfl_sync(all_lanes, motion.x[c], ring.from[t]) - motion.x[c];
            s2 = fma(d[c], d[c], s2);
        }
        const real m_over_s3 = ring.mass[t] * inverse_cube(s2);
#pragma unroll
        for (int c = 0; c < 3; c++)
            sum[c] = fma(m_over_s3, d[c], sum[c]);
    }
#pragma unroll
    for (int distance = slots; distance < warp; distance *= 2)
#pragma unroll
        for (int c = 0; c < 3; c++)
            sum[c] += __shfl_xor_sync(all_lanes, sum[c], distance);
#pragma unroll
    for (int c = 0; c < 3; c++)
        motion.a[c] = g * sum[c];
}

template <typename real, int slots>
__global__ void __launch_bounds__(block_warps *warp)
    advance_kernel(const struct advance_problem problem, const struct cuda_program<real> program)
{
    constexpr int parts = warp / slots, turns = (slots - 1 + parts - 1) / parts;
    const int slot = threadIdx.x % slots, part = threadIdx.x % warp / slots;
    const int64_t s = (int64_t)blockIdx.x * block_warps + threadIdx.x / warp;
    const int bodies = (int)problem.forces.target_count;
    const int64_t at = slot * stride_of(problem) + s;
    if (s >= systems_of(problem))
        return;

    struct motion<real, 3> motion = {
    };
    for (int c = 0; c < 3 && slot < bodies; c++)
        load_motion(problem, c, at, c, motion);
    const struct ring<real, turns> ring = ring_of<real, slots, turns>(problem, at, slot, part);
    const real g = (real)problem.forces.gravitational_constant;

    run_stages(program, 0, program.evaluation[0], motion);
    for (int64_t step = 1; step <= problem.steps; step++)
        for (int32_t k = 0; k < program.evaluation_count; k++) {
            evaluate<real, slots, turns>(ring, bodies, g, motion);
            run_stages(program, program.evaluation[k],
                       end_of_run(program, k, step == problem.steps), motion);
        }
    for (int c = 0; c < 3 && slot < bodies && part == 0; c++)
        store_motion(problem, c, at, c, motion);
}

template <typename real>
static kith_status launch(kith_context *context, const struct advance_problem *problem)
{
    const int64_t bodies = problem->forces.target_count, systems = systems_of(*problem);
    void (*const kernel)(const struct advance_problem, const struct cuda_program<real>) =
        bodies <= 2    ? advance_kernel<real, 2>
        : bodies <= 4  ? advance_kernel<real, 4>
        : bodies <= 8  ? advance_kernel<real, 8>
        : bodies <= 16 ? advance_kernel<real, 16>
                       : advance_kernel<real, 32>;
    const int64_t blocks = (systems + block_warps - 1) / block_warps;
    const int warps = systems < block_warps ? (int)systems : (int)block_warps;
    kernel<<<(unsigned)blocks, warps * warp, 0, cuda_stream(context)>>>(
        *problem, cuda_program_of<real>(problem));
    return cuda_check_launch("starting the kernel that advances a system in a warp");
}

kith_status advance_warps_cuda(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.dtype == KITH_F64 ? launch<double>(context, problem)
                                             : launch<float>(context, problem);
}
