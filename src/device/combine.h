#ifndef DEVICE_COMBINE_H
#define DEVICE_COMBINE_H

#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The combine of device/services.h. Cost: one pass over the arrays. */
kith_status combine_cpu(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                        const double *factor, const void *const *in, void *out);
kith_status combine_cuda(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                         const double *factor, const void *const *in, void *out);

/* The accumulate of device/services.h. Cost: one pass over the arrays. */
kith_status accumulate_cpu(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                           const double *factor, const void *const *in, void *to, void *lost);
kith_status accumulate_cuda(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                            const double *factor, const void *const *in, void *to, void *lost);

#ifdef __cplusplus
}
#endif

#endif
