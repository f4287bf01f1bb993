#ifndef CORE_SIMD_NEON_H
#define CORE_SIMD_NEON_H

/* The functions of simd.h that differ between instruction sets, for arm64. Included by simd.h
 * only. */

#include <arm_neon.h>

#include "core/simd_bits.h"

#define SIMD_ESTIMATE_BITS_FLOAT  8
#define SIMD_ESTIMATE_BITS_DOUBLE 8

#define SIMD_DEFINE_NEON(real, type)                                                               \
    SIMD_INLINE v##real simd_fma_##real(v##real a, v##real b, v##real c)                           \
    {                                                                                              \
        return vfmaq_##type(c, a, b);                                                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_estimate_rsqrt_##real(v##real x)                                      \
    {                                                                                              \
        return vrsqrteq_##type(x);                                                                 \
    }

SIMD_DEFINE_NEON(float, f32)
SIMD_DEFINE_NEON(double, f64)

SIMD_DEFINE_MASKS(float, vint32)
SIMD_DEFINE_MASKS(double, vint64)

#endif
