#include "core/isa.h"
#include "core/status.h"
#include "device/context.h"
#include "forces/blocks_cpu.h"
#include "forces/direct.h"
#include "forces/direct_kernel.h"
#include "forces/law_motion.h"
#include "forces/law_sums.h"
#include "forces/one_sided_slices.h"
#include "forces/symmetric.h"
#include "forces/systems.h"
#include "forces/systems_kernel.h"

/* Of a vector of targets and a source: measured, within a factor of two for every instruction set
 * and both precisions. */
static const double seconds_of_vector = 5e-9;

static const struct forces_direct_kernels *kernels_of(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) &forces_direct_double_##isa,
#define IN_FLOAT(isa)  &forces_direct_float_##isa,
    static const struct forces_direct_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct forces_direct_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

static forces_systems_kernel *systems_kernel_of(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) forces_systems_double_##isa,
#define IN_FLOAT(isa)  forces_systems_float_##isa,
    static forces_systems_kernel *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static forces_systems_kernel *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

double forces_seconds_of(const kith_context *context, kith_dtype dtype, int64_t targets,
                         int64_t sources)
{
    const double lanes = kernels_of(context, dtype)->lanes;
    return (double)targets * (double)sources / lanes * seconds_of_vector;
}

void forces_one_sided_serial(const kith_context *context, const struct forces_problem *problem)
{
    kernels_of(context, problem->dtype)->compute(problem, 0, problem->target_count);
}

/* Every target's sum goes over the sources in the same order. */
static kith_status one_sided(kith_context *context, const struct forces_problem *problem)
{
    const struct forces_blocks blocks = {problem, kernels_of(context, problem->dtype)->compute,
                                         NULL, NULL};
    return forces_do_blocks(
        context, &blocks,
        forces_seconds_of(context, problem->dtype, problem->target_count, problem->source_count));
}

static kith_status in_systems(kith_context *context, const struct forces_problem *problem)
{
    const struct forces_blocks blocks = {problem, systems_kernel_of(context, problem->dtype), NULL,
                                         NULL};
    const int64_t n = problem->target_count, targets = problem->system_count * n;
    return forces_do_blocks(context, &blocks,
                            forces_seconds_of(context, problem->dtype, targets, n));
}

kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem)
{
    KITH_TRY(systems_check(problem));
    if (problem->law)
        return forces_law_cpu(context, problem);
    if (problem->system_count > 0)
        return in_systems(context, problem);
    return forces_symmetric_suits(context, problem, false)
               ? forces_symmetric_cpu(context, problem, NULL)
               : one_sided(context, problem);
}

bool forces_direct_takes_slices(const kith_context *context, const struct forces_problem *problem)
{
    struct law_view view = {.is_symmetric = true};
    if (problem->law)
        law_look(problem->law, &view);
    if (problem->law && problem->potential && forces_wants_rates(problem)) {
        const struct forces_problem values = forces_values_alone(problem); /* a sum of their own */
        if (!forces_direct_takes_slices(context, &values))
            return false;
    }
    const bool once = view.is_symmetric && !forces_wants_rates(problem) &&
                      forces_symmetric_suits(context, problem, view.formula);
    return once ? forces_symmetric_takes_slices(context, problem, view.formula)
                : forces_takes_one_sided_slices(problem);
}
