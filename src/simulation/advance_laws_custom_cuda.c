/* Whole steps of small systems under a formula on a GPU. */

#include <stddef.h>

#include "law/compiled_cuda.h"
#include "simulation/advance_laws_cuda.h"

kith_status advance_laws_start_custom(kith_context *context, const struct advance_problem *problem,
                                      int64_t blocks, struct law_steps_problem *steps,
                                      void *program)
{
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(
        context, problem->forces.law, "simulation/advance_laws_kernel_cuda.cuh",
        problem->forces.dtype == KITH_F64 ? "law_steps_custom_double" : "law_steps_custom_float",
        &kernel));
    void *arguments[] = {steps, program};
    const struct law_launch launch = {{(uint32_t)blocks, 1, 1}, {law_steps_warps * 32, 1, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments,
                           "starting the kernel that advances systems under a formula");
}
