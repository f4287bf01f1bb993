#ifndef SPARSE_SORT_ROWS_H
#define SPARSE_SORT_ROWS_H

#include "core/status.h"
#include "sparse/formats.h"

/* Brings the columns of each row in order, and sums duplicate entries in their order; then closes
 * the gaps. On the host.
 *
 * Errors: KITH_OUT_OF_MEMORY; the matrix is then not usable. */
kith_status sparse_sort_rows(kith_context *context, struct sparse_csr *csr);

#endif
