/* kith_matrix_write: a matrix computed in blocks of rows and written to an NPY file. */
#include <stdio.h>

#include "device/context.h"
#include "io/npy_header.h"
#include "io/output.h"
#include "matrix/pack.h"
#include "matrix/stream.h"

/* The default memory of all blocks of rows. */
static const int64_t bytes_to_files = 256 << 20;

/* Receives blocks of rows and writes them to a file. */
struct file_taker {
    FILE *stream;
    int64_t row_bytes;
};

/* kith_output_finish reports errors; nothing more is computed for a full disk. */
static kith_status take_into_file(void *argument, int64_t first, int64_t count, const void *values)
{
    const struct file_taker *taker = argument;
    (void)first;
    if (!taker->stream)
        return KITH_OK;
    fwrite(values, (size_t)taker->row_bytes, (size_t)count, taker->stream);
    return ferror(taker->stream) ? kith_fail(KITH_IO_ERROR, "the file cannot be written further")
                                 : KITH_OK;
}

static kith_status write_rows(const struct matrix_arguments *arguments, int64_t memory,
                              FILE *stream, double *seconds)
{
    const int64_t each = kith_dtype_bytes(arguments->dtype);
    const int64_t shape[] = {arguments->row_count, arguments->column_count};
    struct file_taker taker = {stream, arguments->column_count * each};
    struct matrix_problem problem;
    KITH_TRY(matrix_columns(arguments, &problem));
    const struct matrix_task task = matrix_task_of(arguments, &problem);
    if (stream)
        npy_header_write_shape(stream, arguments->dtype == KITH_F32 ? "f4" : "f8", 2, shape);
    return matrix_stream(arguments->context, &task, &arguments->options,
                         memory ? memory : bytes_to_files, take_into_file, &taker, seconds);
}

/* A matrix of many points is larger than most disks: the sum in double cannot overflow. */
static kith_status check_room(const struct matrix_arguments *arguments, const kith_output *output)
{
    const double bytes = (double)arguments->row_count * (double)arguments->column_count *
                         (double)kith_dtype_bytes(arguments->dtype);
    return kith_output_check_room(output, bytes < 0x1p63 ? (int64_t)bytes : INT64_MAX);
}

static kith_status write_file(const struct matrix_arguments *arguments, int64_t memory,
                              const char *path, double *seconds)
{
    kith_output *output = NULL;
    if (arguments->on_device || matrix_by_reference(arguments))
        return kith_fail(KITH_UNSUPPORTED, "files are written from arrays on the host, and not by "
                                           "the reference; compute the matrix and write that");
    if (memory < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "memory is %lld; give bytes, or 0 for the default",
                         (long long)memory);
    if (!path)
        return write_rows(arguments, memory, NULL, seconds);
    KITH_TRY(kith_output_open(path, &output));
    kith_status status = check_room(arguments, output);
    if (status != KITH_OK) {
        kith_output_discard(output);
        return status;
    }
    status = write_rows(arguments, memory, kith_output_stream(output), seconds);
    if (status == KITH_OK || status == KITH_IO_ERROR)
        return kith_output_finish(output);
    kith_output_discard(output);
    return status;
}

kith_status kith_matrix_write(kith_context *context, const kith_law *law,
                              const kith_matrix_options *options, const kith_particles *rows,
                              const kith_particles *columns, int64_t memory, const char *path,
                              double *seconds)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = write_file(&arguments, memory, path, seconds);
    matrix_drop_arguments(&arguments);
    return status;
}
