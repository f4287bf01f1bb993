/* Whole steps of an ensemble, a system in each part of a warp: the launches. */

#include "core/status.h"
#include "device/cuda.h"
#include "simulation/advance_cuda.h"
#include "simulation/advance_parts_cuda.cuh"

/* Of a composition: more bodies than these have a whole warp. */
enum { bodies_of_half_warp = 3 * parts_warp / 2 };

/* The lanes of a system. Compositions take three or four bodies per lane, which share what it reads
 * of a source; the others hold more of a body, so that registers suffice for two.
 */
static int lanes_of(const struct advance_problem *problem)
{
    const int64_t bodies = problem->forces.target_count;
    const bool shares = problem->method == advance_composition && bodies <= bodies_of_half_warp;
    const int64_t of_lane = shares ? 4 : 2;
    int lanes = 4;
    while (lanes * of_lane < bodies)
        lanes *= 2;
    return lanes;
}

int64_t advance_parts_warps(const struct advance_problem *problem)
{
    const int64_t systems = parts_warp / lanes_of(problem);
    return (problem->forces.system_count + systems - 1) / systems;
}

template <typename scheme, int lanes, int bodies_of_lane>
static kith_status launch(kith_context *context, const struct advance_problem *problem)
{
    typedef struct parts_variant<scheme, lanes, bodies_of_lane, false> common;
    typedef struct parts_variant<scheme, lanes, bodies_of_lane, true> of_bodies;
    void (*const kernel)(const struct advance_problem, const scheme) =
        problem->forces.target_half_softening2 ? parts_kernel<of_bodies> : parts_kernel<common>;
    const int64_t of_block = parts_threads / lanes;
    const int64_t blocks = (problem->forces.system_count + of_block - 1) / of_block;
    kernel<<<(unsigned)blocks, parts_threads, 0, cuda_stream(context)>>>(*problem,
                                                                         scheme(*problem));
    return cuda_check_launch("starting the kernel that advances a system in a part of a warp");
}

template <typename real, int lanes>
static kith_status launch_composition(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.target_count <= 3 * lanes
               ? launch<cuda_composition<real>, lanes, 3>(context, problem)
               : launch<cuda_composition<real>, lanes, 4>(context, problem);
}

template <typename real>
static kith_status launch_compositions(kith_context *context, const struct advance_problem *problem)
{
    switch (lanes_of(problem)) {
    case 4:
        return launch_composition<real, 4>(context, problem);
    case 8:
        return launch_composition<real, 8>(context, problem);
    case 16:
        return launch<cuda_composition<real>, 16, 3>(context, problem);
    default:
        return launch<cuda_composition<real>, 32, 2>(context, problem);
    }
}

template <typename scheme>
static kith_status launch_large(kith_context *context, const struct advance_problem *problem)
{
    switch (lanes_of(problem)) {
    case 4:
        return launch<scheme, 4, 2>(context, problem);
    case 8:
        return launch<scheme, 8, 2>(context, problem);
    case 16:
        return launch<scheme, 16, 2>(context, problem);
    default:
        return launch<scheme, 32, 2>(context, problem);
    }
}

template <typename real>
static kith_status launch_method(kith_context *context, const struct advance_problem *problem)
{
    switch (problem->method) {
    case advance_runge_kutta:
        return launch_large<cuda_runge_kutta<real>>(context, problem);
    case advance_hermite:
        return launch_large<cuda_hermite<real>>(context, problem);
    default:
        return launch_compositions<real>(context, problem);
    }
}

kith_status advance_parts_cuda(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.dtype == KITH_F64 ? launch_method<double>(context, problem)
                                             : launch_method<float>(context, problem);
}
