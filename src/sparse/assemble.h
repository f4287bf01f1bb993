#ifndef SPARSE_ASSEMBLE_H
#define SPARSE_ASSEMBLE_H

#include "core/status.h"
#include "sparse/product.h"

/* Brings entries in the host's memory in order: rows, ascending columns in each, duplicates added
 * up in their order. Free the arrays of *made with free(), also after a failure.
 *
 * Errors: KITH_INVALID_ARGUMENT (an index outside the matrix, a decreasing row_start),
 *         KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status sparse_assemble_cpu(kith_context *context, const struct sparse_entries *entries,
                                struct sparse_csr *made);

/* The same of a dense matrix on the host, without its zeros. */
kith_status sparse_assemble_dense(kith_context *context, kith_array matrix,
                                  struct sparse_csr *made);

/* Aᵀ of a matrix in the host's memory; as sparse_assemble_cpu. */
kith_status sparse_transpose_cpu(kith_context *context, const struct sparse_csr *csr,
                                 struct sparse_csr *made);

/* Memory for a matrix on the host with this many entries. */
kith_status sparse_csr_allocate(int64_t rows, int64_t columns, int64_t nonzeros, kith_dtype dtype,
                                struct sparse_csr *made);
void sparse_csr_release(struct sparse_csr *csr);

#endif
