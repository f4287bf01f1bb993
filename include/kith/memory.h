#ifndef KITH_MEMORY_H
#define KITH_MEMORY_H

#include "kith/array.h"
#include "kith/context.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory on the device of a context, for programs that keep their arrays there and do not call CUDA
 * themselves.
 *
 * kith_array_create makes a contiguous array of zeros: a vector of `rows` numbers if columns is 0,
 * else a row-major matrix. Views of it, with other shapes and strides, are the caller's to make.
 *
 *   array  [out] free it with kith_array_free, before the context; absent on failure
 *
 * Errors: KITH_INVALID_ARGUMENT (a negative size, an unknown dtype), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_array_create(kith_context *context, kith_dtype dtype, int64_t rows,
                                       int64_t columns, kith_array *array);

/* Frees an array of kith_array_create, and makes it absent; an absent one is fine. */
KITH_API void kith_array_free(kith_context *context, kith_array *array);

/* Copies numbers from one array to another of the same shape and dtype. Both are contiguous, share
 * no memory, and at least one is on the host. A copy to the host waits for the work on the
 * context's stream before it, and returns its deferred errors.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices, gaps between numbers, arrays that
 * overlap), KITH_UNSUPPORTED (an array on a GPU, but a context on the CPU), KITH_CANCELLED. */
KITH_API kith_status kith_array_copy(kith_context *context, kith_array from, kith_array to);

#ifdef __cplusplus
}
#endif

#endif
