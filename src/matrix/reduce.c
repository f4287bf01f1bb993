/* What is computed of the matrix without keeping it. */

#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "kith/matrix.h"
#include "matrix/backend.h"
#include "matrix/element.h"
#include "matrix/matrix_reference.h"
#include "matrix/pack.h"

/* What is to be found of each row, and where it goes. */
struct reduction {
    struct matrix_reduction what;
    bool wants_place; /* at, not the value */
    kith_array b, to;
};

/* What the rows have found, in the backend's memory and the host's. */
struct found {
    double *own, *host;
    int64_t *own_at, *host_at;
};

static void free_found(kith_context *context, struct found *found)
{
    context->backend->release(context, found->own);
    context->backend->release(context, found->own_at);
    free(found->host);
    free(found->host_at);
}

static kith_status allocate_own(kith_context *context, const struct reduction *reduction,
                                int64_t rows, struct found *found)
{
    static const char what[] = "the rows' results";
    KITH_TRY(context->backend->allocate(context, rows, sizeof(double), what, &found->own));
    return reduction->what.operation == matrix_least
               ? context->backend->allocate(context, rows, sizeof(int64_t), what, &found->own_at)
               : KITH_OK;
}

static kith_status allocate_host(const struct reduction *reduction, int64_t rows,
                                 struct found *found)
{
    static const char what[] = "the rows' results";
    KITH_TRY(kith_allocate(rows, sizeof(double), what, &found->host));
    return reduction->what.operation == matrix_least
               ? kith_allocate(rows, sizeof(int64_t), what, &found->host_at)
               : KITH_OK;
}

static bool weights_are_apart(const struct matrix_arguments *arguments,
                              const struct reduction *reduction)
{
    return reduction->what.operation == matrix_sum &&
           arguments->view.form.weighting == law_product && arguments->view.form.kind != law_custom;
}

/* Row i's result to column k of the caller's array; a least value of −V is minus the greatest. */
static void deliver(const struct matrix_arguments *arguments, const struct reduction *reduction,
                    const struct matrix_packed *packed, const struct found *found, int64_t k)
{
    const bool weighted = weights_are_apart(arguments, reduction);
    const void *weight = packed->host.rows.weight;
    for (int64_t i = 0; i < arguments->row_count; i++) {
        if (reduction->wants_place) {
            ((int64_t *)reduction->to.data)[i * reduction->to.strides[0]] = found->host_at[i];
            continue;
        }
        double value = reduction->what.sign * found->host[i];
        if (weighted)
            value *= arguments->dtype == KITH_F64 ? ((const double *)weight)[i]
                                                  : (double)((const float *)weight)[i];
        matrix_set(reduction->to, i, k, value);
    }
}

static kith_status reduce_column(const struct matrix_arguments *arguments,
                                 const struct reduction *reduction,
                                 const struct matrix_packed *packed, struct found *found, int64_t k)
{
    kith_context *context = arguments->context;
    const struct matrix_task task = {.law = arguments->law,
                                     .kind = arguments->view.form.kind,
                                     .dtype = arguments->dtype,
                                     .problem = packed->own};
    const int64_t bytes = arguments->row_count * (int64_t)sizeof(double);
    KITH_TRY(matrix_pack_coefficient(arguments, arguments->dtype, reduction->b, k, packed));
    KITH_TRY(matrix_send(arguments, packed));
    KITH_TRY(context->backend->matrix->reduce(context, &task, &reduction->what, found->own,
                                              found->own_at));
    KITH_TRY(context->backend->copy_out(context, found->host, found->own, bytes));
    if (found->own_at)
        KITH_TRY(context->backend->copy_out(context, found->host_at, found->own_at, bytes));
    deliver(arguments, reduction, packed, found, k);
    return KITH_OK;
}

/* The reference's coefficients are those of b alone, and its values have their weights. */
static kith_status reduce_by_reference(const struct matrix_arguments *arguments,
                                       const struct reduction *reduction,
                                       const struct matrix_packed *packed, struct found *found,
                                       int64_t k)
{
    double *b = NULL;
    KITH_TRY(kith_allocate(arguments->column_count, sizeof *b, "b", &b));
    for (int64_t j = 0; j < arguments->column_count; j++)
        b[j] = kith_array_is_none(reduction->b) ? 1 : matrix_get(reduction->b, j, k);
    matrix_reference_reduce(arguments, &packed->host, &reduction->what, b, found->host,
                            found->host_at);
    for (int64_t i = 0; i < arguments->row_count; i++)
        if (reduction->wants_place)
            ((int64_t *)reduction->to.data)[i * reduction->to.strides[0]] = found->host_at[i];
        else
            matrix_set(reduction->to, i, k, reduction->what.sign * found->host[i]);
    free(b);
    return KITH_OK;
}

static kith_status reduce_on_host(const struct matrix_arguments *arguments,
                                  const struct reduction *reduction, struct found *found)
{
    const bool reference = arguments->options.method == KITH_MATRIX_REFERENCE;
    const int64_t count = reduction->b.ndim == 2 ? reduction->b.shape[1] : 1;
    struct matrix_packed packed;
    KITH_TRY(allocate_host(reduction, arguments->row_count, found));
    if (!reference)
        KITH_TRY(allocate_own(arguments->context, reduction, arguments->row_count, found));
    KITH_TRY(matrix_pack(arguments, reference ? KITH_F64 : arguments->dtype, &packed));
    for (int64_t k = 0; k < count; k++) {
        KITH_TRY(kith_context_check_cancelled(arguments->context));
        KITH_TRY(reference ? reduce_by_reference(arguments, reduction, &packed, found, k)
                           : reduce_column(arguments, reduction, &packed, found, k));
    }
    return KITH_OK;
}

static kith_array column_of(kith_array array, int64_t k)
{
    if (array.ndim != 2)
        return array;
    array.ndim = 1;
    array.data = (char *)array.data + k * array.strides[1] * kith_dtype_bytes(array.dtype);
    return array;
}

static kith_status reduce_in_place(const struct matrix_arguments *arguments,
                                   const struct reduction *reduction, struct found *found)
{
    kith_context *context = arguments->context;
    const struct matrix_backend *backend = context->backend->matrix;
    const int64_t count = reduction->b.ndim == 2 ? reduction->b.shape[1] : 1;
    KITH_TRY(allocate_own(context, reduction, arguments->row_count, found));
    for (int64_t k = 0; k < count; k++) {
        struct matrix_task task = {
            .law = arguments->law, .kind = arguments->view.form.kind, .dtype = arguments->dtype};
        KITH_TRY(backend->pack(arguments, column_of(reduction->b, k), &task.problem));
        KITH_TRY(backend->reduce(context, &task, &reduction->what, found->own, found->own_at));
        KITH_TRY(backend->deliver(context, &task, weights_are_apart(arguments, reduction),
                                  reduction->what.sign, found->own,
                                  reduction->wants_place ? found->own_at : NULL,
                                  column_of(reduction->to, k)));
    }
    return KITH_OK;
}

static kith_status reduce(const struct matrix_arguments *arguments,
                          const struct reduction *reduction)
{
    struct found found = {0};
    KITH_TRY(kith_context_check_cancelled(arguments->context));
    if (arguments->row_count == 0)
        return KITH_OK;
    const kith_status status = arguments->on_device ? reduce_in_place(arguments, reduction, &found)
                                                    : reduce_on_host(arguments, reduction, &found);
    free_found(arguments->context, &found);
    return status;
}

static kith_status check_and_reduce(const struct matrix_arguments *arguments,
                                    kith_matrix_reduction reduction, kith_array out)
{
    if ((unsigned)reduction > KITH_REDUCE_ARGMIN)
        return kith_fail(KITH_INVALID_ARGUMENT, "reduction is %d; give a kith_matrix_reduction",
                         (int)reduction);
    const struct matrix_result result = {"out",
                                         out,
                                         1,
                                         {arguments->row_count, 0},
                                         reduction == KITH_REDUCE_ARGMIN ? KITH_I64
                                                                         : arguments->dtype,
                                         true};
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
    const struct matrix_result vector = {"b",   b,    ndim, {arguments->column_count, count},
                                         dtype, false};
    const struct matrix_result result = {"y", y, ndim, {arguments->row_count, count}, dtype, true};
    const struct reduction product = {.what = {matrix_sum, 1}, .b = b, .to = y};
    KITH_TRY(matrix_check_result(arguments, &vector));
    KITH_TRY(matrix_check_result(arguments, &result));
    return reduce(arguments, &product);
}

kith_status kith_matrix_multiply(kith_context *context, const kith_law *law,
                                 const kith_matrix_options *options, const kith_particles *rows,
                                 const kith_particles *columns, kith_array b, kith_array y)
{
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = check_and_multiply(&arguments, b, y);
    matrix_drop_arguments(&arguments);
    return status;
}
