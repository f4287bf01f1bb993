#include "kith/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/reals.h"
#include "core/status.h"
#include "io/npy_header.h"
#include "io/output.h"
#include "io/records.h"
#include "io/table.h"

static double value_at(const kith_array *column, int64_t row)
{
    const char *at =
        (const char *)column->data + row * column->strides[0] * kith_dtype_bytes(column->dtype);
    switch (column->dtype) {
    case KITH_F32:
        return *(const float *)(const void *)at;
    case KITH_I64:
        return (double)*(const int64_t *)(const void *)at;
    case KITH_I32:
        return *(const int32_t *)(const void *)at;
    default:
        return *(const double *)(const void *)at;
    }
}

static void write_cell(FILE *stream, const kith_array *column, int64_t row)
{
    if (column->dtype == KITH_I64)
        fprintf(stream, "%lld",
                (long long)((const int64_t *)column->data)[row * column->strides[0]]);
    else
        fprintf(stream, "%.17g", value_at(column, row));
}

/* The formats of a table: a row a format. */
struct table_format {
    const char *name;
    void (*begin)(FILE *stream, const struct table_writer *writer, int64_t rows,
                  const kith_table_column *columns);
    kith_status (*put)(FILE *stream, const struct table_writer *writer, int64_t rows,
                       const kith_table_column *columns);
};

static void begin_csv(FILE *stream, const struct table_writer *writer, int64_t rows,
                      const kith_table_column *columns)
{
    (void)rows;
    for (int64_t k = 0; k < writer->column_count; k++)
        fprintf(stream, "%s%s", k ? "," : "", columns[k].name);
    fputc('\n', stream);
}

static kith_status put_csv(FILE *stream, const struct table_writer *writer, int64_t rows,
                           const kith_table_column *columns)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < writer->column_count; k++) {
            if (k)
                fputc(',', stream);
            write_cell(stream, &columns[k].values, i);
        }
        fputc('\n', stream);
    }
    return KITH_OK;
}

/* float32 if all columns are, else float64. */
static kith_dtype dtype_of(int64_t column_count, const kith_table_column *columns)
{
    for (int64_t k = 0; k < column_count; k++)
        if (columns[k].values.dtype != KITH_F32)
            return KITH_F64;
    return column_count > 0 ? KITH_F32 : KITH_F64;
}

static void begin_npy(FILE *stream, const struct table_writer *writer, int64_t rows,
                      const kith_table_column *columns)
{
    const int64_t shape[] = {rows, writer->column_count};
    const kith_dtype dtype = dtype_of(writer->column_count, columns);
    npy_header_write_shape(stream, dtype == KITH_F32 ? "f4" : "f8", 2, shape);
}

enum { rows_at_once = 1024 };

static kith_status put_npy(FILE *stream, const struct table_writer *writer, int64_t rows,
                           const kith_table_column *columns)
{
    const int64_t width = writer->column_count;
    const kith_dtype dtype = dtype_of(width, columns);
    void *matrix = NULL;
    KITH_TRY(kith_allocate(rows_at_once, width * kith_dtype_bytes(dtype), "table", &matrix));
    for (int64_t first = 0; first < rows; first += rows_at_once) {
        const int64_t count = rows - first < rows_at_once ? rows - first : rows_at_once;
        for (int64_t i = 0; i < count; i++)
            for (int64_t k = 0; k < width; k++)
                real_set(dtype, matrix, i * width + k, value_at(&columns[k].values, first + i));
        if (width > 0)
            fwrite(matrix, (size_t)(width * kith_dtype_bytes(dtype)), (size_t)count, stream);
    }
    free(matrix);
    return KITH_OK;
}

static const struct table_format formats[] = {{"csv", begin_csv, put_csv},
                                              {"npy", begin_npy, put_npy},
                                              {"txt", begin_csv, put_csv},
                                              {"dat", begin_csv, put_csv}};

enum { format_count = sizeof formats / sizeof formats[0], most_columns = INT32_MAX };

/* A vector on the host that has a name. */
static kith_status check_column(const kith_table_column *column, int64_t k)
{
    const kith_array *values = &column->values;
    if (!column->name)
        return kith_fail(KITH_INVALID_ARGUMENT, "column %lld (from 0) has no name; give it one",
                         (long long)k);
    if (values->ndim != 1 || values->device.kind != KITH_CPU ||
        (unsigned)values->dtype > KITH_I32 || (!values->data && values->shape[0] > 0))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "column %.60s has %d dimensions and %lld elements; give a vector on the "
                         "host",
                         column->name, (int)values->ndim, (long long)values->shape[0]);
    return kith_check_extent(values, column->name);
}

kith_status table_check(const char *path, int64_t most, int64_t column_count,
                        const kith_table_column *columns, int64_t *rows)
{
    KITH_TRY(kith_check_pointer(path, "path"));
    if (column_count < 0 || column_count > most)
        return kith_fail(KITH_INVALID_ARGUMENT, "the table has %lld columns; give at most %lld",
                         (long long)column_count, (long long)most);
    if (column_count > 0)
        KITH_TRY(kith_check_pointer(columns, "columns"));
    for (int64_t k = 0; k < column_count; k++) {
        KITH_TRY(check_column(&columns[k], k));
        if (columns[k].values.shape[0] != columns[0].values.shape[0])
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "column %.60s has %lld rows and column %.60s %lld; give columns of "
                             "one length",
                             columns[0].name, (long long)columns[0].values.shape[0],
                             columns[k].name, (long long)columns[k].values.shape[0]);
    }
    *rows = column_count > 0 ? columns[0].values.shape[0] : 0;
    return KITH_OK;
}

static const struct table_format *format_named(const char *name)
{
    for (int k = 0; k < format_count; k++)
        if (strcasecmp(name, formats[k].name) == 0)
            return &formats[k];
    return NULL;
}

kith_status table_begin(const char *path, const char *format, int64_t column_count,
                        const kith_table_column *columns, int64_t rows, struct table_writer *writer)
{
    const bool to_stdout = strcmp(path, "-") == 0;
    const char *dot = strrchr(path, '.');
    const char *name = format ? format : to_stdout ? "csv" : dot ? dot + 1 : "";
    struct c_locale locale;
    *writer = (struct table_writer){.column_count = column_count, .format = format_named(name)};
    if (!writer->format)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s: unknown extension; name the file .csv, .txt, .dat or .npy", path);
    KITH_TRY(c_locale_enter(&locale));
    const kith_status status = kith_output_open(to_stdout ? "/dev/stdout" : path, &writer->output);
    if (status == KITH_OK)
        writer->format->begin(kith_output_stream(writer->output), writer, rows, columns);
    c_locale_leave(&locale);
    return status;
}

kith_status table_put(const struct table_writer *writer, int64_t rows,
                      const kith_table_column *columns)
{
    struct c_locale locale;
    KITH_TRY(c_locale_enter(&locale));
    const kith_status status =
        writer->format->put(kith_output_stream(writer->output), writer, rows, columns);
    c_locale_leave(&locale);
    return status;
}

kith_status table_end(struct table_writer *writer, kith_status status)
{
    kith_output *output = writer->output;
    writer->output = NULL;
    if (status == KITH_OK && output)
        return kith_output_finish(output);
    kith_output_discard(output);
    return status;
}

kith_status kith_table_write(const char *path, const char *format, int64_t column_count,
                             const kith_table_column *columns)
{
    int64_t rows = 0;
    struct table_writer writer;
    KITH_TRY(table_check(path, most_columns, column_count, columns, &rows));
    kith_status status = table_begin(path, format, column_count, columns, rows, &writer);
    if (status == KITH_OK)
        status = table_put(&writer, rows, columns);
    return table_end(&writer, status);
}
