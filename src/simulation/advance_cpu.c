#include "simulation/advance_cpu.h"

#include "device/context.h"
#include "device/threads.h"
#include "forces/direct.h"
#include "forces/systems.h"
#include "simulation/advance_kernel.h"

static const struct advance_kernels *choose_kernels(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) &advance_double_##isa,
#define IN_FLOAT(isa)  &advance_float_##isa,
    static const struct advance_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct advance_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

static bool has_kernel(const struct advance_problem *problem, const struct advance_kernels *kernels)
{
    const struct forces_problem *forces = &problem->forces;
    const bool is_small =
        forces->target_count <= systems_most_bodies &&
        (forces->system_count > 0 || forces->target_count <= advance_max_vectors * kernels->lanes);
    return problem->method == advance_composition && !forces->law && forces->self && is_small &&
           problem->composition.stage_count <= composition_most_stages &&
           advance_fits_masses(forces);
}

struct systems_run {
    const struct advance_problem *problem;
    const struct composition_program_double *program;
    advance_systems_kernel *kernel;
};

static void advance_block(void *argument, int64_t block)
{
    const struct systems_run *run = argument;
    const int64_t begin = block * advance_systems_at_once;
    const int64_t left = run->problem->forces.system_count - begin;
    run->kernel(run->problem, run->program, begin,
                begin + (left < advance_systems_at_once ? left : advance_systems_at_once));
}

/* A thread does all steps of its systems, which stay in its cache; no thread waits for another
 * before the end. */
static kith_status advance_systems(kith_context *context, const struct advance_problem *problem,
                                   const struct composition_program_double *program,
                                   advance_systems_kernel *kernel)
{
    struct systems_run run = {problem, program, kernel};
    const int64_t count = problem->forces.system_count, n = problem->forces.target_count;
    const double seconds =
        forces_seconds_of(context, problem->forces.dtype, count * n, n) * (double)problem->steps;
    return kith_for_each(context, kith_threads_for(context, seconds),
                         (count + advance_systems_at_once - 1) / advance_systems_at_once,
                         advance_block, &run);
}

kith_status advance_cpu(kith_context *context, const struct advance_problem *problem, int64_t *done)
{
    *done = 0;
    const struct advance_kernels *kernels = choose_kernels(context, problem->forces.dtype);
    if (!has_kernel(problem, kernels))
        return KITH_OK;
    const struct composition_program_double program = advance_program_of(problem);
    if (program.evaluation_count == 0)
        return KITH_OK;
    *done = problem->steps;
    if (problem->forces.target_count == 0 || problem->steps == 0)
        return KITH_OK;

    const struct advance_problem complete = advance_aimed(problem);
    if (problem->forces.system_count > 0)
        return advance_systems(context, &complete, &program, kernels->systems);
    kernels->one(&complete, &program);
    return KITH_OK;
}
