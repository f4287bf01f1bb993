#ifndef SPARSE_SLICES_CUDA_CUH
#define SPARSE_SLICES_CUDA_CUH

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.cuh"

/* Slices of sell; with start NULL the rows of ell, of which 32 are a slice. Entry k of a slice's
 * row r is element k·step + r from the slice's first on. */
template <typename real, typename index> struct slices {
    int64_t rows, slices;
    const int64_t *start;
    const int32_t *row;
    const index *column;
    const int32_t *base;
    const real *value;
    int64_t step;
    int width; /* of ell */
};

template <typename real, typename index>
static struct slices<real, index> slices_of(const struct sparse_matrix *matrix) {
    const struct sparse_sell *sell = &matrix->sell;
    return {matrix->csr.rows,
            sell->slices,
            sell->slice_start,
            sell->row,
            (const index *)sell->index.index,
            sell->index.base,
            (const real *)sell->value,
            warp,
            0};
}

template <typename real>
static struct slices<real, int32_t> slices_of_ell(const struct sparse_matrix *matrix) {
    const struct sparse_ell *ell = &matrix->ell;
    return {matrix->csr.rows,
            (matrix->csr.rows + warp - 1) / warp,
            NULL,
            NULL,
            ell->column,
            NULL,
            (const real *)ell->value,
            ell->stride,
            (int)ell->width};
}

#endif
