/* The values of pairs by any law, on a GPU. */

#include <stddef.h>

#include "law/compiled_cuda.h"
#include "law/law_values_cuda.h"

enum { block = 128 };

static kith_status custom(kith_context *context, const kith_law *law, kith_dtype dtype,
                          struct law_values_problem *problem)
{
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(
        context, law, "law/law_values_kernel_cuda.cuh",
        dtype == KITH_F32 ? "law_values_custom_float" : "law_values_custom_double", &kernel));
    void *arguments[] = {problem};
    const struct law_launch launch = {
        {(uint32_t)((problem->count + block - 1) / block), 1, 1}, {block, 1, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments, "the values of pairs");
}

kith_status law_values_cuda(kith_context *context, const kith_law *law, kith_dtype dtype,
                            struct law_values_problem problem)
{
    struct law_view view;
    law_look(law, &view);
    problem.numbers = view.numbers;
    problem.weighting = view.form.weighting;
    if (problem.count == 0)
        return KITH_OK;
    return view.form.kind == law_custom ? custom(context, law, dtype, &problem)
                                        : law_values_cuda_built_in(context, &view, dtype, &problem);
}
