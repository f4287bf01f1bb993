#ifndef IO_RECORDS_H
#define IO_RECORDS_H

#include "core/status.h"
#include "kith/table.h"

/* An element of a column of records: float32 counts as float64, int32 as int64. */
static inline bool record_is_real(const kith_array *column)
{
    return column->dtype == KITH_F64 || column->dtype == KITH_F32;
}

/* Copies elements of a column, as float64 or int64. */
void record_copy(const kith_array *column, int64_t begin, int64_t count, int64_t bytes_apart,
                 void *to);

/* A table of this many columns, at most `most`, with names and one length; *rows is that.
 *
 * Errors: KITH_INVALID_ARGUMENT. */
kith_status table_check(const char *path, int64_t most, int64_t column_count,
                        const kith_table_column *columns, int64_t *rows);

kith_status records_write_hdf5(const char *path, int64_t column_count,
                               const kith_table_column *columns, int64_t rows);

#endif
