/* Forces by any law on the CPU: each pair once where that is faster, or one-sided, also with the
 * jerk, and in many small systems. */

#include <stddef.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/blocks_cpu.h"
#include "forces/law_choice.h"
#include "forces/law_motion.h"
#include "forces/law_sums.h"
#include "forces/symmetric.h"
#include "forces/systems.h"
#include "law/compiled.h"

_Static_assert((int)law_systems_most_bodies == (int)systems_max_bodies,
               "the kernel has room for the bodies of a system");

/* A kernel by instruction set, and where formulas find it. A vector of pairs takes about this many
 * seconds: a guess between the cheapest laws and the dearest. */
struct law_kernel {
    const struct law_sums_kernels *const *each_isa;
    const char *file, *symbol;
    double seconds_of_vector;
};

#define ADDRESS_OF_SUMS(isa)    &law_sums_##isa,
#define ADDRESS_OF_JERK(isa)    &law_jerk_##isa,
#define ADDRESS_OF_SYSTEMS(isa) &law_systems_##isa,
static const struct law_sums_kernels *const sums_each_isa[] = {KITH_EACH_ISA(ADDRESS_OF_SUMS)};
static const struct law_sums_kernels *const jerk_each_isa[] = {KITH_EACH_ISA(ADDRESS_OF_JERK)};
static const struct law_sums_kernels *const systems_each_isa[] = {
    KITH_EACH_ISA(ADDRESS_OF_SYSTEMS)};
#undef ADDRESS_OF_SUMS
#undef ADDRESS_OF_JERK
#undef ADDRESS_OF_SYSTEMS

static const struct law_kernel sums_kernel = {sums_each_isa, "forces/law_sums_kernel.c",
                                              "law_sums_custom", 1e-8};
static const struct law_kernel jerk_kernel = {jerk_each_isa, "forces/law_jerk_kernel.c",
                                              "law_jerk_custom", 2e-8};
static const struct law_kernel systems_kernel = {systems_each_isa, "forces/law_systems_kernel.c",
                                                 "law_systems_custom", 2e-8};

static kith_status find_kernel(kith_context *context, const struct forces_problem *problem,
                               enum law_kind kind, const struct law_kernel *of,
                               law_sums_kernel **kernel)
{
    const struct law_sums_kernels *kernels = of->each_isa[context->isa];
    if (kind == law_custom)
        return law_compile_cpu(context, problem->law, of->file, of->symbol, problem->dtype, kernel);
    *kernel = (problem->dtype == KITH_F64 ? kernels->in_double : kernels->in_float)[kind];
    return KITH_OK;
}

static const struct forces_symmetric_laws *symmetric_kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &forces_symmetric_law_##isa,
    static const struct forces_symmetric_laws *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

static kith_status find_symmetric(kith_context *context, const struct forces_problem *problem,
                                  enum law_kind kind, forces_symmetric_kernel **kernel)
{
    const struct forces_symmetric_laws *kernels = symmetric_kernels_of(context);
    if (kind == law_custom)
        return law_compile_cpu(context, problem->law, "forces/symmetric_law_kernel.c",
                               "symmetric_custom", problem->dtype, kernel);
    *kernel = (problem->dtype == KITH_F64 ? kernels->in_double : kernels->in_float)[kind];
    return KITH_OK;
}

/* How long one thread takes for this many systems of the problem. */
static double seconds_of(const kith_context *context, const struct forces_problem *problem,
                         const struct law_kernel *kernel, int64_t systems)
{
    const double lanes = (double)kernel->each_isa[context->isa]->vector_bytes /
                         (double)kith_dtype_bytes(problem->dtype);
    return (double)systems * (double)problem->target_count * (double)problem->source_count / lanes *
           kernel->seconds_of_vector;
}

/* Accelerations and values. Every target's sum goes over the sources in the same order. */
static kith_status sums_alone(kith_context *context, const struct forces_problem *problem)
{
    struct law_view view;
    struct law_sums_problem sums;
    struct forces_blocks blocks = {.problem = problem, .sums = &sums};
    forces_law_look(problem, &view, &sums);
    KITH_TRY(find_kernel(context, problem, view.form.kind, &sums_kernel, &blocks.law_kernel));
    const double seconds = seconds_of(context, problem, &sums_kernel, 1);
    if (view.is_symmetric && forces_symmetric_suits(context, problem, view.formula)) {
        struct symmetric_law law = {&sums, NULL, blocks.law_kernel, seconds};
        KITH_TRY(find_symmetric(context, problem, view.form.kind, &law.kernel));
        return forces_symmetric_cpu(context, problem, &law);
    }
    return forces_do_blocks(context, &blocks, seconds);
}

/* The targets with their jerk, or many systems. */
static kith_status in_motion(kith_context *context, const struct forces_problem *problem)
{
    const bool in_systems = problem->system_count > 0;
    const struct law_kernel *kernel = in_systems ? &systems_kernel : &jerk_kernel;
    struct law_view view;
    struct law_sums_problem sums;
    struct forces_blocks blocks = {.problem = problem, .sums = &sums};
    forces_law_look(problem, &view, &sums);
    if (forces_wants_rates(problem))
        KITH_TRY(forces_check_jerk(problem->law));
    KITH_TRY(find_kernel(context, problem, view.form.kind, kernel, &blocks.law_kernel));
    return forces_do_blocks(
        context, &blocks,
        seconds_of(context, problem, kernel, in_systems ? problem->system_count : 1));
}

kith_status forces_law_cpu(kith_context *context, const struct forces_problem *problem)
{
    if (problem->system_count > 0)
        return in_motion(context, problem);
    if (!forces_wants_rates(problem))
        return sums_alone(context, problem);
    struct forces_problem motion = *problem;
    motion.potential = NULL;
    KITH_TRY(in_motion(context, &motion));
    if (!problem->potential)
        return KITH_OK;
    const struct forces_problem values = forces_values_alone(problem);
    return sums_alone(context, &values);
}
