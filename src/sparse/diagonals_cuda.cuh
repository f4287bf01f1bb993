#ifndef SPARSE_DIAGONALS_CUDA_CUH
#define SPARSE_DIAGONALS_CUDA_CUH

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.cuh"

template <typename real> struct diagonals {
    int rows, columns, count;
    int64_t stride;
    const int64_t *offset;
    const real *value;
};

template <typename real>
static struct diagonals<real> diagonals_of(const struct sparse_matrix *matrix) {
    const struct sparse_dia *dia = &matrix->dia;
    return {(int)matrix->csr.rows, (int)matrix->csr.columns, (int)dia->diagonals, dia->stride,
            dia->offset,           (const real *)dia->value};
}

#endif
