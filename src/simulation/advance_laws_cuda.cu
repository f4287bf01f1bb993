/* Whole steps of small systems under any law: the launches. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/law_sums.h"
#include "simulation/advance_laws_cuda.h"
#include "simulation/advance_laws_kernel_cuda.cuh"
#include "simulation/advance_program.h"

static_assert((int)law_steps_most_stages >= (int)advance_max_stages, "room for a step's stages");
static_assert((int)law_steps_targets * 32 >= (int)law_systems_most_bodies, "room for all bodies");

template <typename program> static program make_program(const struct advance_problem *problem)
{
    const struct advance_program exact = advance_program_of(problem);
    program made = {};
    made.stage_count = exact.stage_count;
    made.evaluation_count = exact.evaluation_count;
    for (int32_t k = 0; k < exact.evaluation_count; k++)
        made.evaluation[k] = exact.evaluation[k];
    for (int32_t k = 0; k < 2 * exact.stage_count; k++) {
        made.kick[k] = exact.stage[k].kick;
        made.drift[k] = exact.stage[k].drift;
    }
    return made;
}

using kernel_float = void(const struct law_steps_problem, const struct law_steps_program_float);
using kernel_double = void(const struct law_steps_problem, const struct law_steps_program_double);

static kernel_float *find(enum law_kind kind, float)
{
#define ENTRY(kind) law_steps_kernel_float<law_##kind>,
    static kernel_float *const kernels[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return kernels[kind];
}

static kernel_double *find(enum law_kind kind, double)
{
#define ENTRY(kind) law_steps_kernel_double<law_##kind>,
    static kernel_double *const kernels[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return kernels[kind];
}

/* A system in as few lanes as hold it. One alone is a system too. */
static struct law_steps_problem make_steps(const struct advance_problem *problem,
                                           struct law_view *view)
{
    struct law_steps_problem steps = {};
    forces_law_look(&problem->forces, view, &steps.sums);
    if (problem->forces.system_count == 0)
        steps.sums.system_count = steps.sums.system_stride = 1;
    for (int32_t c = 0; c < problem->forces.dimensions; c++) {
        steps.position[c] = problem->position[c];
        steps.velocity[c] = problem->velocity[c];
        steps.lost_position[c] = problem->lost_position[c];
        steps.lost_velocity[c] = problem->lost_velocity[c];
        steps.sums.acceleration[c] = problem->acceleration[c];
    }
    steps.keeps_acceleration = problem->keeps_acceleration;
    steps.lanes = (int)((problem->forces.target_count + law_steps_targets - 1) / law_steps_targets);
    steps.steps = problem->steps;
    return steps;
}

template <typename real, typename program>
static kith_status start(kith_context *context, const struct advance_problem *problem)
{
    struct law_view view;
    struct law_steps_problem steps = make_steps(problem, &view);
    program stages = make_program<program>(problem);
    const int64_t of_block = (int64_t)law_steps_warps * (32 / steps.lanes);
    const int64_t blocks = (steps.sums.system_count + of_block - 1) / of_block;
    if (view.formula)
        return advance_laws_start_custom(context, problem, blocks, &steps, &stages);
    find(view.form.kind,
         (real)0)<<<(unsigned)blocks, law_steps_warps * 32, 0, cuda_stream(context)>>>(steps,
                                                                                       stages);
    return cuda_check_launch("starting the kernel that advances systems under a law");
}

bool advance_laws_has_kernel(const struct advance_problem *problem)
{
    return problem->method == advance_composition && problem->forces.self &&
           problem->forces.target_count <= law_systems_most_bodies &&
           problem->stage_count <= advance_max_stages &&
           advance_program_of(problem).evaluation_count > 0;
}

kith_status advance_laws_cuda(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.dtype == KITH_F64
               ? start<double, struct law_steps_program_double>(context, problem)
               : start<float, struct law_steps_program_float>(context, problem);
}
