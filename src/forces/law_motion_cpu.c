/* Forces by any law on the CPU where the jerk is wanted, and in many small systems. */

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/law_choice.h"
#include "forces/law_motion.h"
#include "forces/law_motion_kernel.h"
#include "forces/systems.h"
#include "law/compiled.h"

_Static_assert((int)law_systems_most_bodies == (int)systems_max_bodies,
               "the kernel has room for the bodies of a system");

/* Of a vector of pairs: a guess between the cheapest laws and the dearest. */
static const double seconds_of_vector = 2e-8;

/* A kernel by instruction set, and where formulas find it. */
struct motion_kernel {
    const struct law_motion_kernels *const *each_isa;
    const char *file, *custom_in_double, *custom_in_float;
};

#define ADDRESS_OF_JERK(isa)    &law_jerk_##isa,
#define ADDRESS_OF_SYSTEMS(isa) &law_systems_##isa,
static const struct law_motion_kernels *const jerk_each_isa[] = {KITH_EACH_ISA(ADDRESS_OF_JERK)};
static const struct law_motion_kernels *const systems_each_isa[] = {
    KITH_EACH_ISA(ADDRESS_OF_SYSTEMS)};
#undef ADDRESS_OF_JERK
#undef ADDRESS_OF_SYSTEMS

static const struct motion_kernel jerk_kernel = {jerk_each_isa, "forces/law_jerk_kernel.c",
                                                 "law_jerk_custom_double", "law_jerk_custom_float"};
static const struct motion_kernel systems_kernel = {systems_each_isa, "forces/law_systems_kernel.c",
                                                    "law_systems_custom_double",
                                                    "law_systems_custom_float"};

static kith_status find_kernel(kith_context *context, const struct forces_problem *problem,
                               const struct law_view *view, const struct motion_kernel *of,
                               law_motion_kernel **kernel)
{
    const bool in_double = problem->dtype == KITH_F64;
    const struct law_motion_kernels *kernels = of->each_isa[context->isa];
    if (!view->formula) {
        *kernel = (in_double ? kernels->in_double : kernels->in_float)[view->form.kind];
        return KITH_OK;
    }
    void *function = NULL;
    KITH_TRY(law_compile_cpu(context, problem->law, of->file,
                             in_double ? of->custom_in_double : of->custom_in_float, &function));
    *(void **)kernel = function;
    return KITH_OK;
}

struct motion_run {
    const struct law_sums_problem *sums;
    law_motion_kernel *kernel;
    int64_t count; /* of targets, or systems */
};

static void compute_block(void *argument, int64_t block)
{
    const struct motion_run *run = argument;
    const int64_t begin = block * kith_padding, left = run->count - begin;
    run->kernel(run->sums, begin, begin + (left < kith_padding ? left : kith_padding));
}

/* A thread does whole blocks of targets or systems: the bits do not depend on who does which. */
static kith_status compute(kith_context *context, const struct forces_problem *problem,
                           const struct motion_kernel *of, int64_t count, double pairs)
{
    struct law_view view;
    struct law_sums_problem sums;
    struct motion_run run = {&sums, NULL, count};
    forces_law_look(problem, &view, &sums);
    if (forces_wants_rates(problem))
        KITH_TRY(forces_check_jerk(problem->law));
    KITH_TRY(find_kernel(context, problem, &view, of, &run.kernel));
    const double lanes =
        (double)of->each_isa[context->isa]->vector_bytes / (double)kith_dtype_bytes(problem->dtype);
    return kith_for_each(context, kith_threads_for(context, pairs / lanes * seconds_of_vector),
                         kith_padded(count) / kith_padding, compute_block, &run);
}

kith_status forces_law_systems_cpu(kith_context *context, const struct forces_problem *problem)
{
    const int64_t n = problem->target_count, count = problem->system_count;
    if (n > systems_max_bodies)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the systems have %lld bodies each; give ensembles of at most %d",
                         (long long)n, (int)systems_max_bodies);
    return compute(context, problem, &systems_kernel, count, (double)count * (double)n * (double)n);
}

kith_status forces_law_jerk_cpu(kith_context *context, const struct forces_problem *problem)
{
    const int64_t n = problem->target_count;
    KITH_TRY(compute(context, problem, &jerk_kernel, n, (double)n * (double)problem->source_count));
    if (!problem->potential)
        return KITH_OK;
    const struct forces_problem values = forces_values_alone(problem);
    return forces_law_cpu(context, &values);
}
