#ifndef SPARSE_PRODUCT_CUDA_CUH
#define SPARSE_PRODUCT_CUDA_CUH

/* What the kernels of y = α A x + β y share. */

#include "device/cuda.h"
#include "device/warp.cuh"
#include "sparse/product.h"
#include "sparse/product_cuda.h"

enum { warp = 32 };

/* Where the sums of rows go. */
template <typename real> struct sums_to {
    real alpha, beta;
    real *y;
    int64_t stride;
};

template <typename real> struct sums_to<real> sums_to_of(const struct sparse_product *product) {
    return {(real)product->alpha, (real)product->beta, (real *)product->y, product->y_stride[0]};
}

/* With β = 0, y is not read. */
template <typename real>
__device__ void put_sum(const struct sums_to<real> &to, int64_t row, real sum)
{
    real *y = to.y + row * to.stride;
    *y = to.beta == 0 ? to.alpha * sum : fma(to.beta, *y, to.alpha * sum);
}

/* The matrix is read once a product: it shall not drive x out of the caches. */
template <typename number> __device__ number once(const number *address)
{
    return __ldcs(address);
}

/* The rows of a matrix, without padding. */
template <typename real> struct row_entries {
    const int64_t *start;
    const int32_t *column;
    const real *value;
};

template <typename real>
struct row_entries<real> row_entries_of(const struct sparse_matrix *matrix) {
    return {matrix->csr.row_start, matrix->csr.column, (const real *)matrix->csr.value};
}

template <typename real>
__device__ __noinline__ real sum_of_entries(struct row_entries<real> a, int64_t row, const real *x)
{
    real sum = 0;
    for (int64_t k = a.start[row]; k < a.start[row + 1]; k++)
        sum = fma(a.value[k], x[a.column[k]], sum);
    return sum;
}

/* The same for a sum with padding, which makes NaN of an infinite x. */
template <typename real>
__device__ void put_filled_sum(const struct sums_to<real> &to, const struct row_entries<real> &a,
                               const real *x, int64_t row, real sum)
{
    put_sum(to, row, sum == sum ? sum : sum_of_entries(a, row, x));
}

static inline unsigned blocks_for(int64_t threads, int64_t block)
{
    return (unsigned)((threads + block - 1) / block);
}

#endif
