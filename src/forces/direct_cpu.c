#include "core/isa.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/direct.h"
#include "forces/direct_kernel.h"
#include "forces/law_sums.h"
#include "forces/symmetric.h"
#include "forces/systems.h"
#include "forces/targets_ranks.h"

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

/* Work that nobody waits for is done as a whole. */
static const double seconds_of_short_work = 0.01;

struct one_sided_run {
    const struct forces_problem *problem;
    forces_direct_kernel *kernel;
    struct targets_part part;
};

static void compute_block(void *argument, int64_t block)
{
    const struct one_sided_run *run = argument;
    const int64_t begin = (run->part.first + block) * kith_padding,
                  left = run->problem->target_count - begin;
    run->kernel(run->problem, begin, begin + (left < kith_padding ? left : kith_padding));
}

/* A thread does whole blocks of targets, and every target's sum goes over the sources in the same
 * order: the bits do not depend on who does which block. */
static kith_status one_sided(kith_context *context, const struct forces_problem *problem)
{
    const int64_t n = problem->target_count;
    const double seconds = forces_seconds_of(context, problem->dtype, n, problem->source_count);
    const int32_t threads = kith_threads_for(context, seconds);
    if (threads == 1 && seconds < seconds_of_short_work && !context->ranks) {
        KITH_TRY(kith_context_check_cancelled(context));
        forces_one_sided_serial(context, problem);
        return KITH_OK;
    }
    struct one_sided_run run = {.problem = problem, .kernel = kernel_of(context, problem->dtype)};
    KITH_TRY(forces_divide_targets(context, problem, &run.part));
    KITH_TRY(kith_for_each(context, threads, run.part.end - run.part.first, compute_block, &run));
    forces_gather_targets(context, problem, run.part);
    return KITH_OK;
}

kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem)
{
    if (problem->law)
        return forces_law_cpu(context, problem);
    if (problem->system_count > 0)
        return forces_systems_cpu(context, problem);
    return forces_symmetric_suits(context, problem, false)
               ? forces_symmetric_cpu(context, problem, NULL)
               : one_sided(context, problem);
}
