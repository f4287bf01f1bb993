#include "forces/systems.h"

#include "core/isa.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/direct.h"
#include "forces/systems_kernel.h"

static forces_systems_kernel *choose_kernel(const kith_context *context, kith_dtype dtype)
{
#define ADDRESS(isa) &forces_systems_##isa,
    static const struct forces_systems_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct forces_systems_kernels *kernels = each_isa[context->isa];
    return dtype == KITH_F64 ? kernels->in_double : kernels->in_float;
}

struct systems_run {
    const struct forces_problem *problem;
    forces_systems_kernel *kernel;
};

static void compute_block(void *argument, int64_t block)
{
    const struct systems_run *run = argument;
    const int64_t begin = block * kith_padding, left = run->problem->system_count - begin;
    run->kernel(run->problem, begin, begin + (left < kith_padding ? left : kith_padding));
}

/* A thread does whole systems: the bits do not depend on who does which. */
kith_status forces_systems_cpu(kith_context *context, const struct forces_problem *problem)
{
    const int64_t n = problem->target_count, count = problem->system_count;
    if (n > systems_max_bodies)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the systems have %lld bodies each; give ensembles of at most %d",
                         (long long)n, (int)systems_max_bodies);
    struct systems_run run = {problem, choose_kernel(context, problem->dtype)};
    const double seconds = forces_seconds_of(context, problem->dtype, count * n, n);
    return kith_for_each(context, kith_threads_for(context, seconds),
                         kith_padded(count) / kith_padding, compute_block, &run);
}
