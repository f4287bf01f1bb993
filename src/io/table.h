#ifndef IO_TABLE_H
#define IO_TABLE_H

#include "io/output.h"
#include "kith/table.h"

/* A table that is written some rows at a time: the file of kith_table_write. */
struct table_writer {
    kith_output *output;
    const struct table_format *format;
    int64_t column_count;
};

/* Arguments and errors as of kith_table_write; the columns' values need not be there yet, but for
 * their types. End with table_end, after a failure too.
 *
 *   rows  of the whole table */
kith_status table_begin(const char *path, const char *format, int64_t column_count,
                        const kith_table_column *columns, int64_t rows,
                        struct table_writer *writer);

/* The next rows, the first of each column. Errors: KITH_OUT_OF_MEMORY; others by table_end. */
kith_status table_put(const struct table_writer *writer, int64_t rows,
                      const kith_table_column *columns);

/* Finishes the file, or discards it after a failure with this status, which is returned then. */
kith_status table_end(struct table_writer *writer, kith_status status);

#endif
