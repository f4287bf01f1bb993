#include "kith/matrix.h"

#include <string.h>

#include "core/reals.h"
#include "device/context.h"
#include "device/threads.h"
#include "matrix/backend.h"
#include "matrix/matrix_reference.h"
#include "matrix/pack.h"
#include "matrix/stream.h"

/* What the blocks of rows take together that go from a GPU to arrays. */
static const int64_t bytes_to_arrays = 64 << 20;

/* Rows in transit to a caller's array of any strides. */
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
    char *to = (char *)taker->matrix.data + array_offset(taker->matrix, taker->first + k, 0) * each;
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
    return kith_for_each(taker->context, kith_threads_for(taker->context, seconds), count, take_row,
                         taker);
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

static kith_status compute_by_reference(const struct matrix_arguments *arguments, kith_array matrix)
{
    struct matrix_problem problem;
    KITH_TRY(matrix_pack(arguments, KITH_F64, &problem));
    return matrix_reference_fill(arguments, &problem, matrix);
}

/* In the memory of the context's device, where the matrix is too unless it is staged: then it comes
 * in blocks of rows. */
static kith_status compute_by_kernels(const struct matrix_arguments *arguments, kith_array matrix)
{
    kith_context *context = arguments->context;
    struct matrix_problem problem;
    KITH_TRY(matrix_columns(arguments, &problem));
    const struct matrix_task task = matrix_task_of(arguments, &problem);
    if (matrix_is_staged(arguments)) {
        struct array_taker taker = {.context = context, .matrix = matrix};
        return matrix_stream(context, &task, &arguments->options, bytes_to_arrays, take_into_array,
                             &taker, NULL);
    }
    const struct matrix_rows rows = all_rows(arguments, matrix);
    return matrix_backend_of(context)->fill(context, &task, &rows);
}

static kith_status compute(const struct matrix_arguments *arguments, kith_array matrix)
{
    const struct named_array result = {
        "matrix", &matrix, arguments->dtype, 2, arguments->row_count, arguments->column_count};
    KITH_TRY(matrix_check_result(arguments, &result));
    KITH_TRY(kith_context_check_cancelled(arguments->context));
    return matrix_by_reference(arguments) ? compute_by_reference(arguments, matrix)
                                          : compute_by_kernels(arguments, matrix);
}

kith_status kith_matrix_compute(kith_context *context, const kith_law *law,
                                const kith_matrix_options *options, const kith_particles *rows,
                                const kith_particles *columns, kith_array matrix)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = compute(&arguments, matrix);
    matrix_drop_arguments(&arguments);
    return status;
}
