#ifndef CORE_SIMD_GENERIC_H
#define CORE_SIMD_GENERIC_H

/* The functions of simd.h that differ between instruction sets, for a compiler with vector
 * extensions and any processor. Included by simd.h only. */

#include "core/simd_bits.h"

#define SIMD_ESTIMATE_BITS_FLOAT  4
#define SIMD_ESTIMATE_BITS_DOUBLE 4

#define SIMD_DEFINE_GENERIC(real)                                                                  \
    SIMD_INLINE v##real simd_fma_##real(v##real a, v##real b, v##real c)                           \
    {                                                                                              \
        return a * b + c;                                                                          \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_estimate_rsqrt_##real(v##real x)                                      \
    {                                                                                              \
        return simd_bits_rsqrt_##real(x);                                                          \
    }

SIMD_DEFINE_GENERIC(float)
SIMD_DEFINE_GENERIC(double)

SIMD_DEFINE_MASKS(float, vint32)
SIMD_DEFINE_MASKS(double, vint64)

#endif
