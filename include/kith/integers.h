#ifndef KITH_INTEGERS_H
#define KITH_INTEGERS_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads integers from an NPY file of 1 to 3 dimensions: lattice sites N × 3 or N × 2, conformations
 * B × L × 3 or B × L × 2.
 *
 *   path    a file of integers of any size, or of reals with integer values
 *   array   [out] contiguous, row-major, on the host: int32 if all numbers fit, else int64. Free
 *           its data with kith_integers_free; NULL on failure
 *
 * Errors: KITH_IO_ERROR, KITH_BAD_FORMAT (the message names the file, and the row of a number that
 *         is not an integer), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_integers_read(const char *path, kith_array *array);

/* Converts contiguous, row-major reals to integers: for beads from other formats.
 *
 *   name   name of the numbers in messages
 *   array  [out] as above, rows × columns
 *
 * Errors: KITH_BAD_FORMAT (a number that is not an integer, or is 2^53 or more, which may be
 *         rounded: the message names the row), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_integers_from_reals(const char *name, const double *values, int64_t rows,
                                              int64_t columns, kith_array *array);

/* Writes a contiguous int32 or int64 array of 1 to 3 dimensions as an NPY file, atomically.
 *
 * Errors: KITH_IO_ERROR, KITH_INVALID_ARGUMENT. */
KITH_API kith_status kith_integers_write(const char *path, kith_array array);

/* Frees the data of an array from these functions; an absent array is allowed. */
KITH_API void kith_integers_free(kith_array *array);

#ifdef __cplusplus
}
#endif

#endif
