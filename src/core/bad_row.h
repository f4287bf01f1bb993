#ifndef CORE_BAD_ROW_H
#define CORE_BAD_ROW_H

#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The error of a number in an array: "row 7 of masses has -1; give masses of at least 0". Where the
 * number is infinite, with what single precision holds: it may have been finite before it was
 * rounded. */
#define kith_fail_at_row(name, row, value, remedy)                                                 \
    (kith_bad_row_message(name, row, value, remedy), KITH_INVALID_ARGUMENT)

void kith_bad_row_message(const char *name, int64_t row, double value, const char *remedy);

#ifdef __cplusplus
}
#endif

#endif
