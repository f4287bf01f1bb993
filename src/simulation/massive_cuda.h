#ifndef SIMULATION_MASSIVE_CUDA_H
#define SIMULATION_MASSIVE_CUDA_H

#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* pick of simulation/backend.h on a GPU. */
kith_status massive_pick_cuda(kith_context *context, kith_dtype dtype, int64_t count,
                              const int64_t *body, const void *from, void *to);

/* place of it. */
kith_status massive_place_cuda(kith_context *context, int64_t all, int64_t count,
                               const int64_t *body, const double *from, double *to);

#ifdef __cplusplus
}
#endif

#endif
