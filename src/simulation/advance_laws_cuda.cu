/* Whole steps of small systems under any law: the launches. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/law_sums.h"
#include "simulation/advance_laws_cuda.h"
#include "simulation/advance_laws_kernel_cuda.cuh"
#include "simulation/advance_program_cuda.cuh"

static_assert((int)law_steps_targets * 32 >= (int)systems_most_bodies, "room for all bodies");

using kernel_float = void(const struct law_steps_problem, const struct composition_program_float);
using kernel_double = void(const struct law_steps_problem, const struct composition_program_double);

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

template <typename real>
static kith_status start(kith_context *context, const struct advance_problem *problem)
{
    struct law_view view;
    struct law_steps_problem steps = make_steps(problem, &view);
    composition_program<real> program = program_of<real>(*problem);
    const int64_t of_block = (int64_t)law_steps_warps * (32 / steps.lanes);
    const int64_t blocks = (steps.sums.system_count + of_block - 1) / of_block;
    if (view.formula)
        return advance_laws_start_custom(context, problem, blocks, &steps, &program);
    find(view.form.kind,
         (real)0)<<<(unsigned)blocks, law_steps_warps * 32, 0, cuda_stream(context)>>>(steps,
                                                                                       program);
    return cuda_check_launch("starting the kernel that advances systems under a law");
}

bool advance_laws_has_kernel(const struct advance_problem *problem)
{
    return problem->method == advance_composition && problem->forces.self &&
           problem->forces.target_count <= systems_most_bodies &&
           problem->composition.stage_count <= composition_most_stages &&
           advance_program_of(problem).evaluation_count > 0;
}

kith_status advance_laws_cuda(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.dtype == KITH_F64 ? start<double>(context, problem)
                                             : start<float>(context, problem);
}
