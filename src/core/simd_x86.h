#ifndef CORE_SIMD_X86_H
#define CORE_SIMD_X86_H

/* The functions of simd.h that differ between instruction sets, for x86-64: AVX-512, AVX2 with FMA,
 * SSE. Included by simd.h only. */

#include <immintrin.h>

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
#define SIMD_X86_MASK_float(mask)  _mm512_movepi32_mask((__m512i)(mask))
#define SIMD_X86_MASK_double(mask) _mm512_movepi64_mask((__m512i)(mask))
#define SIMD_X86_FMA_WHERE(mask, a, b, c, real, type, vint)                                        \
    _mm512_mask3_fmadd_##type(a, b, c, SIMD_X86_MASK_##real(mask))
#else
#define SIMD_X86_FMA_WHERE(mask, a, b, c, real, type, vint)                                        \
    (v##real)(((vint)SIMD_X86_FMA(a, b, c, type) & (mask)) | ((vint)(c) & ~(mask)))
#define SIMD_X86_UNLESS_EQUAL(a, b, value, type, vreal, vint)                                      \
    (vreal)((vint)((a) != (b)) & (vint)(value))
#endif

#define SIMD_DEFINE_X86(real, type, vint)                                                          \
    SIMD_INLINE v##real simd_fma_##real(v##real a, v##real b, v##real c)                           \
    {                                                                                              \
        return SIMD_X86_FMA(a, b, c, type);                                                        \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_fma_where_##real(vint mask, v##real a, v##real b, v##real c)          \
    {                                                                                              \
        return SIMD_X86_FMA_WHERE(mask, a, b, c, real, type, vint);                                \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_least_##real(v##real x, v##real y)                                    \
    {                                                                                              \
        return SIMD_X86(min, type)(x, y);                                                          \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_greatest_##real(v##real x, v##real y)                                 \
    {                                                                                              \
        return SIMD_X86(max, type)(x, y);                                                          \
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
#define SIMD_ESTIMATE_BITS_DOUBLE 11

SIMD_INLINE vfloat simd_estimate_rsqrt_float(vfloat x)
{
    return SIMD_X86(rsqrt, ps)(x);
}

#if defined(__AVX__)
#define SIMD_X86_RSQRT_AS_FLOAT(x) _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(x)))
#else
#define SIMD_X86_RSQRT_AS_FLOAT(x) _mm_cvtps_pd(_mm_rsqrt_ps(_mm_cvtpd_ps(x)))
#endif

/* x = m·4^k with m in [½, 2), which is in the range of a float: 1/√x = 2^{−k}/√m. The bits of k
 * with its bias, halved, are those of x above the lowest bit of the exponent. */
SIMD_INLINE vdouble simd_estimate_rsqrt_double(vdouble x)
{
    const vint64 bits = (vint64)x;
    const vdouble m = (vdouble)((bits & 0x001fffffffffffff) | 0x3fe0000000000000);
    const vint64 k = (bits >> 1) & 0x7ff0000000000000;
    return (vdouble)((vint64)SIMD_X86_RSQRT_AS_FLOAT(m) + (0x1ff0000000000000 - k));
}

#endif

#endif
