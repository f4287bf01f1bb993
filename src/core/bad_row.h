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

/* Up to this, squares of distances are finite in up to 16 dimensions (|d| is at most twice it along
 * each axis), and the remedy of coordinates that are larger. */
static inline double kith_largest_coordinate(kith_dtype dtype)
{
    return dtype == KITH_F32 ? 1e18 : 1e153;
}

static inline const char *kith_remedy_of_far(kith_dtype dtype)
{
    return dtype == KITH_F32
               ? "coordinates of at most 1e18, whose distances squared single precision holds"
               : "coordinates of at most 1e153, whose distances squared double precision holds";
}

#ifdef __cplusplus
}
#endif

#endif
