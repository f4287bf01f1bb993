/* Forces in ensembles of small systems on the GPU: a thread per body, neighboring threads in
 * neighboring systems, so that all their reading is side by side. The sources of a system stay in
 * the first-level cache from one of its bodies to the next. Each pair is met from both sides. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/direct_cuda.h"
#include "forces/pair_cuda.cuh"
#include "forces/systems.h"

enum { block_systems = 32, block_bodies = 4 };

template <typename real> __device__ real number_at(const void *column, int64_t at)
{
    return column ? ((const real *)column)[at] : (real)0;
}

template <typename real, enum forces_outputs outputs>
__device__ struct pair_body<real> load_body(const struct forces_problem &problem, int64_t at)
{
    struct pair_body<real> body;
    for (int c = 0; c < 3; c++) {
        body.x[c] = number_at<real>(problem.target_position[c], at);
        body.v[c] =
            outputs == forces_jerk ? number_at<real>(problem.target_velocity[c], at) : (real)0;
    }
    body.mass = ((const real *)problem.source_mass)[at];
    body.half_softening2 = problem.target_half_softening2
                               ? ((const real *)problem.target_half_softening2)[at]
                               : (real)(problem.softening2 / 2);
    return body;
}

/* + 0: no −0 of an empty sum. */
template <typename real> __device__ void store(void *column, int64_t at, double g, real sum)
{
    if (column)
        ((real *)column)[at] = (real)(g * (double)sum + 0.0);
}

template <typename real, enum forces_outputs outputs>
static __global__ void __launch_bounds__(block_systems *block_bodies)
    systems_kernel(const struct forces_problem problem)
{
    const int64_t s = (int64_t)blockIdx.x * block_systems + threadIdx.x;
    if (s >= problem.system_count)
        return;
    for (int64_t i = threadIdx.y; i < problem.target_count; i += block_bodies) {
        const int64_t at = i * problem.system_stride + s;
        const struct pair_body<real> target = load_body<real, outputs>(problem, at);
        const real softening2 = target.half_softening2 + s2_floor<real>();
        real sums[pair_values(outputs)] = {};
        for (int64_t j = 0; j < problem.target_count; j++)
            if (j != i) {
                const struct pair_body<real> source =
                    load_body<real, outputs>(problem, j * problem.system_stride + s);
                add_pair<real, outputs>(target.x, target.v, softening2 + source.half_softening2,
                                        source, false, sums);
            }
        const double g = problem.gravitational_constant;
        for (int c = 0; c < 3; c++) {
            store(problem.acceleration[c], at, g, sums[c]);
            if constexpr (outputs == forces_jerk)
                store(problem.jerk[c], at, g, sums[4 + c]);
        }
        if constexpr (outputs != forces_acceleration)
            store(problem.potential, at, -g, sums[3]);
    }
}

template <typename real>
static kith_status launch(kith_context *context, const struct forces_problem *problem)
{
    void (*const kernels[])(const struct forces_problem) = {
        systems_kernel<real, forces_acceleration>, systems_kernel<real, forces_potential>,
        systems_kernel<real, forces_jerk>};
    const int64_t blocks = (problem->system_count + block_systems - 1) / block_systems;
    kernels[forces_outputs_of(
        problem)]<<<(unsigned)blocks, dim3(block_systems, block_bodies), 0, cuda_stream(context)>>>(
        *problem);
    return cuda_check_launch("starting the kernel of forces in many systems");
}

kith_status forces_systems_cuda(kith_context *context, const struct forces_problem *problem)
{
    return problem->dtype == KITH_F64 ? launch<double>(context, problem)
                                      : launch<float>(context, problem);
}
