#ifndef CORE_SIMD_NEON_H
#define CORE_SIMD_NEON_H

/* The functions of simd.h that differ between instruction sets, for arm64. Included by simd.h
 * only. */

#include <arm_neon.h>

#define SIMD_ESTIMATE_BITS_FLOAT  8
#define SIMD_ESTIMATE_BITS_DOUBLE 8

#define SIMD_DEFINE_NEON(real, type, vint)                                                         \
    SIMD_INLINE v##real simd_fma_##real(v##real a, v##real b, v##real c)                           \
    {                                                                                              \
        return vfmaq_##type(c, a, b);                                                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_fma_where_##real(vint mask, v##real a, v##real b, v##real c)          \
    {                                                                                              \
        return (v##real)(((vint)simd_fma_##real(a, b, c) & mask) | ((vint)c & ~mask));             \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_least_##real(v##real x, v##real y)                                    \
    {                                                                                              \
        const vint less = (vint)(x < y);                                                           \
        return (v##real)(((vint)x & less) | ((vint)y & ~less));                                    \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_greatest_##real(v##real x, v##real y)                                 \
    {                                                                                              \
        const vint greater = (vint)(x > y);                                                        \
        return (v##real)(((vint)x & greater) | ((vint)y & ~greater));                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_unless_equal_##real(v##real a, v##real b, v##real value)              \
    {                                                                                              \
        return (v##real)((vint)(a != b) & (vint)value);                                            \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_estimate_rsqrt_##real(v##real x)                                      \
    {                                                                                              \
        return vrsqrteq_##type(x);                                                                 \
    }

SIMD_DEFINE_NEON(float, f32, vint32)
SIMD_DEFINE_NEON(double, f64, vint64)

#endif
