/* What is computed of the matrix without keeping it. */

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "kith/matrix.h"
#include "matrix/backend.h"
#include "matrix/matrix_reference.h"
#include "matrix/pack.h"
#include "matrix/stream.h"

/* What is to be found of each row, and where it goes. */
struct reduction {
    struct matrix_reduction what;
    bool wants_place; /* at, not the value */
    kith_array b, to;
};

/* What the rows have found, in the backend's memory; at of least values only. */
struct found {
    double *value;
    int64_t *at;
};

static const char results[] = "the rows' results";

static bool weights_are_apart(const struct matrix_arguments *arguments,
                              const struct reduction *reduction)
{
    return reduction->what.operation == matrix_sum &&
           arguments->view.form.weighting == law_product && arguments->view.form.kind != law_custom;
}

static kith_array column_of(kith_array array, int64_t k)
{
    if (array.ndim != 2)
        return array;
    array.ndim = 1;
    array.data = (char *)array.data + k * array.strides[1] * kith_dtype_bytes(array.dtype);
    return array;
}

static int64_t columns_of_b(const struct reduction *reduction)
{
    return reduction->b.ndim == 2 ? reduction->b.shape[1] : 1;
}

/* Column k of b, by the kernels. */
static kith_status reduce_column(const struct matrix_arguments *arguments,
                                 const struct reduction *reduction, const struct found *found,
                                 int64_t k)
{
    kith_context *context = arguments->context;
    const struct matrix_backend *backend = matrix_backend_of(context);
    const kith_array b = column_of(reduction->b, k);
    struct matrix_problem problem;
    KITH_TRY(kith_context_check_cancelled(context));
    KITH_TRY(backend->pack(arguments, b, &problem));
    const struct matrix_task task = matrix_task_of(arguments, &problem);
    KITH_TRY(backend->reduce(context, &task, &reduction->what, found->value, found->at));
    const struct matrix_delivery delivery = {.found = found->value,
                                             .at = found->at,
                                             .b = b,
                                             .to = column_of(reduction->to, k),
                                             .sign = reduction->what.sign,
                                             .is_weighted = weights_are_apart(arguments, reduction),
                                             .is_place = reduction->wants_place};
    return backend->deliver(context, &task, &delivery);
}

static kith_status reduce_in_place(const struct matrix_arguments *arguments,
                                   const struct reduction *reduction)
{
    kith_context *context = arguments->context;
    const struct device_services *services = context->services;
    const int64_t rows = arguments->row_count;
    struct found found = {0};
    kith_status status =
        services->allocate(context, rows, sizeof *found.value, results, &found.value);
    if (status == KITH_OK && reduction->what.operation == matrix_least)
        status = services->allocate(context, rows, sizeof *found.at, results, &found.at);
    for (int64_t k = 0; k < columns_of_b(reduction) && status == KITH_OK; k++)
        status = reduce_column(arguments, reduction, &found, k);
    services->release(context, found.value);
    services->release(context, found.at);
    return status;
}

static kith_status reduce_staged(const struct matrix_arguments *arguments,
                                 const struct reduction *reduction)
{
    struct staging staging = {.context = arguments->context};
    struct matrix_arguments there = *arguments;
    struct reduction reduction_there = *reduction;
    matrix_stage(&staging, &there);
    staging_add(&staging, &reduction_there.b, false);
    staging_add(&staging, &reduction_there.to, true);
    KITH_TRY(staging_send(&staging));
    return staging_receive(&staging, reduce_in_place(&there, &reduction_there));
}

/* Column k of b. The reference's coefficients are those of b alone: its values have their weights.
 */
static kith_status refer_column(const struct matrix_arguments *arguments,
                                const struct reduction *reduction,
                                const struct matrix_problem *problem, const struct found *found,
                                double *b, int64_t k)
{
    for (int64_t j = 0; j < arguments->column_count; j++)
        b[j] = kith_array_is_none(reduction->b) ? 1 : array_get(reduction->b, j, k);
    KITH_TRY(
        matrix_reference_reduce(arguments, problem, &reduction->what, b, found->value, found->at));
    for (int64_t i = 0; i < arguments->row_count; i++)
        if (reduction->wants_place)
            ((int64_t *)reduction->to.data)[i * reduction->to.strides[0]] = found->at[i];
        else
            array_set(reduction->to, i, k, reduction->what.sign * found->value[i]);
    return KITH_OK;
}

static kith_status reduce_by_reference(const struct matrix_arguments *arguments,
                                       const struct reduction *reduction)
{
    struct matrix_problem problem;
    struct found found = {0};
    double *b = NULL;
    kith_status status = matrix_pack(arguments, KITH_F64, &problem);
    if (status == KITH_OK)
        status = kith_allocate(arguments->column_count, sizeof *b, "b", &b);
    if (status == KITH_OK)
        status = kith_allocate(arguments->row_count, sizeof *found.value, results, &found.value);
    if (status == KITH_OK && reduction->what.operation == matrix_least)
        status = kith_allocate(arguments->row_count, sizeof *found.at, results, &found.at);
    for (int64_t k = 0; k < columns_of_b(reduction) && status == KITH_OK; k++)
        status = refer_column(arguments, reduction, &problem, &found, b, k);
    free(b);
    free(found.value);
    free(found.at);
    return status;
}

static kith_status reduce(const struct matrix_arguments *arguments,
                          const struct reduction *reduction)
{
    KITH_TRY(kith_context_check_cancelled(arguments->context));
    if (arguments->row_count == 0)
        return KITH_OK;
    if (matrix_by_reference(arguments))
        return reduce_by_reference(arguments, reduction);
    return matrix_is_staged(arguments) ? reduce_staged(arguments, reduction)
                                       : reduce_in_place(arguments, reduction);
}

static kith_status check_and_reduce(const struct matrix_arguments *arguments,
                                    kith_matrix_reduction reduction, kith_array out)
{
    if ((unsigned)reduction > KITH_REDUCE_ARGMIN)
        return kith_fail(KITH_INVALID_ARGUMENT, "reduction is %d; give a kith_matrix_reduction",
                         (int)reduction);
    const kith_dtype dtype = reduction == KITH_REDUCE_ARGMIN ? KITH_I64 : arguments->dtype;
    const struct named_array result = {"out", &out, dtype, 1, arguments->row_count, 1};
    const struct reduction chosen = {
        .what = {reduction == KITH_REDUCE_SUM ? matrix_sum : matrix_least,
                 reduction == KITH_REDUCE_MAX ? -1 : 1},
        .wants_place = reduction == KITH_REDUCE_ARGMIN,
        .b = kith_array_none(),
        .to = out};
    KITH_TRY(matrix_check_result(arguments, &result));
    return reduce(arguments, &chosen);
}

kith_status kith_matrix_reduce(kith_context *context, const kith_law *law,
                               const kith_matrix_options *options, const kith_particles *rows,
                               const kith_particles *columns, kith_matrix_reduction reduction,
                               kith_array out)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = check_and_reduce(&arguments, reduction, out);
    matrix_drop_arguments(&arguments);
    return status;
}

static kith_status check_and_multiply(const struct matrix_arguments *arguments, kith_array b,
                                      kith_array y)
{
    const int32_t ndim = b.ndim == 2 ? 2 : 1;
    const int64_t count = ndim == 2 ? b.shape[1] : 1;
    const kith_dtype dtype = arguments->dtype;
    const struct named_array vector = {"b", &b, dtype, ndim, arguments->column_count, count};
    const struct named_array result = {"y", &y, dtype, ndim, arguments->row_count, count};
    const struct reduction product = {.what = {matrix_sum, 1}, .b = b, .to = y};
    KITH_TRY(matrix_check_input(arguments, &vector));
    KITH_TRY(matrix_check_result(arguments, &result));
    KITH_TRY(kith_check_overlap(&result, &b, "b"));
    return reduce(arguments, &product);
}

kith_status kith_matrix_multiply(kith_context *context, const kith_law *law,
                                 const kith_matrix_options *options, const kith_particles *rows,
                                 const kith_particles *columns, kith_array b, kith_array y)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = check_and_multiply(&arguments, b, y);
    matrix_drop_arguments(&arguments);
    return status;
}
