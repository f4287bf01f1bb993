#ifndef SPARSE_VECTORS_H
#define SPARSE_VECTORS_H

#include "core/status.h"
#include "sparse/product.h"

/* The arguments x and y of a product: vectors, or k of them as the columns of a matrix. */
static inline int64_t sparse_vectors_of(kith_array array)
{
    return array.ndim == 2 ? array.shape[1] : 1;
}

kith_status sparse_check_vectors(const kith_context *context, const struct sparse_csr *csr,
                                 kith_array x, kith_array y);

/* Multiplies checked vectors; brings those on the host to the backend's memory and y back. */
kith_status sparse_multiply_vectors(kith_context *context, struct sparse_product *product,
                                    kith_array x, kith_array y);

#endif
