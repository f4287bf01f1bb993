#include "forces/systems.h"

#include "core/context.h"
#include "core/isa.h"
#include "core/memory.h"
#include "forces/systems_kernel.h"

/* Fewer pairs than this are done before other threads have woken up. */
enum { parallel_pairs = 1 << 16 };

static forces_systems_kernel *choose_kernel(const kith_context *context, kith_dtype dtype)
{
#define ADDRESS(isa) &forces_systems_##isa,
    static const struct forces_systems_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct forces_systems_kernels *kernels = each_isa[context->isa];
    return dtype == KITH_F64 ? kernels->in_double : kernels->in_float;
}

/* A thread does whole systems: the bits do not depend on who does which. */
kith_status forces_systems_cpu(kith_context *context, const struct forces_problem *problem)
{
    const int64_t n = problem->target_count, count = problem->system_count;
    if (n > systems_max_bodies)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the systems have %lld bodies each; give ensembles of at most %d",
                         (long long)n, (int)systems_max_bodies);
    forces_systems_kernel *kernel = choose_kernel(context, problem->dtype);
    if (count <= kith_padding || count <= parallel_pairs / (n * n + 1)) {
        kernel(problem, 0, count);
        return KITH_OK;
    }

#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t begin = 0; begin < count; begin += kith_padding) {
        const int64_t left = count - begin;
        if (!problem->may_be_cancelled || !kith_context_is_cancelled(context))
            kernel(problem, begin, begin + (left < kith_padding ? left : kith_padding));
    }
    return problem->may_be_cancelled ? kith_context_check_cancelled(context) : KITH_OK;
}
