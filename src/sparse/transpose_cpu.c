#include "sparse/assemble.h"

/* A counting sort by column: rows ascend in each column because they are walked in order. */
kith_status sparse_transpose_cpu(kith_context *context, const struct sparse_csr *csr,
                                 struct sparse_csr *made)
{
    (void)context;
    KITH_TRY(sparse_csr_allocate(csr->columns, csr->rows, csr->nonzeros, csr->dtype, made));
    int64_t *next = made->row_start + 1, start = 0;
    for (int64_t k = 0; k < csr->nonzeros; k++)
        next[csr->column[k]]++;
    for (int64_t j = 0; j < csr->columns; j++) {
        const int64_t length = next[j];
        next[j] = start;
        start += length;
    }
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t at = next[csr->column[k]]++;
            made->column[at] = (int32_t)i;
            if (csr->dtype == KITH_F64)
                ((double *)made->value)[at] = ((const double *)csr->value)[k];
            else
                ((float *)made->value)[at] = ((const float *)csr->value)[k];
        }
    return KITH_OK;
}
