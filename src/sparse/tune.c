#include "sparse/tune.h"

#include <math.h>
#include <stddef.h>

#include "core/clock.h"
#include "device/context.h"
#include "sparse/backend.h"
#include "sparse/object.h"

static const double seconds_a_plan = 0.05;
enum { fewest_products = 3, most_products = 200 };

static kith_status time_products(kith_context *context, const struct sparse_product *product,
                                 double *best)
{
    const double begin = kith_clock();
    *best = INFINITY;
    for (int k = 0; k < most_products; k++) {
        const double start = kith_clock();
        KITH_TRY(sparse_backend_of(context)->multiply(context, product));
        KITH_TRY(context->services->synchronize(context));
        const double end = kith_clock();
        *best = end - start < *best ? end - start : *best;
        if (k >= fewest_products && end - begin > seconds_a_plan)
            break;
    }
    return KITH_OK;
}

static kith_status time_plan(kith_context *context, const struct sparse_statistics *statistics,
                             struct sparse_matrix *matrix, void *x, void *y)
{
    const struct sparse_product product = {.matrix = matrix,
                                           .alpha = 1,
                                           .vectors = 1,
                                           .x = x,
                                           .x_stride = {1, 0},
                                           .y = y,
                                           .y_stride = {1, 0}};
    kith_status status = sparse_backend_of(context)->convert(context, statistics, matrix);
    if (status == KITH_OK)
        status = time_products(context, &product, &matrix->plan.seconds);
    sparse_matrix_release(context, matrix);
    return status;
}

static kith_status time_plans(kith_context *context, const struct sparse_csr *csr,
                              const struct sparse_statistics *statistics, int32_t count,
                              struct sparse_plan *plans, void *x, void *y)
{
    kith_status status = KITH_OK;
    double best = INFINITY;
    for (int32_t k = 0; k < count; k++) {
        struct sparse_matrix matrix = {.csr = *csr, .plan = plans[k]};
        const kith_status of_plan = time_plan(context, statistics, &matrix, x, y);
        if (of_plan != KITH_OK) {
            status = of_plan;
        } else if (matrix.plan.seconds < best) {
            best = matrix.plan.seconds;
            plans[0] = plans[k];
            plans[0].seconds = best;
        }
    }
    return best < INFINITY ? KITH_OK : status;
}

kith_status sparse_tune(kith_context *context, const struct sparse_csr *csr,
                        const struct sparse_statistics *statistics, int32_t *count,
                        struct sparse_plan *plans)
{
    const int64_t bytes = kith_dtype_bytes(csr->dtype);
    void *x = NULL, *y = NULL;
    kith_status status =
        context->services->allocate(context, csr->columns + sparse_slack, bytes, "tuning", &x);
    if (status == KITH_OK)
        status =
            context->services->allocate(context, csr->rows + sparse_slack, bytes, "tuning", &y);
    if (status == KITH_OK)
        status = time_plans(context, csr, statistics, *count, plans, x, y);
    context->services->release(context, x);
    context->services->release(context, y);
    *count = 1;
    return status;
}
