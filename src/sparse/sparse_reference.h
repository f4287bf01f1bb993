#ifndef SPARSE_REFERENCE_H
#define SPARSE_REFERENCE_H

#include "sparse/formats.h"

/* y = α op(A) x + β y as a loop over the entries, in double precision, of a matrix on the host. */
void sparse_reference(const struct sparse_csr *csr, kith_sparse_operation operation, double alpha,
                      const double *x, double beta, double *y);

#endif
