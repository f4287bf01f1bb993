#ifndef KITH_NPY_H
#define KITH_NPY_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a vector or a matrix from a NumPy array file (.npy).
 *
 *   path   float64, float32 or integers, in either byte order; one or two dimensions
 *   array  [out] float64 on the host, contiguous and row-major; free its data with free(); NULL
 *          after a failure
 *
 * Errors: KITH_IO_ERROR, KITH_BAD_FORMAT (another type or number of dimensions; an integer that no
 *         double represents; a file that is truncated or too long), KITH_OUT_OF_MEMORY. The message
 *         names the path. */
KITH_API kith_status kith_npy_read(const char *path, kith_array *array);

/* Writes a vector or a matrix of float64 or float32 on the host, of any strides, as numbers of that
 * type: under a temporary name, then renamed.
 *
 * Errors: KITH_INVALID_ARGUMENT (another dtype, device or number of dimensions), KITH_IO_ERROR. */
KITH_API kith_status kith_npy_write(const char *path, kith_array array);

#ifdef __cplusplus
}
#endif

#endif
