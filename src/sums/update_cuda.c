/* Columns updated by formulas on a GPU. */

#include "device/context.h"
#include "device/cuda.h"
#include "device/staging.h"
#include "law/compiled_cuda.h"
#include "sums/code.h"
#include "sums/update.h"

static kith_status compute(kith_context *context, const struct update_problem *problem)
{
    static const struct sums_compiler compiler = {UPDATE_CUDA_FILE, law_open_functions_cuda,
                                                  law_close_functions_cuda};
    struct update_rows rows = update_rows_of(problem);
    const int64_t blocks = (problem->count + update_cuda_threads - 1) / update_cuda_threads;
    const struct law_launch shape = {{(uint32_t)blocks, 1, 1}, {update_cuda_threads, 1, 1}, 0};
    void *code = NULL, *kernel = NULL, *arguments[] = {&rows};
    KITH_TRY(sums_code_of(context, &problem->formulas, &compiler, &code));
    if (blocks == 0)
        return KITH_OK;
    KITH_TRY(law_function_of_cuda(code, UPDATE_KERNEL_SYMBOL, &kernel));
    return law_launch_cuda(context, kernel, &shape, arguments, "starting an update of columns");
}

kith_status update_cuda(kith_context *context, struct update_problem *problem)
{
    struct update_problem there = *problem;
    struct staging staging = {.context = context};
    if (!staging_is_needed(context, problem->to[0]))
        return compute(context, problem);
    for (int32_t k = 0; k < update_most_columns; k++)
        staging_add(&staging, &there.from[k], false);
    for (int32_t k = 0; k < problem->formulas.formulas->output_count; k++)
        staging_add(&staging, &there.to[k], true);
    KITH_TRY(staging_send(&staging));
    return staging_receive(&staging, compute(context, &there));
}
