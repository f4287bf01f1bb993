/* Forces by a formula on a GPU. */

#include <stdio.h>

#include "forces/law_sums_cuda.h"
#include "law/compiled_cuda.h"

kith_status law_sums_start_custom(kith_context *context, const struct forces_problem *problem,
                                  const struct law_sums_problem *sums,
                                  const struct law_sums_plan *plan)
{
    static const char *const names[] = {
        [law_sums_force] = "force", [law_sums_value] = "value", [law_sums_both] = "both"};
    const bool is_simple = sums->is_central && !sums->target_half_softening2;
    const bool in_double = problem->dtype == KITH_F64;
    char symbol[48];
    snprintf(symbol, sizeof symbol, "law_sums_custom_%s_%s",
             is_simple ? names[forces_law_sums(sums)] : "any", in_double ? "double" : "float");
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(context, problem->law, "forces/law_sums_kernel_cuda.cuh", symbol,
                              &kernel));
    void *partial = plan->partial;
    long long room = plan->room, part_sources = plan->part_sources;
    struct law_sums_problem given = *sums;
    void *arguments[] = {&given, &partial, &room, &part_sources};
    const struct law_launch launch = {
        {(uint32_t)plan->blocks, (uint32_t)plan->parts, 1}, {(uint32_t)plan->block, 1, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments,
                           "starting the kernel of the forces by a formula");
}
