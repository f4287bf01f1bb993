#ifndef TESTS_GPU_LAW_VALUES_H
#define TESTS_GPU_LAW_VALUES_H

#include "kith/context.h"
#include "law/law.h"
#include "law/law_values_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values and forces of pairs by a law of the table, on a context's GPU, all columns in its memory;
 * view is what law_look found. */
kith_status law_values_cuda(kith_context *context, const struct law_view *view, kith_dtype dtype,
                            const struct law_values_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
