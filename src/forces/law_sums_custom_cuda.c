/* Forces, jerks and many systems by a formula on a GPU. */

#include <stdio.h>

#include "forces/law_motion_cuda.h"
#include "forces/law_sums_cuda.h"
#include "law/compiled_cuda.h"

/* Starts the sums of every part of the sources: the kernel of this name in this file. */
static kith_status start_parts(kith_context *context, const struct forces_problem *problem,
                               const struct law_sums_problem *sums,
                               const struct law_sums_plan *plan, const char *file,
                               const char *symbol)
{
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(context, problem->law, file, symbol, &kernel));
    void *partial = plan->partial;
    long long room = plan->room, part_sources = plan->part_sources;
    struct law_sums_problem given = *sums;
    void *arguments[] = {&given, &partial, &room, &part_sources};
    const struct law_launch launch = {
        {(uint32_t)plan->blocks, (uint32_t)plan->parts, 1}, {(uint32_t)plan->block, 1, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments,
                           "starting the kernel of sums by a formula");
}

kith_status law_sums_start_custom(kith_context *context, const struct forces_problem *problem,
                                  const struct law_sums_problem *sums,
                                  const struct law_sums_plan *plan)
{
    static const char *const names[] = {
        [law_sums_force] = "force", [law_sums_value] = "value", [law_sums_both] = "both"};
    const bool is_simple = sums->is_central && !sums->target_half_softening2;
    char symbol[48];
    snprintf(symbol, sizeof symbol, "law_sums_custom_%s_%s",
             is_simple ? names[forces_law_sums(sums)] : "any",
             problem->dtype == KITH_F64 ? "double" : "float");
    return start_parts(context, problem, sums, plan, "forces/law_sums_kernel_cuda.cuh", symbol);
}

kith_status law_jerk_start_custom(kith_context *context, const struct forces_problem *problem,
                                  const struct law_sums_problem *sums,
                                  const struct law_sums_plan *plan)
{
    return start_parts(context, problem, sums, plan, "forces/law_jerk_kernel_cuda.cuh",
                       problem->dtype == KITH_F64 ? "law_jerk_custom_double"
                                                  : "law_jerk_custom_float");
}

kith_status law_systems_start_custom(kith_context *context, const struct forces_problem *problem,
                                     const struct law_sums_problem *sums, int64_t blocks)
{
    static const char *const symbols[2][2] = {
        {"law_systems_custom_force_float", "law_systems_custom_all_float"},
        {"law_systems_custom_force_double", "law_systems_custom_all_double"}};
    const bool wants_all = problem->jerk[0] || problem->potential;
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(context, problem->law, "forces/law_systems_kernel_cuda.cuh",
                              symbols[problem->dtype == KITH_F64][wants_all], &kernel));
    struct law_sums_problem given = *sums;
    void *arguments[] = {&given};
    const struct law_launch launch = {
        {(uint32_t)blocks, 1, 1}, {systems_block, systems_bodies, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments,
                           "starting the kernel of forces by a formula in many systems");
}
