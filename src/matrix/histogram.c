/* How many values of the matrix lie in each bin. */

#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "kith/matrix.h"
#include "matrix/backend.h"
#include "matrix/matrix_reference.h"
#include "matrix/pack.h"

static kith_status count_own(const struct matrix_arguments *arguments,
                             const struct matrix_problem *problem,
                             const struct matrix_histogram *range, int64_t *counts)
{
    const struct matrix_task task = {.law = arguments->law,
                                     .kind = arguments->view.form.kind,
                                     .dtype = arguments->dtype,
                                     .problem = *problem};
    return arguments->context->backend->matrix->histogram(arguments->context, &task, range, counts);
}

/* In the backend's memory, then to the host. */
static kith_status count_staged(const struct matrix_arguments *arguments,
                                const struct matrix_packed *packed,
                                const struct matrix_histogram *range, int64_t *counts)
{
    kith_context *context = arguments->context;
    int64_t *own = NULL;
    KITH_TRY(matrix_send(arguments, packed));
    KITH_TRY(context->backend->allocate(context, range->bins, sizeof *own, "the bins", &own));
    kith_status status = count_own(arguments, &packed->own, range, own);
    if (status == KITH_OK)
        status =
            context->backend->copy_out(context, counts, own, range->bins * (int64_t)sizeof *own);
    context->backend->release(context, own);
    return status;
}

static kith_status count_on_host(const struct matrix_arguments *arguments,
                                 const struct matrix_histogram *range, int64_t *counts)
{
    const bool reference = arguments->options.method == KITH_MATRIX_REFERENCE;
    struct matrix_packed packed;
    KITH_TRY(matrix_pack(arguments, reference ? KITH_F64 : arguments->dtype, &packed));
    if (!reference)
        return count_staged(arguments, &packed, range, counts);
    matrix_reference_histogram(arguments, &packed.host, range, counts);
    return KITH_OK;
}

static kith_status check_range(const struct matrix_arguments *arguments,
                               const struct matrix_histogram *range, kith_array counts)
{
    const struct matrix_result result = {"counts", counts, 1, {-1, 0}, KITH_I64, true};
    KITH_TRY(matrix_check_result(arguments, &result));
    if (range->bins < 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "counts has %lld elements; give at least one bin",
                         (long long)range->bins);
    if (counts.strides[0] != 1)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "counts has a stride of %lld; give contiguous memory",
                         (long long)counts.strides[0]);
    if (!isfinite(range->low) || !isfinite(range->high) || !(range->low < range->high) ||
        !isfinite(range->high - range->low))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "low is %g and high is %g; give finite numbers, low less than high",
                         range->low, range->high);
    return KITH_OK;
}

static kith_status count(const struct matrix_arguments *arguments,
                         const struct matrix_histogram *range, kith_array counts)
{
    struct matrix_problem problem;
    KITH_TRY(check_range(arguments, range, counts));
    KITH_TRY(kith_context_check_cancelled(arguments->context));
    if (!arguments->on_device)
        return count_on_host(arguments, range, counts.data);
    KITH_TRY(arguments->context->backend->matrix->pack(arguments, kith_array_none(), &problem));
    return count_own(arguments, &problem, range, counts.data);
}

kith_status kith_matrix_histogram(kith_context *context, const kith_law *law,
                                  const kith_matrix_options *options, const kith_particles *rows,
                                  const kith_particles *columns, double low, double high,
                                  kith_array counts)
{
    const struct matrix_histogram range = {low, high, counts.shape[0]};
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = count(&arguments, &range, counts);
    matrix_drop_arguments(&arguments);
    return status;
}
