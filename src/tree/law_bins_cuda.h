#ifndef TREE_LAW_BINS_CUDA_H
#define TREE_LAW_BINS_CUDA_H

#include "tree/law_bins.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As tree_law_bins_create, with the arrays in the device's memory. The context keeps the bins of
 * the last call, for others with the same law, order, precision, softening and power of two of the
 * extent.
 *
 *   bins  [out] the context's, until its next call */
kith_status tree_make_law_cuda(kith_context *context, const struct tree_problem *problem,
                               int32_t order, double extent, const struct tree_law_bins **bins);

#ifdef __cplusplus
}
#endif

#endif
