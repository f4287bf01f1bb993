#ifndef PAIRS_NEAREST_CUDA_H
#define PAIRS_NEAREST_CUDA_H

#include "pairs/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The k nearest points, for a list that is begun, of at least one target. */
kith_status pairs_nearest_cuda(kith_context *context, const struct pairs_problem *problem,
                               kith_pairs *pairs);

#ifdef __cplusplus
}
#endif

#endif
