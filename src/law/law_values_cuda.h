#ifndef LAW_LAW_VALUES_CUDA_H
#define LAW_LAW_VALUES_CUDA_H

#include "kith/array.h"
#include "kith/context.h"
#include "law/law.h"
#include "law/law_values_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values and forces of pairs on a context's GPU, all columns in its memory. numbers and weighting
 * are set here, from the law. */
kith_status law_values_cuda(kith_context *context, const kith_law *law, kith_dtype dtype,
                            struct law_values_problem problem);

/* Of a law of the table; view is what law_look found. */
kith_status law_values_cuda_built_in(kith_context *context, const struct law_view *view,
                                     kith_dtype dtype, const struct law_values_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
