#include "core/context.h"
#include "core/isa.h"
#include "core/memory.h"
#include "core/team.h"
#include "forces/direct.h"
#include "forces/direct_kernel.h"
#include "forces/law_sums.h"
#include "forces/method.h"
#include "forces/symmetric.h"
#include "forces/systems.h"

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

struct one_sided_run {
    const kith_context *context;
    const struct forces_problem *problem;
    forces_direct_kernel *kernel;
};

static void compute_block(void *argument, int64_t block)
{
    const struct one_sided_run *run = argument;
    const int64_t begin = block * kith_padding, left = run->problem->target_count - begin;
    if (!run->problem->may_be_cancelled || !kith_context_is_cancelled(run->context))
        run->kernel(run->problem, begin, begin + (left < kith_padding ? left : kith_padding));
}

/* A thread does whole blocks of targets, and every target's sum goes over the sources in the same
 * order: the bits do not depend on who does which block. */
static kith_status one_sided(kith_context *context, const struct forces_problem *problem)
{
    const int64_t n = problem->target_count;
    const int32_t threads = kith_threads_for(
        context, forces_seconds_of(context, problem->dtype, n, problem->source_count));
    if (threads == 1 && !problem->may_be_cancelled) {
        forces_one_sided_serial(context, problem);
        return KITH_OK;
    }
    struct one_sided_run run = {context, problem, kernel_of(context, problem->dtype)};
    kith_for_each(context, threads, kith_padded(n) / kith_padding, compute_block, &run);
    return problem->may_be_cancelled ? kith_context_check_cancelled(context) : KITH_OK;
}

kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem)
{
    if (problem->law)
        return forces_law_cpu(context, problem);
    if (problem->system_count > 0)
        return forces_systems_cpu(context, problem);
    switch (problem->way.method) {
    case KITH_FORCES_TILE_P:
    case KITH_FORCES_TILE_P2:
        return forces_fail_tiles_need_gpu(problem->way.method);
    case KITH_FORCES_SPLIT:
        return one_sided(context, problem);
    case KITH_FORCES_SYMMETRIC:
        KITH_TRY(forces_check_symmetric(problem, true));
        return problem->target_count > 0 ? forces_symmetric_cpu(context, problem) : KITH_OK;
    default:
        return forces_symmetric_suits(context, problem) ? forces_symmetric_cpu(context, problem)
                                                        : one_sided(context, problem);
    }
}
