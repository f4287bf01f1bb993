/* Jerks and many systems by a formula on a GPU. */

#include <stddef.h>

#include "forces/law_motion_cuda.h"
#include "forces/law_sums_cuda.h"
#include "law/compiled_cuda.h"

kith_status law_jerk_start_custom(kith_context *context, const struct forces_problem *problem,
                                  const struct law_sums_problem *sums,
                                  const struct law_sums_plan *plan)
{
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(
        context, problem->law, "forces/law_jerk_kernel_cuda.cuh",
        problem->dtype == KITH_F64 ? "law_jerk_custom_double" : "law_jerk_custom_float", &kernel));
    void *partial = plan->partial;
    long long room = plan->room, part_sources = plan->part_sources;
    struct law_sums_problem given = *sums;
    void *arguments[] = {&given, &partial, &room, &part_sources};
    const struct law_launch launch = {
        {(uint32_t)plan->blocks, (uint32_t)plan->parts, 1}, {(uint32_t)plan->block, 1, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments,
                           "starting the kernel of the jerk by a formula");
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
        {(uint32_t)blocks, 1, 1}, {law_systems_block, law_systems_bodies, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments,
                           "starting the kernel of forces by a formula in many systems");
}
