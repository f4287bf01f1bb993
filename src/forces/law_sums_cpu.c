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

/* A kernel by real type and instruction set, and where formulas find it. A vector of pairs takes
 * about this many seconds: a guess between the cheapest laws and the dearest. */
struct law_kernel {
    const struct law_sums_kernels *const *in_double, *const *in_float;
    const char *file, *symbol;
    double seconds_of_vector;
};

#define ADDRESSES(name, real)                                                                      \
    static const struct law_sums_kernels *const name##_##real[] = {KITH_EACH_ISA(ADDRESS)}
#define ADDRESS(isa) &law_sums_double_##isa,
ADDRESSES(sums, double);
#undef ADDRESS
#define ADDRESS(isa) &law_sums_float_##isa,
ADDRESSES(sums, float);
#undef ADDRESS
#define ADDRESS(isa) &law_jerk_double_##isa,
ADDRESSES(jerk, double);
#undef ADDRESS
#define ADDRESS(isa) &law_jerk_float_##isa,
ADDRESSES(jerk, float);
#undef ADDRESS
#define ADDRESS(isa) &law_systems_double_##isa,
ADDRESSES(systems, double);
#undef ADDRESS
#define ADDRESS(isa) &law_systems_float_##isa,
ADDRESSES(systems, float);
#undef ADDRESS
#undef ADDRESSES

static const struct law_kernel sums_kernel = {sums_double, sums_float, "forces/law_sums_kernel.c",
                                              "law_sums_custom", 1e-8};
static const struct law_kernel jerk_kernel = {jerk_double, jerk_float, "forces/law_jerk_kernel.c",
                                              "law_jerk_custom", 2e-8};
static const struct law_kernel systems_kernel = {
    systems_double, systems_float, "forces/law_systems_kernel.c", "law_systems_custom", 2e-8};

static const struct law_sums_kernels *kernels_of(const kith_context *context, kith_dtype dtype,
                                                 const struct law_kernel *of)
{
    return (dtype == KITH_F64 ? of->in_double : of->in_float)[context->isa];
}

static kith_status find_kernel(kith_context *context, const struct forces_problem *problem,
                               enum law_kind kind, const struct law_kernel *of,
                               law_sums_kernel **kernel)
{
    if (kind == law_custom)
        return law_compile_cpu(context, problem->law, of->file, of->symbol, problem->dtype, kernel);
    *kernel = kernels_of(context, problem->dtype, of)->of_kind[kind];
    return KITH_OK;
}

static forces_symmetric_kernel *symmetric_kernel_of(const kith_context *context, kith_dtype dtype,
                                                    enum law_kind kind)
{
#define IN_DOUBLE(isa) forces_symmetric_law_double_##isa,
#define IN_FLOAT(isa)  forces_symmetric_law_float_##isa,
    static forces_symmetric_kernel *const *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static forces_symmetric_kernel *const *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa][kind];
}

static kith_status find_symmetric(kith_context *context, const struct forces_problem *problem,
                                  enum law_kind kind, forces_symmetric_kernel **kernel)
{
    if (kind == law_custom)
        return law_compile_cpu(context, problem->law, "forces/symmetric_law_kernel.c",
                               "symmetric_custom", problem->dtype, kernel);
    *kernel = symmetric_kernel_of(context, problem->dtype, kind);
    return KITH_OK;
}

/* How long one thread takes for this many systems of the problem. */
static double seconds_of(const kith_context *context, const struct forces_problem *problem,
                         const struct law_kernel *kernel, int64_t systems)
{
    const double lanes = kernels_of(context, problem->dtype, kernel)->lanes;
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
