#ifndef KITH_TABLE_H
#define KITH_TABLE_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A named column of numbers. */
typedef struct kith_table_column {
    const char *name;
    kith_array values; /* a vector on the host, any stride */
} kith_table_column;

/* Writes columns of equal length to a file, in the format of its extension: .csv, .txt or .dat (a
 * header line, commas, 17 digits) or .npy (rows × columns; float32 if all columns are, else
 * float64).
 *
 *   path    the file: written under a temporary name, then renamed; "-" is standard output, as CSV
 *   format  "csv" or "npy"; NULL: by the extension
 *
 * Errors: KITH_INVALID_ARGUMENT (columns of different lengths, unknown extension), KITH_IO_ERROR,
 *         KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_table_write(const char *path, const char *format, int64_t column_count,
                                      const kith_table_column *columns);

/* Writes columns with their names and types (int64 and float64): .npy is then a structured array,
 * and .h5 has one dataset per column.
 *
 *   format  "csv", "npy" or "h5"; NULL: by the extension
 *
 * Errors: as kith_table_write. */
KITH_API kith_status kith_table_write_records(const char *path, const char *format,
                                              int64_t column_count,
                                              const kith_table_column *columns);

#ifdef __cplusplus
}
#endif

#endif
