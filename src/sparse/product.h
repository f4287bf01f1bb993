#ifndef SPARSE_PRODUCT_H
#define SPARSE_PRODUCT_H

#include "sparse/formats.h"

/* y = α A x + β y for a backend: everything in its memory and in the dtype of the matrix.
 *
 * Element (i, k) of x is x[i·x_stride[0] + k·x_stride[1]], k < vectors, and of y likewise; strides
 * may be negative. x and y do not overlap. With β = 0 y is not read. */
struct sparse_product {
    const struct sparse_matrix *matrix;
    double alpha, beta;
    int64_t vectors;
    const void *x;
    int64_t x_stride[2];
    void *y;
    int64_t y_stride[2];
};

/* Entries in any order, as the caller's arrays have them, in the backend's memory. */
struct sparse_entries {
    int64_t rows, columns, count;
    int32_t index_base;
    kith_array row;       /* or none */
    kith_array row_start; /* or none */
    kith_array column;
    kith_array value; /* none: ones of dtype */
    kith_dtype dtype;
};

#endif
