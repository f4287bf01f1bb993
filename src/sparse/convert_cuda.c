/* Brings a matrix into its plan's format, on the GPU. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "sparse/convert_cuda.h"

kith_status sparse_matrix_allocate(kith_context *context, struct sparse_matrix *matrix,
                                   int64_t count, int64_t bytes_each, const char *what,
                                   void *memory)
{
    void *made = NULL;
    memcpy(memory, &made, sizeof made);
    if (matrix->allocations == sparse_most_allocations)
        return kith_fail(KITH_INTERNAL_ERROR, "%s: too many arrays of one matrix", what);
    KITH_TRY(context->services->allocate(context, count + sparse_slack, bytes_each, what, &made));
    matrix->memory[matrix->allocations++] = made;
    memcpy(memory, &made, sizeof made);
    return KITH_OK;
}

static kith_status convert_csr(kith_context *context, struct sparse_matrix *matrix)
{
    return matrix->plan.kernel == KITH_SPARSE_MERGE ? sparse_cut_merge_path_cuda(context, matrix)
                                                    : sparse_to_packed_cuda(context, matrix);
}

static kith_status convert_sell(kith_context *context, const struct sparse_statistics *statistics,
                                struct sparse_matrix *matrix)
{
    KITH_TRY(sparse_to_sell_cuda(context, matrix));
    return sparse_goes_by_panels(context, statistics) ? sparse_to_panels_cuda(context, matrix)
                                                      : KITH_OK;
}

static kith_status convert_to_format(kith_context *context,
                                     const struct sparse_statistics *statistics,
                                     struct sparse_matrix *matrix)
{
    switch (matrix->plan.format) {
    case KITH_SPARSE_COO:
        KITH_TRY(sparse_to_coo_cuda(context, matrix));
        return sparse_cut_elements_cuda(context, matrix, matrix->coo.count);
    case KITH_SPARSE_ELL:
        matrix->ell.width = matrix->plan.width;
        return sparse_to_ell_cuda(context, matrix, &matrix->ell);
    case KITH_SPARSE_HYBRID:
        KITH_TRY(sparse_to_hybrid_cuda(context, matrix));
        return sparse_cut_elements_cuda(context, matrix, matrix->hybrid.coo.count);
    case KITH_SPARSE_SELL:
        return convert_sell(context, statistics, matrix);
    case KITH_SPARSE_BSR:
        return sparse_to_bsr_cuda(context, matrix);
    case KITH_SPARSE_DIA:
        return sparse_to_dia_cuda(context, matrix);
    default:
        return convert_csr(context, matrix);
    }
}

kith_status sparse_convert_cuda(kith_context *context, const struct sparse_statistics *statistics,
                                struct sparse_matrix *matrix)
{
    KITH_TRY(kith_allocate(1, sizeof(struct sparse_own), "a sparse matrix", &matrix->own));
    if (matrix->csr.rows == 0 || matrix->csr.nonzeros == 0)
        return KITH_OK;
    if (statistics->longest > sparse_longest_in_slices)
        KITH_TRY(sparse_find_long_rows_cuda(context, sparse_long_entries(statistics), matrix));
    return convert_to_format(context, statistics, matrix);
}

void sparse_dispose_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    (void)context;
    free(matrix->own);
    matrix->own = NULL;
}
