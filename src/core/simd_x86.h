#ifndef CORE_SIMD_X86_H
#define CORE_SIMD_X86_H

/* The functions of simd.h that differ between instruction sets, for x86-64: AVX-512, AVX2 with FMA,
 * SSE. Included by simd.h only. */

#include <immintrin.h>

#include "core/simd_bits.h"

#if defined(__AVX512F__)
#define SIMD_X86(name, type) _mm512_##name##_##type
#elif defined(__AVX__)
#define SIMD_X86(name, type) _mm256_##name##_##type
#else
#define SIMD_X86(name, type) _mm_##name##_##type
#endif

#if defined(__FMA__)
#define SIMD_X86_FMA(a, b, c, type) SIMD_X86(fmadd, type)(a, b, c)
#else
#define SIMD_X86_FMA(a, b, c, type) ((a) * (b) + (c))
#endif

#if defined(__AVX512F__)
#define SIMD_X86_UNLESS_EQUAL(a, b, value, type, vreal, vint)                                      \
    SIMD_X86(maskz_mov, type)(_mm512_cmp_##type##_mask(a, b, _CMP_NEQ_UQ), value)
#else
#define SIMD_X86_UNLESS_EQUAL(a, b, value, type, vreal, vint)                                      \
    (vreal)((vint)((a) != (b)) & (vint)(value))
#endif

#define SIMD_DEFINE_X86(real, type, vint)                                                          \
    SIMD_INLINE v##real simd_fma_##real(v##real a, v##real b, v##real c)                           \
    {                                                                                              \
        return SIMD_X86_FMA(a, b, c, type);                                                        \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_unless_equal_##real(v##real a, v##real b, v##real value)              \
    {                                                                                              \
        return SIMD_X86_UNLESS_EQUAL(a, b, value, type, v##real, vint);                            \
    }

SIMD_DEFINE_X86(float, ps, vint32)
SIMD_DEFINE_X86(double, pd, vint64)

#if defined(__AVX512F__)

#define SIMD_ESTIMATE_BITS_FLOAT  14
#define SIMD_ESTIMATE_BITS_DOUBLE 14

SIMD_INLINE vfloat simd_estimate_rsqrt_float(vfloat x)
{
    return _mm512_rsqrt14_ps(x);
}

SIMD_INLINE vdouble simd_estimate_rsqrt_double(vdouble x)
{
    return _mm512_rsqrt14_pd(x);
}

#else

#define SIMD_ESTIMATE_BITS_FLOAT  11
#define SIMD_ESTIMATE_BITS_DOUBLE 4

SIMD_INLINE vfloat simd_estimate_rsqrt_float(vfloat x)
{
    return SIMD_X86(rsqrt, ps)(x);
}

/* rsqrtps is no way round: a double in its range is not always one in float's. */
SIMD_INLINE vdouble simd_estimate_rsqrt_double(vdouble x)
{
    return simd_bits_rsqrt_double(x);
}

#endif

#endif
