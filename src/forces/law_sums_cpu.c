/* Forces by any law on the CPU: each pair once where that is faster, or one-sided, a thread a block
 * of targets. */

#include <stddef.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/law_limit.h"
#include "forces/law_motion.h"
#include "forces/law_sums.h"
#include "forces/law_sums_kernel.h"
#include "forces/symmetric.h"
#include "forces/targets_ranks.h"
#include "law/compiled.h"

/* Of a vector of targets and a source: a guess between the cheapest laws and the dearest. */
static const double seconds_of_vector = 1e-8;

static const struct law_sums_kernels *kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &law_sums_##isa,
    static const struct law_sums_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

static const struct forces_symmetric_laws *symmetric_kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &forces_symmetric_law_##isa,
    static const struct forces_symmetric_laws *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

static kith_status find_kernel(kith_context *context, const struct forces_problem *problem,
                               struct law_form form, law_sums_kernel **kernel)
{
    const struct law_sums_kernels *kernels = kernels_of(context);
    const bool in_double = problem->dtype == KITH_F64;
    if (form.kind != law_custom) {
        *kernel = (in_double ? kernels->find_in_double : kernels->find_in_float)(form.kind,
                                                                                 form.weighting);
        return KITH_OK;
    }
    void *function = NULL;
    KITH_TRY(law_compile_cpu(context, problem->law, "forces/law_sums_kernel.c",
                             in_double ? "law_sums_custom_double" : "law_sums_custom_float",
                             &function));
    *(void **)kernel = function;
    return KITH_OK;
}

static kith_status find_symmetric(kith_context *context, const struct forces_problem *problem,
                                  struct law_form form, forces_symmetric_kernel **kernel)
{
    const struct forces_symmetric_laws *kernels = symmetric_kernels_of(context);
    const bool in_double = problem->dtype == KITH_F64;
    if (form.kind != law_custom) {
        *kernel = (in_double ? kernels->in_double : kernels->in_float)[form.kind];
        return KITH_OK;
    }
    void *function = NULL;
    KITH_TRY(law_compile_cpu(context, problem->law, "forces/symmetric_law_kernel.c",
                             in_double ? "symmetric_custom_double" : "symmetric_custom_float",
                             &function));
    *(void **)kernel = function;
    return KITH_OK;
}

struct law_run {
    const struct law_sums_problem *sums;
    law_sums_kernel *kernel;
    struct targets_part part;
};

/* Work that nobody waits for is done as a whole. */
static const double seconds_of_short_work = 0.01;

static void compute_block(void *argument, int64_t block)
{
    const struct law_run *run = argument;
    const int64_t begin = (run->part.first + block) * kith_padding,
                  left = run->sums->target_count - begin;
    run->kernel(run->sums, begin, begin + (left < kith_padding ? left : kith_padding));
}

static double seconds_of(const kith_context *context, const struct forces_problem *problem)
{
    const double lanes =
        (double)kernels_of(context)->vector_bytes / (double)kith_dtype_bytes(problem->dtype);
    return (double)problem->target_count * (double)problem->source_count / lanes *
           seconds_of_vector;
}

/* Every target's sum goes over the sources in the same order: the bits do not depend on who does
 * which block. */
kith_status forces_law_cpu(kith_context *context, const struct forces_problem *problem)
{
    struct law_view view;
    struct law_sums_problem sums;
    struct law_run run = {.sums = &sums};
    if (problem->system_count > 0)
        return forces_law_systems_cpu(context, problem);
    if (forces_wants_rates(problem))
        return forces_law_jerk_cpu(context, problem);
    forces_law_look(problem, &view, &sums);
    KITH_TRY(find_kernel(context, problem, view.form, &run.kernel));
    const int64_t n = problem->target_count;
    const double seconds = seconds_of(context, problem);
    if (view.is_symmetric && forces_symmetric_suits(context, problem, view.formula)) {
        struct symmetric_law law = {&sums, NULL, run.kernel, seconds};
        KITH_TRY(find_symmetric(context, problem, view.form, &law.kernel));
        return forces_symmetric_cpu(context, problem, &law);
    }
    const int32_t threads = kith_threads_for(context, seconds);
    if (threads == 1 && seconds < seconds_of_short_work && !context->ranks) {
        KITH_TRY(kith_context_check_cancelled(context));
        run.kernel(&sums, 0, n);
        return KITH_OK;
    }
    KITH_TRY(forces_divide_targets(context, problem, &run.part));
    KITH_TRY(kith_for_each(context, threads, run.part.end - run.part.first, compute_block, &run));
    forces_gather_targets(context, problem, run.part);
    return KITH_OK;
}

/* Long enough for the clock, short enough to fit between two interruptions. */
enum { limit_turns = 2000, limit_runs = 100 };

double forces_law_limit(kith_context *context, const kith_law *law, kith_dtype dtype)
{
    struct law_view view;
    law_look(law, &view);
    if (view.formula)
        return 0;
    const struct forces_symmetric_laws *kernels = symmetric_kernels_of(context);
    forces_symmetric_law_limit *limit =
        (dtype == KITH_F64 ? kernels->limit_in_double : kernels->limit_in_float)[view.form.kind];
    double best = 0;
    for (int run = 0; run < limit_runs; run++) {
        const double start = kith_clock();
        const double pairs = (double)limit(&view.numbers, limit_turns);
        const double rate = pairs / (kith_clock() - start);
        best = rate > best ? rate : best;
    }
    return best;
}
