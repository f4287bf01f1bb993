#ifndef SPARSE_VECTORS_CUDA_CUH
#define SPARSE_VECTORS_CUDA_CUH

/* Eight vectors at once: a lane has 16 bytes of the eight numbers that an entry meets. */

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.cuh"

enum { bytes_of_lane = 16 };

/* Neighbouring vectors' numbers: what a lane has. */
template <typename real> struct alignas(bytes_of_lane) share_of {
    enum { count = bytes_of_lane / sizeof(real) };
    real of[count];
};

template <typename real>
constexpr int lanes_of_entry = sparse_vectors_together / (int)share_of<real>::count;

template <typename real> struct vectors_product {
    int64_t rows;
    int vectors, log_entries; /* so many entries of a row are met at once, by these lanes each */
    row_entries<real> entries;
    sums_to<real> to;
    int64_t vector_stride;
    bool is_whole; /* y has rows of eight, too, each share of them 16 bytes that can be stored */
};

/* A lane's share of row 0 of x, in rows of eight; that of row j is lanes_of_entry · j further. */
template <typename real>
static __device__ const struct share_of<real> *shares_of_lane(const real *x) {
    return (const struct share_of<real> *)x + threadIdx.x % lanes_of_entry<real>;
}

template <typename real>
static __device__ void put_share(const vectors_product<real> &a, int64_t row,
                                 const struct share_of<real> &sum)
{
    struct share_of<real> *y =
        (struct share_of<real> *)(a.to.y + row * a.to.stride) + threadIdx.x % lanes_of_entry<real>;
    struct share_of<real> made = {
    };
    if (a.to.beta != 0)
        made = *y;
#pragma unroll
    for (int k = 0; k < share_of<real>::count; k++)
        made.of[k] = a.to.beta == 0 ? a.to.alpha * sum.of[k]
                                    : fma(a.to.beta, made.of[k], a.to.alpha * sum.of[k]);
    *y = made;
}

template <typename real>
static __device__ void put_sums(const vectors_product<real> &a, int64_t row,
                                const struct share_of<real> &sum)
{
    if (a.is_whole)
        return put_share(a, row, sum);
    const int first = threadIdx.x % lanes_of_entry<real> * share_of<real>::count;
#pragma unroll
    for (int k = 0; k < share_of<real>::count; k++)
        if (first + k < a.vectors) {
            sums_to<real> to = a.to;
            to.y += (first + k) * a.vector_stride;
            put_sum(to, row, sum.of[k]);
        }
}

template <typename real>
static __device__ void add_entry(real value, const struct share_of<real> &met,
                                 struct share_of<real> &sum)
{
#pragma unroll
    for (int k = 0; k < share_of<real>::count; k++)
        sum.of[k] = fma(value, met.of[k], sum.of[k]);
}

/* A filling's zero has met an x that is not finite: once more, without filling. */
template <typename real>
static __device__ __noinline__ struct share_of<real>
sums_of_entries(const row_entries<real> &a, int64_t row, const struct share_of<real> *x) {
    struct share_of<real> sum = {
    };
    for (int64_t k = a.start[row]; k < a.start[row + 1]; k++)
        add_entry(a.value[k], x[(int64_t)a.column[k] * lanes_of_entry<real>], sum);
    return sum;
}

/* Puts the sums of a row with filling. */
template <typename real>
static __device__ void put_filled_sums(const vectors_product<real> &product, int64_t row,
                                       const struct share_of<real> *x, struct share_of<real> sum)
{
    bool is_nan = false;
#pragma unroll
    for (int k = 0; k < share_of<real>::count; k++)
        is_nan |= sum.of[k] != sum.of[k];
    if (is_nan)
        sum = sums_of_entries(product.entries, row, x);
    put_sums(product, row, sum);
}

/* Products of a matrix of few diagonals, and of blocks; x in rows of eight. */
kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<double> &product, const double *x);
kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<float> &product, const float *x);
kith_status sparse_blocks_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<double> &product, const double *x);
kith_status sparse_blocks_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<float> &product, const float *x);

#endif
