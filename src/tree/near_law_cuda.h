#ifndef TREE_NEAR_LAW_CUDA_H
#define TREE_NEAR_LAW_CUDA_H

/* Sums over pairs of points by laws that are neither 1/s nor ln s, on a GPU. */

#include "kith/context.h"
#include "kith/law.h"
#include "tree/near_law_cuda_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start the kernels of a law on the context's stream; the numbers of the task are those of the law.
 *
 *   parts  at most as many; of samples, blocks that share the sources
 *
 * Errors: those of law_compile_cuda. */
kith_status tree_meet_near_law_cuda(kith_context *context, const kith_law *law, kith_dtype dtype,
                                    struct tree_near_law_cuda *task, int64_t parts);
kith_status tree_sum_samples_law_cuda(kith_context *context, const kith_law *law, kith_dtype dtype,
                                      struct tree_samples_law_cuda *task, int32_t parts);

#ifdef __cplusplus
}
#endif

#endif
