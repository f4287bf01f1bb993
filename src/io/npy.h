#ifndef IO_NPY_H
#define IO_NPY_H

#include <stdint.h>

#include "core/status.h"

/* Writes a row-major matrix as an NPY file (format 1.0, little-endian float64, C order).
 *
 *   values  rows × columns
 *
 * Errors: KITH_IO_ERROR; the message names the path. */
kith_status npy_write_matrix(const char *path, int64_t rows, int64_t columns, const double *values);

#endif
