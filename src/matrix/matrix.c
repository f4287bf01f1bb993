#include "kith/matrix.h"

#include <string.h>

#include "core/context.h"
#include "core/team.h"
#include "io/npy_header.h"
#include "io/output.h"
#include "matrix/backend.h"
#include "matrix/element.h"
#include "matrix/matrix_reference.h"
#include "matrix/pack.h"
#include "matrix/stream.h"

/* What the blocks of rows take together that go from a GPU to arrays, and to files if the caller
 * does not say. */
static const int64_t bytes_to_arrays = 64 << 20, bytes_to_files = 256 << 20;

static struct matrix_task task_of(const struct matrix_arguments *arguments,
                                  const struct matrix_problem *problem)
{
    return (struct matrix_task){.law = arguments->law,
                                .kind = arguments->view.form.kind,
                                .dtype = arguments->dtype,
                                .problem = *problem};
}

static bool by_reference(const struct matrix_arguments *arguments)
{
    return arguments->options.method == KITH_MATRIX_REFERENCE;
}

/* Rows on their way to a caller's array of any strides. */
struct array_taker {
    kith_context *context;
    kith_array matrix;
    int64_t first;
    const char *values;
};

static void take_row(void *argument, int64_t k)
{
    const struct array_taker *taker = argument;
    const int64_t each = kith_dtype_bytes(taker->matrix.dtype), columns = taker->matrix.shape[1];
    const char *from = taker->values + k * columns * each;
    char *to =
        (char *)taker->matrix.data + matrix_offset(taker->matrix, taker->first + k, 0) * each;
    if (taker->matrix.strides[1] == 1)
        memcpy(to, from, (size_t)(columns * each));
    else
        for (int64_t c = 0; c < columns; c++)
            memcpy(to + c * taker->matrix.strides[1] * each, from + c * each, (size_t)each);
}

static kith_status take_into_array(void *argument, int64_t first, int64_t count, const void *values)
{
    struct array_taker *taker = argument;
    const double seconds = 2e-10 * (double)count * (double)taker->matrix.shape[1];
    taker->first = first;
    taker->values = values;
    kith_for_each(taker->context, kith_threads_for(taker->context, seconds), count, take_row,
                  taker);
    return KITH_OK;
}

static struct matrix_rows all_rows(const struct matrix_arguments *arguments, kith_array matrix)
{
    return (struct matrix_rows){.values = matrix.data,
                                .count = arguments->row_count,
                                .row_stride = matrix.strides[0],
                                .column_stride = matrix.strides[1],
                                .symmetric = arguments->options.symmetric,
                                .method = arguments->options.method,
                                .block = arguments->options.block};
}

static kith_status compute_on_host(const struct matrix_arguments *arguments, kith_array matrix)
{
    kith_context *context = arguments->context;
    struct matrix_packed packed;
    KITH_TRY(
        matrix_pack(arguments, by_reference(arguments) ? KITH_F64 : arguments->dtype, &packed));
    if (by_reference(arguments)) {
        matrix_reference_fill(arguments, &packed.host, matrix);
        return KITH_OK;
    }
    KITH_TRY(matrix_send(arguments, &packed));
    const struct matrix_task task = task_of(arguments, &packed.own);
    if (packed.memory == packed.own_memory) {
        const struct matrix_rows rows = all_rows(arguments, matrix);
        return context->backend->matrix->fill(context, &task, &rows);
    }
    struct array_taker taker = {.context = context, .matrix = matrix};
    return matrix_stream(context, &task, &arguments->options, bytes_to_arrays, take_into_array,
                         &taker, NULL);
}

static kith_status compute_in_place(const struct matrix_arguments *arguments, kith_array matrix)
{
    const struct matrix_backend *backend = arguments->context->backend->matrix;
    struct matrix_problem problem;
    KITH_TRY(backend->pack(arguments, kith_array_none(), &problem));
    const struct matrix_task task = task_of(arguments, &problem);
    const struct matrix_rows rows = all_rows(arguments, matrix);
    return backend->fill(arguments->context, &task, &rows);
}

static kith_status compute(const struct matrix_arguments *arguments, kith_array matrix)
{
    const struct matrix_result result = {
        "matrix",         matrix, 2, {arguments->row_count, arguments->column_count},
        arguments->dtype, true};
    KITH_TRY(matrix_check_result(arguments, &result));
    KITH_TRY(kith_context_check_cancelled(arguments->context));
    return arguments->on_device ? compute_in_place(arguments, matrix)
                                : compute_on_host(arguments, matrix);
}

kith_status kith_matrix_compute(kith_context *context, const kith_law *law,
                                const kith_matrix_options *options, const kith_particles *rows,
                                const kith_particles *columns, kith_array matrix)
{
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = compute(&arguments, matrix);
    matrix_drop_arguments(&arguments);
    return status;
}

/* Rows on their way to a file. */
struct file_taker {
    FILE *stream;
    int64_t row_bytes;
};

/* What goes wrong is told by kith_output_finish; a full disk need not be computed for to the end.
 */
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
    struct matrix_packed packed;
    KITH_TRY(matrix_pack(arguments, arguments->dtype, &packed));
    KITH_TRY(matrix_send(arguments, &packed));
    const struct matrix_task task = task_of(arguments, &packed.own);
    if (stream)
        npy_header_write_shape(stream, arguments->dtype == KITH_F32 ? "f4" : "f8", 2, shape);
    return matrix_stream(arguments->context, &task, &arguments->options,
                         memory ? memory : bytes_to_files, take_into_file, &taker, seconds);
}

static kith_status write_file(const struct matrix_arguments *arguments, int64_t memory,
                              const char *path, double *seconds)
{
    kith_output *output = NULL;
    if (arguments->on_device || by_reference(arguments))
        return kith_fail(KITH_UNSUPPORTED, "files are written from arrays on the host, and not by "
                                           "the reference; compute the matrix and write that");
    if (memory < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "memory is %lld; give bytes, or 0 for the default",
                         (long long)memory);
    if (!path)
        return write_rows(arguments, memory, NULL, seconds);
    KITH_TRY(kith_output_open(path, &output));
    const kith_status status = write_rows(arguments, memory, kith_output_stream(output), seconds);
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
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = write_file(&arguments, memory, path, seconds);
    matrix_drop_arguments(&arguments);
    return status;
}
