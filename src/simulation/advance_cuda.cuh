#ifndef SIMULATION_ADVANCE_CUDA_CUH
#define SIMULATION_ADVANCE_CUDA_CUH

/* What the kernels of whole steps share: the stages of a step, and a body's motion. */

#include "simulation/advance_program.h"

/* advance_program in the kernels' precision. */
template <typename real> struct cuda_program {
    int32_t stage_count, evaluation_count;
    int32_t evaluation[advance_max_stages];
    real kick[2 * advance_max_stages], drift[2 * advance_max_stages];
};

template <typename real>
struct cuda_program<real> cuda_program_of(const struct advance_problem *problem) {
    const struct advance_program exact = advance_program_of(problem);
    struct cuda_program<real> program = {
    };
    program.stage_count = exact.stage_count;
    program.evaluation_count = exact.evaluation_count;
    for (int32_t k = 0; k < exact.evaluation_count; k++)
        program.evaluation[k] = exact.evaluation[k];
    for (int32_t k = 0; k < 2 * exact.stage_count; k++) {
        program.kick[k] = (real)exact.stage[k].kick;
        program.drift[k] = (real)exact.stage[k].drift;
    }
    return program;
}

/* What follows evaluation k of a step is the stages from evaluation[k] up to here. */
template <typename real>
__host__ __device__ int32_t end_of_run(const struct cuda_program<real> &program, int32_t k,
                                       bool last_step)
{
    if (k + 1 < program.evaluation_count)
        return program.evaluation[k + 1];
    return program.stage_count + (last_step ? 0 : program.evaluation[0]);
}

/* So many components of one body or several. */
template <typename real, int components> struct motion {
    real x[components], v[components], a[components];
};

/* The stages first … end − 1: v += kick·a, then x += drift·v. */
template <typename real, int components>
__device__ void run_stages(const struct cuda_program<real> &program, int32_t first, int32_t end,
                           struct motion<real, components> &motion)
{
    for (int32_t k = first; k < end; k++) {
        const real kick = program.kick[k], drift = program.drift[k];
        if (kick != 0)
#pragma unroll
            for (int c = 0; c < components; c++)
                motion.v[c] = fma(kick, motion.a[c], motion.v[c]);
        if (drift != 0)
#pragma unroll
            for (int c = 0; c < components; c++)
                motion.x[c] = fma(drift, motion.v[c], motion.x[c]);
    }
}

/* How many systems, and how far apart the bodies of one are. */
__host__ __device__ inline int64_t systems_of(const struct advance_problem &problem)
{
    return problem.forces.system_count > 0 ? problem.forces.system_count : 1;
}

__host__ __device__ inline int64_t stride_of(const struct advance_problem &problem)
{
    return problem.forces.system_count > 0 ? problem.forces.system_stride : 1;
}

template <typename real> __device__ real number_at(const void *column, int64_t at)
{
    return column ? ((const real *)column)[at] : (real)0;
}

/* ½ ε² of a body's own, or of all. */
template <typename real>
__device__ real half_softening2_at(const struct advance_problem &problem, int64_t at)
{
    return problem.forces.target_half_softening2
               ? ((const real *)problem.forces.target_half_softening2)[at]
               : (real)(problem.forces.softening2 / 2);
}

/* Component c of the problem's element `at` becomes number k of the motion. In 2D the third is 0.
 */
template <typename real, int components>
__device__ void load_motion(const struct advance_problem &problem, int c, int64_t at, int k,
                            struct motion<real, components> &motion)
{
    motion.x[k] = number_at<real>(problem.position[c], at);
    motion.v[k] = number_at<real>(problem.velocity[c], at);
    motion.a[k] = problem.keeps_acceleration ? number_at<real>(problem.acceleration[c], at) : 0;
}

template <typename real, int components>
__device__ void store_motion(const struct advance_problem &problem, int c, int64_t at, int k,
                             const struct motion<real, components> &motion)
{
    if (!problem.position[c])
        return;
    ((real *)problem.position[c])[at] = motion.x[k];
    ((real *)problem.velocity[c])[at] = motion.v[k];
    if (problem.keeps_acceleration)
        ((real *)problem.acceleration[c])[at] = motion.a[k];
}

#endif
