#include "core/team.h"
#include "sparse/sparse_cpu.h"

enum { rows_per_task = 4096 };

#define DEFINE_ROWS(real)                                                                          \
    static void multiply_rows_##real(const struct sparse_product *product, int64_t begin,          \
                                     int64_t end)                                                  \
    {                                                                                              \
        const struct sparse_csr *csr = &product->matrix->csr;                                      \
        const real alpha = (real)product->alpha, beta = (real)product->beta;                       \
        for (int64_t i = begin; i < end; i++)                                                      \
            for (int64_t v = 0; v < product->vectors; v++) {                                       \
                const real *x = (const real *)product->x + v * product->x_stride[1];               \
                real *y =                                                                          \
                    (real *)product->y + i * product->y_stride[0] + v * product->y_stride[1];      \
                real sum = 0;                                                                      \
                for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++)                \
                    sum +=                                                                         \
                        ((const real *)csr->value)[k] * x[csr->column[k] * product->x_stride[0]];  \
                *y = beta == 0 ? alpha * sum : alpha * sum + beta * *y;                            \
            }                                                                                      \
    }

DEFINE_ROWS(double)
DEFINE_ROWS(float)

static void multiply_some_rows(void *argument, int64_t task)
{
    const struct sparse_product *product = argument;
    const struct sparse_csr *csr = &product->matrix->csr;
    const int64_t begin = task * rows_per_task;
    const int64_t end = begin + rows_per_task < csr->rows ? begin + rows_per_task : csr->rows;
    if (csr->dtype == KITH_F64)
        multiply_rows_double(product, begin, end);
    else
        multiply_rows_float(product, begin, end);
}

kith_status sparse_multiply_cpu(kith_context *context, const struct sparse_product *product)
{
    struct sparse_product own = *product;
    const struct sparse_csr *csr = &product->matrix->csr;
    const double seconds = 1e-9 * (double)(csr->nonzeros * product->vectors);
    kith_for_each(context, kith_threads_for(context, seconds),
                  (csr->rows + rows_per_task - 1) / rows_per_task, multiply_some_rows, &own);
    return KITH_OK;
}
