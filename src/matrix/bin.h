#ifndef MATRIX_BIN_H
#define MATRIX_BIN_H

#include "matrix/problem.h"

#ifdef __CUDACC__
#define MATRIX_BIN_INLINE static __device__ __forceinline__
#else
#define MATRIX_BIN_INLINE static inline
#endif

/* Where bin k begins: NumPy's linspace, whose last number is exact. (Never fused: a product that is
 * rounded, then a sum.) */
MATRIX_BIN_INLINE double matrix_edge(const struct matrix_histogram *range, double k)
{
    const double step = (range->high - range->low) / (double)range->bins;
    if (k >= (double)range->bins)
        return range->high;
#ifdef __CUDACC__
    return __dadd_rn(__dmul_rn(k, step), range->low);
#else
    const double product = k * step;
    return product + range->low;
#endif
}

/* The bin of a value, or −1: bin k has edge(k) ≤ value < edge(k + 1), the last one its end too.
 * What the division gives may be wrong by one next to an edge. */
MATRIX_BIN_INLINE long long matrix_bin(const struct matrix_histogram *range, double value)
{
    if (!(value >= range->low && value <= range->high))
        return -1;
    const double last = (double)(range->bins - 1);
    double k = (value - range->low) / (range->high - range->low) * (double)range->bins;
    k = (double)(long long)k;
    if (k > last)
        k = last;
    if (k > 0 && value < matrix_edge(range, k))
        k -= 1;
    else if (k < last && value >= matrix_edge(range, k + 1))
        k += 1;
    return (long long)k;
}

#endif
