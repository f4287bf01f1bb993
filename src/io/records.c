/* Tables whose columns keep their types: NumPy's structured arrays, or a dataset per column. */

#include "io/records.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "io/output.h"

enum { rows_at_once = 4096, most_columns = 16, most_header = 1024, header_alignment = 64 };

void record_copy(const kith_array *column, int64_t begin, int64_t count, int64_t bytes_apart,
                 void *to)
{
    char *next = to;
    for (int64_t k = begin; k < begin + count; k++, next += bytes_apart) {
        const int64_t at = k * column->strides[0];
        if (record_is_real(column)) {
            const double value = column->dtype == KITH_F64
                                     ? ((const double *)column->data)[at]
                                     : (double)((const float *)column->data)[at];
            memcpy(next, &value, sizeof value);
        } else {
            const int64_t value = column->dtype == KITH_I64
                                      ? ((const int64_t *)column->data)[at]
                                      : (int64_t)((const int32_t *)column->data)[at];
            memcpy(next, &value, sizeof value);
        }
    }
}

/* Version 1.0 of https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html: the text
 * is padded with blanks so that the data begin at a multiple of 64 bytes. */
static void write_header(FILE *stream, int64_t column_count, const kith_table_column *columns,
                         int64_t rows)
{
    enum { prefix = 10 };
    char text[most_header];
    int used = snprintf(text, sizeof text, "{'descr': [");
    for (int64_t k = 0; k < column_count; k++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s('%.32s', '<%c8')", k ? ", " : "",
                     columns[k].name, record_is_real(&columns[k].values) ? 'f' : 'i');
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "], 'fortran_order': False, 'shape': (%lld,), }", (long long)rows);
    const int total =
        (prefix + used + 1 + header_alignment - 1) / header_alignment * header_alignment;
    const int length = total - prefix;
    const char begin[prefix] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(length & 0xff), (char)(length >> 8)};
    fwrite(begin, 1, prefix, stream);
    fprintf(stream, "%-*s\n", length - 1, text);
}

static kith_status write_npy(const char *path, int64_t column_count,
                             const kith_table_column *columns, int64_t rows)
{
    char *block = NULL;
    kith_output *output = NULL;
    KITH_TRY(kith_allocate(rows_at_once, 8 * column_count, "table", &block));
    const kith_status status = kith_output_open(path, &output);
    if (status != KITH_OK) {
        free(block);
        return status;
    }
    FILE *stream = kith_output_stream(output);
    write_header(stream, column_count, columns, rows);
    for (int64_t begin = 0; begin < rows; begin += rows_at_once) {
        const int64_t count = rows - begin < rows_at_once ? rows - begin : rows_at_once;
        for (int64_t k = 0; k < column_count; k++)
            record_copy(&columns[k].values, begin, count, 8 * column_count, block + 8 * k);
        fwrite(block, 8 * (size_t)column_count, (size_t)count, stream);
    }
    free(block);
    return kith_output_finish(output);
}

/* names end with NULL. */
static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcasecmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

kith_status kith_table_write_records(const char *path, const char *format, int64_t column_count,
                                     const kith_table_column *columns)
{
    int64_t rows = 0;
    KITH_TRY(table_check(path, most_columns, column_count, columns, &rows));
    const char *dot = strrchr(path, '.');
    const char *name = format ? format : dot ? dot + 1 : "";
    const bool npy = is_one_of(name, (const char *const[]){"npy", NULL});
    const bool hdf5 = is_one_of(name, (const char *const[]){"h5", "hdf5", NULL});
    if (!npy && !hdf5 && !is_one_of(name, (const char *const[]){"csv", "txt", "dat", NULL}))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s: unknown extension; name the file .csv, .txt, .dat, .npy or .h5",
                         path);
    if (!npy && !hdf5)
        return kith_table_write(path, format, column_count, columns);
    if (column_count == 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "the table has 0 columns; give 1 to %d",
                         most_columns);
    return npy ? write_npy(path, column_count, columns, rows)
               : records_write_hdf5(path, column_count, columns, rows);
}
