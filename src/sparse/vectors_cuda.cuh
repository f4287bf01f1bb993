#ifndef SPARSE_VECTORS_CUDA_CUH
#define SPARSE_VECTORS_CUDA_CUH

/* Eight vectors at once: four lanes have two of them each. */

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.cuh"

enum { lanes_of_entry = sparse_vectors_together / 2 };

/* Two neighbouring vectors' numbers: what a lane has. */
template <typename real> struct alignas(2 * sizeof(real)) pair_of {
    real of[2];
};

template <typename real> struct vectors_product {
    int64_t rows;
    int vectors, log_entries; /* so many entries of a row are met at once, by 4 lanes each */
    row_entries<real> entries;
    sums_to<real> to;
    int64_t vector_stride;
};

template <typename real>
static __device__ void put_sums(const vectors_product<real> &a, int64_t row,
                                const struct pair_of<real> &sum)
{
    const int first = threadIdx.x % lanes_of_entry * 2;
    for (int k = 0; k < 2; k++)
        if (first + k < a.vectors) {
            sums_to<real> to = a.to;
            to.y += (first + k) * a.vector_stride;
            put_sum(to, row, sum.of[k]);
        }
}

/* Products of a matrix of few diagonals; x in rows of eight. */
kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<double> &product, const double *x);
kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<float> &product, const float *x);

#endif
