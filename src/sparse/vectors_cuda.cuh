#ifndef SPARSE_VECTORS_CUDA_CUH
#define SPARSE_VECTORS_CUDA_CUH

/* Eight right-hand sides: a lane has 16 bytes of the eight numbers that an entry meets. */

#include "sparse/own_cuda.h"
#include "sparse/product_cuda.cuh"

enum { bytes_of_lane = 16 };

/* Adjacent vectors' numbers: what a lane has. */
template <typename real> struct alignas(bytes_of_lane) share_of {
    enum { count = bytes_of_lane / sizeof(real) };
    real of[count];
};

template <typename real>
constexpr int lanes_of_entry = sparse_vectors_together / (int)share_of<real>::count;

template <typename real> struct vectors_product {
    int64_t rows;
    int vectors, log_entries; /* this many entries of a row are in progress, by these lanes each */
    row_entries<real> entries;
    sums_to<real> to;
    int64_t vector_stride;
    bool is_whole; /* y has rows of eight, too, each share of them 16 bytes that can be stored */
};

/* Which share the lane has where each has one. */
template <typename real> static __device__ int share_of_lane()
{
    return threadIdx.x % lanes_of_entry<real>;
}

/* A lane's share of row 0 of x, in rows of eight; that of row j is lanes_of_entry · j further. */
template <typename real>
static __device__ const struct share_of<real> *shares_of_lane(const real *x) {
    return (const struct share_of<real> *)x + share_of_lane<real>();
}

/* Puts the sums of share number `share` of a row. */
template <typename real>
static __device__ void put_share(const vectors_product<real> &a, int64_t row, int share,
                                 const struct share_of<real> &sum)
{
    struct share_of<real> *y = (struct share_of<real> *)(a.to.y + row * a.to.stride) + share;
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
static __device__ void put_sums(const vectors_product<real> &a, int64_t row, int share,
                                const struct share_of<real> &sum)
{
    if (a.is_whole)
        return put_share(a, row, share, sum);
    const int first = share * share_of<real>::count;
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

/* A zero of the padding was multiplied by an infinite x: once more, without padding. */
template <typename real>
static __device__ __noinline__ struct share_of<real>
sums_of_entries(const row_entries<real> &a, int64_t row, const struct share_of<real> *x) {
    struct share_of<real> sum = {
    };
    for (int64_t k = a.start[row]; k < a.start[row + 1]; k++)
        add_entry(a.value[k], x[(int64_t)a.column[k] * lanes_of_entry<real>], sum);
    return sum;
}

/* Puts the sums of a row, in which fillings have taken part; x is the share's of row 0. */
template <typename real>
static __device__ void put_filled_sums(const vectors_product<real> &product, int64_t row, int share,
                                       const struct share_of<real> *x, struct share_of<real> sum)
{
    bool is_nan = false;
#pragma unroll
    for (int k = 0; k < share_of<real>::count; k++)
        is_nan |= sum.of[k] != sum.of[k];
    if (is_nan)
        sum = sums_of_entries(product.entries, row, x);
    put_sums(product, row, share, sum);
}

enum { entries_at_once = 4 };

/* Sums over every step-th of the entries k … end − 1, of the lane's vectors. */
template <typename real>
static __device__ struct share_of<real> sums_of_lane(const row_entries<real> &a, int64_t k,
                                                     int64_t end, int step,
                                                     const real *__restrict__ x) {
    const struct share_of<real> *shares = shares_of_lane(x);
    struct share_of<real> sum = {
    };
    for (; k < end; k += (int64_t)entries_at_once * step) {
        int32_t column[entries_at_once];
        real value[entries_at_once];
        struct share_of<real> met[entries_at_once];
#pragma unroll
        for (int u = 0; u < entries_at_once; u++) {
            const bool is_in = k + (int64_t)u * step < end;
            column[u] = is_in ? once(a.column + k + u * step) : -1;
            value[u] = is_in ? once(a.value + k + u * step) : (real)0;
        }
#pragma unroll
        for (int u = 0; u < entries_at_once; u++) {
            met[u] = {};
            if (column[u] >= 0)
                met[u] = shares[(int64_t)column[u] * lanes_of_entry<real>];
        }
#pragma unroll
        for (int u = 0; u < entries_at_once; u++)
            add_entry(value[u], met[u], sum);
    }
    return sum;
}

/* Adds what lanes of the same vectors have, of groups of this many lanes. */
template <typename real>
static __device__ void add_lanes(struct share_of<real> &sum, int lanes)
{
    for (int distance = lanes / 2; distance >= lanes_of_entry<real>; distance /= 2)
#pragma unroll
        for (int k = 0; k < share_of<real>::count; k++)
            sum.of[k] += __shfl_xor_sync(whole_warp, sum.of[k], distance);
}

/* As in slices_cuda.cu: the last warp of a long row's to finish adds up the pieces' sums. */
template <typename real>
static __device__ void do_piece(const vectors_product<real> &a, const sparse_long_rows &long_rows,
                                int64_t p, const real *__restrict__ x)
{
    const struct sparse_row_piece piece = long_rows.piece[p];
    constexpr int lanes = lanes_of_entry<real>;
    const int lane = threadIdx.x % warp, e = lane / lanes;
    const int64_t first = long_rows.pieces_before[piece.long_row];
    const int64_t end = long_rows.pieces_before[piece.long_row + 1];
    struct share_of<real> *part = (struct share_of<real> *)long_rows.part + lane % lanes;
    struct share_of<real> sum =
        sums_of_lane(a.entries, piece.first + e, piece.end, warp / lanes, x);
    add_lanes(sum, warp);
    if (e == 0)
        part[p * lanes] = sum;
    __threadfence();
    __syncwarp();
    unsigned finished = 0;
    if (lane == 0) {
        finished = atomicAdd(long_rows.ticket + piece.long_row, 1u);
        __threadfence();
    }
    if (__shfl_sync(whole_warp, finished, 0) + 1 < end - first)
        return;
    struct share_of<real> all = {
    };
    for (int64_t q = first + e; q < end; q += warp / lanes)
        for (int k = 0; k < share_of<real>::count; k++)
            all.of[k] += __ldcg(part[q * lanes].of + k);
    add_lanes(all, warp);
    if (e == 0)
        put_sums(a, long_rows.row[piece.long_row], share_of_lane<real>(), all);
    if (lane == 0)
        long_rows.ticket[piece.long_row] = 0;
}

/* Products of a matrix of slices or of rows of one length, of few diagonals, of few that are next
 * to each other, and of blocks; x in rows of eight. */
kith_status sparse_slices_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<double> &product, const double *x);
kith_status sparse_slices_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<float> &product, const float *x);
kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<double> &product, const double *x);
kith_status sparse_diagonals_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<float> &product, const float *x);
kith_status sparse_band_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                   const vectors_product<double> &product, const double *x);
kith_status sparse_band_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                   const vectors_product<float> &product, const float *x);
kith_status sparse_blocks_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<double> &product, const double *x);
kith_status sparse_blocks_of_vectors(kith_context *context, const struct sparse_matrix *matrix,
                                     const vectors_product<float> &product, const float *x);

/* Products of a matrix of few diagonals; vector k of x is x_stride further than the one before. */
kith_status sparse_diagonals_of_columns(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<double> &product, const double *x,
                                        int64_t x_stride);
kith_status sparse_diagonals_of_columns(kith_context *context, const struct sparse_matrix *matrix,
                                        const vectors_product<float> &product, const float *x,
                                        int64_t x_stride);

#endif
