#ifndef SPARSE_PRODUCT_CUDA_H
#define SPARSE_PRODUCT_CUDA_H

#include "core/status.h"
#include "kith/context.h"
#include "sparse/formats.h"
#include "sparse/product.h"
#include "sparse/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of sparse/backend.h. */
kith_status sparse_assemble_cuda(kith_context *context, const struct sparse_entries *entries,
                                 struct sparse_csr *made);
kith_status sparse_transpose_cuda(kith_context *context, const struct sparse_csr *csr,
                                  struct sparse_csr *made);
kith_status sparse_inspect_cuda(kith_context *context, const struct sparse_csr *csr,
                                struct sparse_statistics *statistics);
bool sparse_predict_cuda(kith_context *context, const struct sparse_statistics *statistics,
                         struct sparse_plan *plan);
kith_status sparse_convert_cuda(kith_context *context, const struct sparse_statistics *statistics,
                                struct sparse_matrix *matrix);
void sparse_dispose_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_multiply_cuda(kith_context *context, const struct sparse_product *product);

/* The kernels, for one vector x without gaps. A kernel of the first four suits csr, the element
 * kernel coo and hybrid. */
kith_status sparse_rows_cuda(kith_context *context, const struct sparse_product *product);
kith_status sparse_merge_cuda(kith_context *context, const struct sparse_product *product);
kith_status sparse_element_cuda(kith_context *context, const struct sparse_product *product,
                                const struct sparse_coo *coo);
kith_status sparse_ell_cuda(kith_context *context, const struct sparse_product *product,
                            const struct sparse_ell *ell);
kith_status sparse_slices_cuda(kith_context *context, const struct sparse_product *product);
kith_status sparse_panels_cuda(kith_context *context, const struct sparse_product *product);
kith_status sparse_blocks_cuda(kith_context *context, const struct sparse_product *product);
kith_status sparse_diagonals_cuda(kith_context *context, const struct sparse_product *product);

/* Entries of the rows that are too long for slices. */
int64_t sparse_long_entries(const struct sparse_statistics *statistics);

/* The long rows of sell are multiplied by column blocks: that is faster for the matrix, and the
 * device's blocks have enough shared memory. */
bool sparse_goes_by_panels(kith_context *context, const struct sparse_statistics *statistics);

/* For multiple right-hand sides, of any format. */
kith_status sparse_vectors_cuda(kith_context *context, const struct sparse_product *product);

/* y = β y. */
kith_status sparse_scale_cuda(kith_context *context, const struct sparse_product *product);

/* x without gaps, in the context's scratch memory. */
kith_status sparse_gather_cuda(kith_context *context, const struct sparse_product *product,
                               const void **x);

#ifdef __cplusplus
}
#endif

#endif
