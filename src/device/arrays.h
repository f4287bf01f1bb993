#ifndef DEVICE_ARRAYS_H
#define DEVICE_ARRAYS_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What every public function checks of the arrays that it takes. All checks fail with
 * KITH_INVALID_ARGUMENT unless said otherwise; messages begin with the array's name. */

/* "float64", "int32"; "an unknown dtype". */
const char *kith_dtype_name(kith_dtype dtype);

/* "on cuda:0" or "in the host's memory", in text. */
const char *kith_device_text(kith_device device, char text[32]);

bool kith_same_device(kith_device a, kith_device b);

/* Columns of a matrix; 1 of a vector. */
static inline int64_t kith_array_columns(kith_array array)
{
    return array.ndim == 2 ? array.shape[1] : 1;
}

/* The same elements at the same addresses. */
bool kith_same_view(kith_array a, kith_array b);

/* The array; one without dimensions is absent, whatever its address: without that. */
kith_array kith_array_or_none(kith_array array);

/* A context takes arrays on the host and on its own device. Errors: KITH_UNSUPPORTED too (the
 * context computes on the CPU). */
kith_status kith_check_device(const kith_context *context, kith_array array, const char *name);

/* An array with the name that messages give it, and what it must be like. */
struct named_array {
    const char *name;
    const kith_array *array;
    kith_dtype dtype;
    int32_t ndim;    /* 1 or 2 */
    int64_t rows;    /* −1: any */
    int64_t columns; /* of a matrix; 1 of a vector */
};

/* A number a row and column of positions: n × 2 or n × 3 reals. */
kith_status kith_check_positions(kith_array positions, const char *name);

/* The same of points that need not be of our space: n × 1 to n × KITH_MAX_COORDINATES. */
kith_status kith_check_points(kith_array positions, const char *name);

/* Device, dtype, shape, extent and memory of an array that may be none; first is the array, named
 * first_name, on whose device it must be. */
kith_status kith_check_array(const kith_context *context, const struct named_array *named,
                             const kith_array *first, const char *first_name);

/* No two elements of an output have one address. */
kith_status kith_check_output(const struct named_array *output);

/* The output has no byte in common with the other array (memory_overlap.h). Arrays may interleave.
 * Errors: KITH_INVALID_ARGUMENT. */
kith_status kith_check_overlap(const struct named_array *output, const kith_array *other,
                               const char *other_name);

#ifdef __cplusplus
}
#endif

#endif
