#include "core/isa.h"
#include "core/status.h"
#include "device/context.h"
#include "forces/blocks_cpu.h"
#include "forces/direct.h"
#include "forces/direct_kernel.h"
#include "forces/law_sums.h"
#include "forces/symmetric.h"
#include "forces/systems.h"
#include "forces/systems_kernel.h"

/* Of a vector of targets and a source: measured, within a factor of two for every instruction set
 * and both precisions. */
static const double seconds_of_vector = 5e-9;

static const struct forces_direct_kernels *kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &forces_direct_##isa,
    static const struct forces_direct_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

static forces_direct_kernel *kernel_of(const kith_context *context, kith_dtype dtype)
{
    return dtype == KITH_F64 ? kernels_of(context)->in_double : kernels_of(context)->in_float;
}

double forces_seconds_of(const kith_context *context, kith_dtype dtype, int64_t targets,
                         int64_t sources)
{
    const double lanes =
        (double)kernels_of(context)->vector_bytes / (double)kith_dtype_bytes(dtype);
    return (double)targets * (double)sources / lanes * seconds_of_vector;
}

void forces_one_sided_serial(const kith_context *context, const struct forces_problem *problem)
{
    kernel_of(context, problem->dtype)(problem, 0, problem->target_count);
}

/* Every target's sum goes over the sources in the same order. */
static kith_status one_sided(kith_context *context, const struct forces_problem *problem)
{
    const struct forces_blocks blocks = {problem, kernel_of(context, problem->dtype), NULL, NULL};
    return forces_do_blocks(
        context, &blocks,
        forces_seconds_of(context, problem->dtype, problem->target_count, problem->source_count));
}

static kith_status in_systems(kith_context *context, const struct forces_problem *problem)
{
#define ADDRESS(isa) &forces_systems_##isa,
    static const struct forces_systems_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct forces_systems_kernels *kernels = each_isa[context->isa];
    const struct forces_blocks blocks = {
        problem, problem->dtype == KITH_F64 ? kernels->in_double : kernels->in_float, NULL, NULL};
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
