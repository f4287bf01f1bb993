/* Forces in ensembles of small systems on the GPU: gravity in the loop of small systems. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/direct_cuda.h"
#include "forces/pair_cuda.cuh"
#include "forces/systems.h"
#include "forces/systems_loop_cuda.cuh"

template <typename real> __device__ real number_at(const void *column, int64_t at)
{
    return column ? ((const real *)column)[at] : (real)0;
}

/* + 0: no −0 of an empty sum. */
template <typename real> __device__ void store(void *column, int64_t at, double g, real sum)
{
    if (column)
        ((real *)column)[at] = (real)(g * (double)sum + 0.0);
}

template <typename real, enum forces_outputs outputs>
struct gravity_in_systems {
    typedef struct forces_problem problem; typedef struct pair_body<real> body; struct constants{};
    struct sums{real value[pair_values(outputs)];};

static __device__ inline constants load(const problem &)
{
    return {};
}

static __device__ inline body load_body(const problem &problem, int64_t at)
{
    body body;
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

static __device__ inline void add(const constants &, const body &target, const body &source,
                                  sums &sums)
{
    const real softening2 = target.half_softening2 + s2_floor<real>();
    add_pair<real, outputs>(target.x, target.v, softening2 + source.half_softening2, source, false,
                            sums.value);
}

static __device__ inline void put(const problem &problem, int64_t at, const sums &sums)
{
    const double g = problem.gravitational_constant;
    for (int c = 0; c < 3; c++) {
        store(problem.acceleration[c], at, g, sums.value[c]);
        if constexpr (outputs == forces_jerk)
            store(problem.jerk[c], at, g, sums.value[4 + c]);
    }
    if constexpr (outputs != forces_acceleration)
        store(problem.potential, at, -g, sums.value[3]);
}
}
;

template <typename real, enum forces_outputs outputs>
static __global__ void __launch_bounds__(systems_block *systems_bodies)
    systems_kernel(const struct forces_problem problem)
{
    in_systems<struct gravity_in_systems<real, outputs>>(problem);
}

template <typename real>
static kith_status launch(kith_context *context, const struct forces_problem *problem)
{
    void (*const kernels[])(const struct forces_problem) = {
        systems_kernel<real, forces_acceleration>, systems_kernel<real, forces_potential>,
        systems_kernel<real, forces_jerk>};
    const int64_t blocks = (problem->system_count + systems_block - 1) / systems_block;
    kernels[forces_outputs_of(problem)]<<<(unsigned)blocks, dim3(systems_block, systems_bodies), 0,
                                          cuda_stream(context)>>>(*problem);
    return cuda_check_launch("starting the kernel of forces in many systems");
}

kith_status forces_systems_cuda(kith_context *context, const struct forces_problem *problem)
{
    return problem->dtype == KITH_F64 ? launch<double>(context, problem)
                                      : launch<float>(context, problem);
}
