#include "sparse/sparse_reference.h"

static double value_at(const struct sparse_csr *csr, int64_t k)
{
    return csr->dtype == KITH_F64 ? ((const double *)csr->value)[k]
                                  : (double)((const float *)csr->value)[k];
}

void sparse_reference(const struct sparse_csr *csr, kith_sparse_operation operation, double alpha,
                      const double *x, double beta, double *y)
{
    const bool transposed = operation == KITH_SPARSE_TRANSPOSED;
    const int64_t results = transposed ? csr->columns : csr->rows;
    for (int64_t i = 0; i < results; i++)
        y[i] = beta == 0 ? 0 : beta * y[i];
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t j = csr->column[k];
            y[transposed ? j : i] += alpha * value_at(csr, k) * x[transposed ? i : j];
        }
}
