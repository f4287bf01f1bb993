#ifndef KITH_INTEGERS_H
#define KITH_INTEGERS_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads whole numbers from an NPY file of 1 to 3 dimensions: lattice sites N × 3 or N × 2,
 * conformations B × L × 3 or B × L × 2.
 *
 *   path    a file of integers of any size, or of reals that are whole
 *   array   [out] dense, row-major, on the host: int32 if all numbers fit, else int64. Free its
 *           data with kith_integers_free; NULL on failure
 *
 * Errors: KITH_IO_ERROR, KITH_BAD_FORMAT (the message names the file, and the row of a number that
 *         is not whole), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_integers_read(const char *path, kith_array *array);

/* Takes whole numbers from reals, dense and row-major: for beads out of other formats.
 *
 *   name   what messages call the numbers
 *   array  [out] as above, rows × columns
 *
 * Errors: KITH_BAD_FORMAT (a number that is not whole, or of 2^53 and more, where another may have
 *         been rounded to it: the message names the row), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_integers_from_reals(const char *name, const double *values, int64_t rows,
                                              int64_t columns, kith_array *array);

/* Writes a dense int32 or int64 array of 1 to 3 dimensions as an NPY file, whole or not at all.
 *
 * Errors: KITH_IO_ERROR, KITH_INVALID_ARGUMENT. */
KITH_API kith_status kith_integers_write(const char *path, kith_array array);

/* Frees the data of an array that these functions made; none is fine. */
KITH_API void kith_integers_free(kith_array *array);

#ifdef __cplusplus
}
#endif

#endif
