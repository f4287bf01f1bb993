#ifndef CPU_COMBINE_H
#define CPU_COMBINE_H

#include "kith/context.h"

/* The combine of the backend table (core/backend.h). Cost: one pass over the arrays. */
kith_status cpu_combine(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                        const double *factor, const void *const *in, void *out);

#endif
