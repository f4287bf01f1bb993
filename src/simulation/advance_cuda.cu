/* Whole steps on the GPU: chooses how, and does large systems evaluation by evaluation. */

#include "simulation/advance_cuda.h"

#include "core/status.h"
#include "device/overlap.cuh"
#include "forces/scale.h"
#include "forces/solver.h"
#include "simulation/advance_cuda.cuh"
#include "simulation/advance_laws_cuda.h"

/* What is the fastest, measured on an H200 in 10³ leapfrog steps per second:
 *
 *     float   N = 6    16    24    64    96   128  1024    double   6    16    24    64    96
 *     warp     3477  1926   800                                  2651  1228   528
 *     block    1206  1219  1158   844   520   407                1079  1099   967   575   341
 *     grid      637   640   569   494   480   485   327           558   560   485   452   426
 *
 * Systems of an ensemble have a lane each if they are enough to make up for its slower steps: 6
 * bodies, 2000 systems 2.4·10⁹ system-steps a second in lanes and 3.0·10⁹ in warps, 10 000 systems
 * 11.7·10⁹ and 4.6·10⁹. */
enum { one_in_warp_bodies = 16, one_in_block_bodies = 64 };
enum { least_lane_systems_per_multiprocessor = 20 };

/* In parts of warps systems share the reading of their sources, which pays when there are warps
 * enough to hide their slower steps, this many on a multiprocessor. In 10⁶ system-steps per second,
 * leapfrog, float:
 *
 *              1000 systems    5000           100 000
 *     N      part    whole  part    whole   part    whole warp, from 33 on block
 *     9      1076    2788   4618    5165   12040    6147
 *     16      588    1857   2512    3434    6036    3967
 *     17      737    1018   2554    1572    3797    1772
 *     32      368     592   1166     899    1665     857
 *     33      444     117    923     123    1087     114
 *     64      209     105    381     109
 */
enum { least_part_warps = 5, least_part_warps_of_many_bodies = 2 };

/* The stages between two evaluations of forces, all in one kernel. Limited by memory: five words
 * read and four written for each component of a body. */
enum { stage_threads = 256 };

template <typename real>
static __global__ void stage_kernel(const struct advance_problem problem,
                                    const struct cuda_composition<real> program, int32_t first,
                                    int32_t end)
{
    wait_for_kernel_before();
    const int64_t i = (int64_t)blockIdx.x * stage_threads + threadIdx.x;
    const int c = blockIdx.y;
    if (i >= problem.forces.target_count)
        return;
    struct motion<real, 1> motion;
    motion.x[0] = ((const real *)problem.position[c])[i];
    motion.v[0] = ((const real *)problem.velocity[c])[i];
    motion.a[0] = ((const real *)problem.acceleration[c])[i];
    motion.lost_x[0] = ((const real *)problem.lost_position[c])[i];
    motion.lost_v[0] = ((const real *)problem.lost_velocity[c])[i];
    program.run(first, end, motion);
    ((real *)problem.position[c])[i] = motion.x[0];
    ((real *)problem.velocity[c])[i] = motion.v[0];
    ((real *)problem.lost_position[c])[i] = motion.lost_x[0];
    ((real *)problem.lost_velocity[c])[i] = motion.lost_v[0];
}

template <typename real>
static kith_status launch_stages(kith_context *context, const struct advance_problem *problem,
                                 const struct cuda_composition<real> &program, int32_t first,
                                 int32_t end)
{
    if (first == end)
        return KITH_OK;
    const int64_t blocks = (problem->forces.target_count + stage_threads - 1) / stage_threads;
    const dim3 grid((unsigned)blocks, (unsigned)problem->forces.dimensions);
    return launch_overlapped(context, "starting the kernel of kicks and drifts", grid,
                             stage_threads, stage_kernel<real>, *problem, program, first, end);
}

/* The launches wait for each other on the device alone, so that their number costs nothing: the
 * host is far ahead of systems as large as these. */
template <typename real>
static kith_status advance_by_evaluations(kith_context *context,
                                          const struct advance_problem *problem)
{
    const struct cuda_composition<real> program(*problem);
    KITH_TRY(launch_stages(context, problem, program, 0, program.evaluation[0]));
    for (int64_t step = 1; step <= problem->steps; step++)
        for (int32_t k = 0; k < program.evaluation_count; k++) {
            KITH_TRY(forces_solver_direct.evaluate(context, nullptr, &problem->forces));
            KITH_TRY(launch_stages(context, problem, program, program.evaluation[k],
                                   COMPOSITION_END(&program, k, step == problem->steps)));
        }
    return KITH_OK;
}

/* With G less than 2: at the floor of s² kernels then have finite G m / s³ (core/floors.h). */
static struct advance_problem in_unit(const struct advance_problem *problem)
{
    struct advance_problem result = *problem;
    const double g = problem->forces.gravitational_constant;
    if (fabs(g) >= 2)
        result.unit = forces_unit_for(fabs(g));
    result.inverse_unit = 1 / result.unit;
    result.forces.gravitational_constant = g * result.inverse_unit;
    return result;
}

static bool takes_parts(kith_context *context, const struct advance_problem *problem)
{
    const int64_t bodies = problem->forces.target_count;
    const int64_t each =
        bodies <= advance_warp_bodies ? least_part_warps : least_part_warps_of_many_bodies;
    return bodies <= advance_part_bodies &&
           advance_parts_warps(problem) >= cuda_multiprocessors(context) * each;
}

static kith_status advance_ensemble(kith_context *context, const struct advance_problem *whole)
{
    const struct advance_problem in_its_unit = in_unit(whole), *const problem = &in_its_unit;
    const int64_t bodies = problem->forces.target_count;
    const int64_t least =
        (int64_t)cuda_multiprocessors(context) * least_lane_systems_per_multiprocessor;
    if (problem->method == advance_composition && bodies >= 2 && bodies <= advance_lane_bodies &&
        problem->forces.system_count >= least)
        return advance_lanes_cuda(context, problem);
    if (takes_parts(context, problem))
        return advance_parts_cuda(context, problem);
    return bodies <= advance_warp_bodies ? advance_warps_cuda(context, problem)
                                         : advance_blocks_cuda(context, problem);
}

static kith_status advance_one(kith_context *context, const struct advance_problem *problem,
                               int64_t *done)
{
    const int64_t bodies = problem->forces.target_count;
    const struct advance_problem small = in_unit(problem);
    *done = problem->steps;
    if (bodies <= one_in_warp_bodies)
        return advance_warps_cuda(context, &small);
    if (bodies <= one_in_block_bodies)
        return advance_blocks_cuda(context, &small);
    KITH_TRY(advance_grid_cuda(context, &small, done));
    if (*done > 0 || problem->method != advance_composition)
        return KITH_OK;
    *done = problem->steps;
    return problem->forces.dtype == KITH_F64 ? advance_by_evaluations<double>(context, problem)
                                             : advance_by_evaluations<float>(context, problem);
}

/* Whether G h³, in the factors of a step, is in range as well. */
static bool fits_steps(const struct advance_problem *problem)
{
    const double h = fmax(1, fabs(problem->h));
    struct forces_problem forces = problem->forces;
    forces.gravitational_constant *= h * h * h;
    return advance_fits_masses(&forces);
}

/* Whether there is something better than combine and forces. */
static bool has_kernel(const struct advance_problem *problem)
{
    const struct forces_problem *forces = &problem->forces;
    if (forces->law)
        return advance_laws_has_kernel(problem);
    if (!forces->self || !advance_fits_masses(forces) || !fits_steps(problem))
        return false;
    if (forces->system_count > 0 && forces->target_count > advance_block_bodies)
        return false;
    return problem->method != advance_composition ||
           (problem->composition.stage_count <= composition_most_stages &&
            advance_program_of(problem).evaluation_count > 0);
}

kith_status advance_cuda(kith_context *context, const struct advance_problem *problem,
                         int64_t *done)
{
    *done = 0;
    if (!has_kernel(problem))
        return KITH_OK;
    const struct advance_problem complete = advance_aimed(problem);
    *done = problem->steps;
    if (problem->forces.target_count == 0 || problem->steps == 0)
        return KITH_OK;
    if (problem->forces.law)
        return advance_laws_cuda(context, &complete);
    return problem->forces.system_count > 0 ? advance_ensemble(context, &complete)
                                            : advance_one(context, &complete, done);
}
