/* How many values of the matrix lie in each bin. */

#include <math.h>

#include "device/context.h"
#include "kith/matrix.h"
#include "matrix/backend.h"
#include "matrix/matrix_reference.h"
#include "matrix/pack.h"
#include "matrix/stream.h"

static kith_status count_by_reference(const struct matrix_arguments *arguments,
                                      const struct matrix_histogram *range, kith_array counts)
{
    struct matrix_problem problem;
    KITH_TRY(matrix_pack(arguments, KITH_F64, &problem));
    return matrix_reference_histogram(arguments, &problem, range, counts.data);
}

static kith_status count_in_place(const struct matrix_arguments *arguments,
                                  const struct matrix_histogram *range, kith_array counts)
{
    const struct matrix_backend *backend = matrix_backend_of(arguments->context);
    struct matrix_problem problem;
    KITH_TRY(backend->pack(arguments, kith_array_none(), &problem));
    const struct matrix_task task = matrix_task_of(arguments, &problem);
    return backend->histogram(arguments->context, &task, range, counts.data);
}

static kith_status count_staged(const struct matrix_arguments *arguments,
                                const struct matrix_histogram *range, kith_array counts)
{
    struct staging staging = {.context = arguments->context};
    struct matrix_arguments there = *arguments;
    matrix_stage(&staging, &there);
    staging_add(&staging, &counts, true);
    KITH_TRY(staging_send(&staging));
    return staging_receive(&staging, count_in_place(&there, range, counts));
}

static kith_status check_range(const struct matrix_arguments *arguments,
                               const struct matrix_histogram *range, kith_array counts)
{
    const struct named_array result = {"counts", &counts, KITH_I64, 1, -1, 1};
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
    KITH_TRY(check_range(arguments, range, counts));
    KITH_TRY(kith_context_check_cancelled(arguments->context));
    if (matrix_by_reference(arguments))
        return count_by_reference(arguments, range, counts);
    return matrix_is_staged(arguments) ? count_staged(arguments, range, counts)
                                       : count_in_place(arguments, range, counts);
}

kith_status kith_matrix_histogram(kith_context *context, const kith_law *law,
                                  const kith_matrix_options *options, const kith_particles *rows,
                                  const kith_particles *columns, double low, double high,
                                  kith_array counts)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    const struct matrix_histogram range = {low, high, counts.shape[0]};
    struct matrix_arguments arguments;
    kith_status status = matrix_take_arguments(context, law, options, rows, columns, &arguments);
    if (status == KITH_OK)
        status = count(&arguments, &range, counts);
    matrix_drop_arguments(&arguments);
    return status;
}
