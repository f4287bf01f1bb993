#ifndef CORE_BAD_ROW_H
#define CORE_BAD_ROW_H

#include <stdint.h>

#include "core/status.h"
#include "kith/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The error of a number in an array: "row 7 of masses has -1; give masses of at least 0". Where the
 * number is infinite, with what single precision holds: it may have been finite before it was
 * rounded. */
#define kith_fail_at_row(name, row, value, remedy)                                                 \
    (kith_bad_row_message(name, row, value, remedy), KITH_INVALID_ARGUMENT)

void kith_bad_row_message(const char *name, int64_t row, double value, const char *remedy);

/* A magnitude of coordinates up to which squares of distances are finite, at any rounding. */
double kith_largest_coordinate(kith_dtype dtype, int64_t dimensions);

/* The error of a coordinate beyond it. */
kith_status kith_fail_at_far_row(const char *name, int64_t row, double value, kith_dtype dtype,
                                 int64_t dimensions);

#ifdef __cplusplus
}
#endif

#endif
