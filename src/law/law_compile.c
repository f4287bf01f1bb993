/* Formulas made ready for a context before they are used. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/context.h"
#include "law/compiled.h"
#ifdef KITH_HAS_CUDA
#include "law/compiled_cuda.h"
#endif
#include "law/formula.h"

/* The smallest kernel: a compiler that does not work fails on it. */
static kith_status compile_values(kith_context *context, const kith_law *law)
{
    void *function = NULL;
    if (context->device.kind == KITH_CPU)
        return law_compile_cpu(context, law, "law/law_values_kernel.c", "law_values_custom",
                               KITH_F64, &function);
#ifdef KITH_HAS_CUDA
    return law_compile_cuda(context, law, "law/law_values_kernel_cuda.cuh",
                            "law_values_custom_double", &function);
#else
    return kith_fail(KITH_INTERNAL_ERROR, "a context on a device that this build does not support");
#endif
}

kith_status kith_law_compile(kith_context *context, const char *expression, int64_t count,
                             const kith_law_parameter *parameters, kith_law **law)
{
    KITH_TRY(kith_check_pointer(law, "law"));
    *law = NULL;
    KITH_TRY(kith_check_pointer(context, "context"));
    if (!expression)
        return kith_fail(KITH_INVALID_ARGUMENT, "expression is NULL; give a text");
    const size_t length = strnlen(expression, formula_most_bytes + 1);
    char *text = NULL;
    KITH_TRY(kith_allocate((int64_t)length + 6, 1, "text of the law", &text));
    snprintf(text, length + 6, "expr:%.*s", (int)length, expression);
    kith_law *made = NULL;
    kith_status status = kith_law_parse(text, count, parameters, &made);
    free(text);
    if (status == KITH_OK)
        status = compile_values(context, made);
    if (status == KITH_OK)
        *law = made;
    else
        kith_law_free(made);
    return status;
}
