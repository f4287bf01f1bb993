#include "core/context.h"
#include "core/isa.h"
#include "core/memory.h"
#include "forces/direct.h"
#include "forces/direct_kernel.h"
#include "forces/systems.h"

/* Fewer pairs than this are done before other threads have woken up. */
enum { parallel_pairs = 1 << 16 };

static forces_direct_kernel *choose_kernel(const kith_context *context, kith_dtype dtype)
{
#define ADDRESS(isa) &forces_direct_##isa,
    static const struct forces_direct_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct forces_direct_kernels *kernels = each_isa[context->isa];
    return dtype == KITH_F64 ? kernels->in_double : kernels->in_float;
}

static bool worth_threads(const struct forces_problem *problem)
{
    const int64_t n = problem->target_count, m = problem->source_count;
    return n > kith_padding && m > parallel_pairs / n;
}

/* A thread does whole blocks of targets, and every target's sum goes over the sources in the same
 * order: the bits do not depend on who does which block. */
kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem)
{
    if (problem->system_count > 0)
        return forces_systems_cpu(context, problem);
    forces_direct_kernel *kernel = choose_kernel(context, problem->dtype);
    const int64_t n = problem->target_count;
    if (!worth_threads(problem)) {
        kernel(problem, 0, n);
        return KITH_OK;
    }

#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (int64_t begin = 0; begin < n; begin += kith_padding) {
        const int64_t left = n - begin;
        if (!problem->may_be_cancelled || !kith_context_is_cancelled(context))
            kernel(problem, begin, begin + (left < kith_padding ? left : kith_padding));
    }
    return problem->may_be_cancelled ? kith_context_check_cancelled(context) : KITH_OK;
}
