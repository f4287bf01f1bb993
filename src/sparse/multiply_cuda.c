/* y = α A x + β y on the GPU: which kernels. */

#include "device/context.h"
#include "sparse/product_cuda.h"

static kith_status multiply_coo(kith_context *context, const struct sparse_product *product)
{
    KITH_TRY(sparse_scale_cuda(context, product));
    return sparse_element_cuda(context, product, &product->matrix->coo);
}

static kith_status multiply_hybrid(kith_context *context, const struct sparse_product *product)
{
    KITH_TRY(sparse_ell_cuda(context, product, &product->matrix->hybrid.ell));
    return sparse_element_cuda(context, product, &product->matrix->hybrid.coo);
}

static kith_status multiply_one(kith_context *context, const struct sparse_product *product)
{
    switch (product->matrix->plan.format) {
    case KITH_SPARSE_COO:
        return multiply_coo(context, product);
    case KITH_SPARSE_ELL:
        return sparse_ell_cuda(context, product, &product->matrix->ell);
    case KITH_SPARSE_HYBRID:
        return multiply_hybrid(context, product);
    case KITH_SPARSE_SELL:
        return sparse_slices_cuda(context, product);
    case KITH_SPARSE_BSR:
        return sparse_blocks_cuda(context, product);
    case KITH_SPARSE_DIA:
        return sparse_diagonals_cuda(context, product);
    default:
        return product->matrix->plan.kernel == KITH_SPARSE_MERGE
                   ? sparse_merge_cuda(context, product)
                   : sparse_rows_cuda(context, product);
    }
}

kith_status sparse_multiply_cuda(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_csr *csr = &product->matrix->csr;
    if (csr->rows == 0 || product->vectors == 0)
        return KITH_OK;
    if (csr->nonzeros == 0)
        return sparse_scale_cuda(context, product);
    if (product->vectors > 1)
        return sparse_vectors_cuda(context, product);
    struct sparse_product one = *product;
    if (one.x_stride[0] != 1 && csr->columns > 1) {
        KITH_TRY(sparse_gather_cuda(context, product, &one.x));
        one.x_stride[0] = 1;
    }
    return multiply_one(context, &one);
}
