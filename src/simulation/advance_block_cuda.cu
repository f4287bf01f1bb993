/* Whole steps of one system by a block or by blocks on all multiprocessors, and of an ensemble by a
 * block a system: the launches. */

#include "core/status.h"
#include "device/cuda.h"
#include "simulation/advance_block_cuda.cuh"
#include "simulation/advance_cuda.h"

/* More bodies are left to the symmetric kernel. */
enum { grid_bodies_float = 8192, grid_bodies_double = 6143 };

static int rounded_up(int64_t count, int64_t multiple)
{
    return (int)((count + multiple - 1) / multiple * multiple);
}

/* For blocks of this many bodies. */
template <typename variant> struct block_plan plan_for(int64_t all_bodies, int64_t of_block)
{
    struct block_plan plan;
    plan.bodies = rounded_up(of_block, variant::targets);
    const int64_t blocks = (all_bodies + plan.bodies - 1) / plan.bodies;
    plan.room = rounded_up(blocks * plan.bodies, variant::step);
    plan.source_warps = 1;
    while (2 * plan.source_warps * (plan.bodies / variant::targets) <= block_warps &&
           2 * plan.source_warps * variant::step <= plan.room)
        plan.source_warps *= 2;
    return plan;
}

template <typename scheme, bool per_body>
static kith_status launch_alone(kith_context *context, const struct advance_problem *problem)
{
    typedef struct block_variant<scheme, true, per_body> variant;
    const int64_t bodies = problem->forces.target_count;
    const struct block_plan plan = plan_for<variant>(bodies, bodies);
    advance_kernel<variant>
        <<<(unsigned)systems_of(*problem), block_threads, block_shared_bytes<variant>(plan),
           cuda_stream(context)>>>(*problem, scheme(*problem), plan, nullptr);
    return cuda_check_launch("starting the kernel that advances a system in a block");
}

template <typename scheme>
static kith_status launch_alone_for_softening(kith_context *context,
                                              const struct advance_problem *problem)
{
    return problem->forces.target_half_softening2 ? launch_alone<scheme, true>(context, problem)
                                                  : launch_alone<scheme, false>(context, problem);
}

template <typename real>
static kith_status launch_method_alone(kith_context *context, const struct advance_problem *problem)
{
    switch (problem->method) {
    case advance_runge_kutta:
        return launch_alone_for_softening<cuda_runge_kutta<real>>(context, problem);
    case advance_hermite:
        return launch_alone_for_softening<cuda_hermite<real>>(context, problem);
    default:
        return launch_alone_for_softening<cuda_composition<real>>(context, problem);
    }
}

kith_status advance_blocks_cuda(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.dtype == KITH_F64 ? launch_method_alone<double>(context, problem)
                                             : launch_method_alone<float>(context, problem);
}

/* Whether all blocks, which wait for each other, are resident on the device. */
template <typename variant>
static kith_status check_fits(kith_context *context, const struct block_plan &plan, int blocks,
                              bool *fits)
{
    const size_t shared = block_shared_bytes<variant>(plan);
    int device = 0, most_shared = 0, of_multiprocessor = 0;
    *fits = false;
    KITH_TRY(cuda_check(cudaGetDevice(&device), "asking for the current device"));
    KITH_TRY(cuda_check(
        cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "asking what the device can do"));
    if (plan.bodies > advance_block_bodies || shared > (size_t)most_shared)
        return KITH_OK;
    KITH_TRY(
        cuda_check(cudaFuncSetAttribute(advance_kernel<variant>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                   "setting up the kernel that advances a system"));
    KITH_TRY(cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                            &of_multiprocessor, advance_kernel<variant>, block_threads, shared),
                        "asking what the device can do"));
    *fits = (int64_t)of_multiprocessor * cuda_multiprocessors(context) >= blocks;
    return KITH_OK;
}

template <typename scheme, bool per_body>
static kith_status launch_grid(kith_context *context, const struct advance_problem *problem,
                               int64_t *done)
{
    typedef struct block_variant<scheme, false, per_body> variant;
    const int64_t bodies = problem->forces.target_count;
    const int64_t multiprocessors = cuda_multiprocessors(context);
    struct block_plan plan =
        plan_for<variant>(bodies, (bodies + multiprocessors - 1) / multiprocessors);
    const int blocks = (int)((bodies + plan.bodies - 1) / plan.bodies);
    bool fits = false;
    *done = 0;
    KITH_TRY(check_fits<variant>(context, plan, blocks, &fits));
    if (!fits)
        return KITH_OK;

    /* Tags begin at 1. */
    void *packets = nullptr;
    const size_t bytes = sizeof(packet) * packets_of<typename scheme::real>::count * 2 *
                         variant::sums * (size_t)plan.room;
    KITH_TRY(cuda_scratch(context, (int64_t)bytes, &packets));
    KITH_TRY(
        cuda_check(cudaMemsetAsync(packets, 0, bytes, cuda_stream(context)), "clearing memory"));

    struct advance_problem complete = *problem;
    scheme integrator(*problem);
    void *arguments[] = {&complete, &integrator, &plan, &packets};
    KITH_TRY(cuda_check(cudaLaunchCooperativeKernel(
                            advance_kernel<variant>, dim3((unsigned)blocks), dim3(block_threads),
                            arguments, block_shared_bytes<variant>(plan), cuda_stream(context)),
                        "starting the kernel that advances a system on all multiprocessors"));
    *done = problem->steps;
    return KITH_OK;
}

template <typename scheme>
static kith_status launch_grid_for_softening(kith_context *context,
                                             const struct advance_problem *problem, int64_t *done)
{
    return problem->forces.target_half_softening2
               ? launch_grid<scheme, true>(context, problem, done)
               : launch_grid<scheme, false>(context, problem, done);
}

template <typename real>
static kith_status launch_method_on_grid(kith_context *context,
                                         const struct advance_problem *problem, int64_t *done)
{
    switch (problem->method) {
    case advance_runge_kutta:
        return launch_grid_for_softening<cuda_runge_kutta<real>>(context, problem, done);
    case advance_hermite:
        return launch_grid_for_softening<cuda_hermite<real>>(context, problem, done);
    default:
        return launch_grid_for_softening<cuda_composition<real>>(context, problem, done);
    }
}

kith_status advance_grid_cuda(kith_context *context, const struct advance_problem *problem,
                              int64_t *done)
{
    const bool in_double = problem->forces.dtype == KITH_F64;
    *done = 0;
    if (problem->forces.target_count > (in_double ? grid_bodies_double : grid_bodies_float))
        return KITH_OK;
    return in_double ? launch_method_on_grid<double>(context, problem, done)
                     : launch_method_on_grid<float>(context, problem, done);
}
