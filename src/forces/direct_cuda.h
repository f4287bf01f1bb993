#ifndef FORCES_DIRECT_CUDA_H
#define FORCES_DIRECT_CUDA_H

#include "forces/problem.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels behind forces_direct_cuda. Pointers are to device memory, columns aligned to 16
 * bytes; work goes on the context's stream and nothing waits for it. */

/* Every target by itself: serves every problem of one system, in one launch without scratch. */
kith_status forces_one_sided_cuda(kith_context *context, const struct forces_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
