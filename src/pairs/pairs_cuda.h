#ifndef PAIRS_PAIRS_CUDA_H
#define PAIRS_PAIRS_CUDA_H

#include "pairs/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* list of pairs/backend.h on a GPU. Waits once for the device, to learn how many there
 * are; twice with radii. */
kith_status pairs_cuda(kith_context *context, const struct pairs_problem *problem,
                       kith_pairs *pairs);

#ifdef __cplusplus
}
#endif

#endif
