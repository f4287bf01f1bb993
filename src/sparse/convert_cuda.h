#ifndef SPARSE_CONVERT_CUDA_H
#define SPARSE_CONVERT_CUDA_H

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates zeroed memory that is freed with the matrix; sparse_slack elements more than count. */
kith_status sparse_matrix_allocate(kith_context *context, struct sparse_matrix *matrix,
                                   int64_t count, int64_t bytes_each, const char *what,
                                   void *memory);

/* start[i] = Σ_{j<i} count[j] for i ≤ n, where count may be start; *total = start[n], on the host.
 * Uses the scratch memory. */
kith_status sparse_starts_cuda(kith_context *context, const int64_t *count, int64_t n,
                               int64_t *start, int64_t *total);

/* The row of each entry. */
kith_status sparse_rows_of_entries_cuda(kith_context *context, const struct sparse_csr *csr,
                                        int32_t *row);

/* The first `most` diagonals that are found, in no order; *count counts all up to most + 1. */
kith_status sparse_find_diagonals_cuda(kith_context *context, const struct sparse_csr *csr,
                                       int64_t most, int64_t *offset, int64_t *count);

/* One for each format: fills matrix after plan. own is allocated already. */
kith_status sparse_to_packed_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_coo_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_ell_cuda(kith_context *context, struct sparse_matrix *matrix,
                               struct sparse_ell *ell);
kith_status sparse_to_hybrid_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_sell_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_bsr_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_dia_cuda(kith_context *context, struct sparse_matrix *matrix);

/* What kernels need besides: in own. */
kith_status sparse_find_long_rows_cuda(kith_context *context, int64_t long_entries,
                                       struct sparse_matrix *matrix);
kith_status sparse_to_panels_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_cut_merge_path_cuda(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_cut_elements_cuda(kith_context *context, struct sparse_matrix *matrix,
                                     int64_t count);

#ifdef __cplusplus
}
#endif

#endif
