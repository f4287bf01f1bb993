#ifndef CORE_SIMD_MATH_H
#define CORE_SIMD_MATH_H

/* Functions of vectors of reals (core/simd.h).
 *
 * exp2, exp, log and sqrt are within an epsilon or so of the true value for every argument, pow
 * within four where the processor has fused multiplication; log2 and log10 within three, but for
 * arguments next to 1. An argument that is rare (zero, subnormal, negative for a logarithm,
 * infinite, NaN) goes to the C library; the other lanes of its vector do not, so that a value does
 * not depend on its neighbors. */

#include <float.h>
#include <math.h>

#include "core/simd.h"
#include "core/simd_math_table.h"

#define simd_sqrt(x)            SIMD_OF(x, simd_sqrt)(x)
#define simd_exp2(x)            SIMD_OF(x, simd_exp2)(x)
#define simd_exp(x)             SIMD_OF(x, simd_exp)(x)
#define simd_log(x)             SIMD_OF(x, simd_log)(x)
#define simd_pow(x, y)          SIMD_OF(x, simd_pow)(x, y)
#define simd_log2(x)            SIMD_OF(x, simd_log2)(x)
#define simd_fabs(x)            SIMD_OF(x, simd_fabs)(x)
#define simd_fmin(x, y)         SIMD_OF(x, simd_fmin)(x, y) /* the other if one is NaN */
#define simd_fmax(x, y)         SIMD_OF(x, simd_fmax)(x, y)
#define simd_rsqrt_of_any(x)    SIMD_OF(x, simd_rsqrt_of_any)(x)    /* as 1/√x is, for any x */
#define simd_select(mask, a, b) SIMD_OF(a, simd_select)(mask, a, b) /* mask ? a : b */

/* simd_rsqrt and simd_rsqrt_or_0_scaled, for subnormal x, too: AVX-512's estimate knows them, and
 * elsewhere they count as the smallest normal number. */
#define simd_rsqrt_of_subnormal(x)             SIMD_OF(x, simd_rsqrt_of_subnormal)(x)
#define simd_rsqrt_or_0_of_subnormal_scaled(x) SIMD_OF(x, simd_rsqrt_or_0_of_subnormal_scaled)(x)
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
#define SIMD_NORMAL_FLOAT(x)  (x)
#define SIMD_NORMAL_DOUBLE(x) (x)
#elif defined(__x86_64__) && !defined(SIMD_GENERIC)
#define SIMD_NORMAL_FLOAT(x)  SIMD_X86(max, ps)(simd_all_float(SIMD_LEAST_FLOAT), x)
#define SIMD_NORMAL_DOUBLE(x) SIMD_X86(max, pd)(simd_all_double(SIMD_LEAST_DOUBLE), x)
#else
#define SIMD_NORMAL_FLOAT(x) simd_select(x < SIMD_LEAST_FLOAT, simd_all_float(SIMD_LEAST_FLOAT), x)
#define SIMD_NORMAL_DOUBLE(x)                                                                      \
    simd_select(x < SIMD_LEAST_DOUBLE, simd_all_double(SIMD_LEAST_DOUBLE), x)
#endif

#if defined(__x86_64__) && !defined(SIMD_GENERIC)
#define SIMD_SQRT_FLOAT(x)  SIMD_X86(sqrt, ps)(x)
#define SIMD_SQRT_DOUBLE(x) SIMD_X86(sqrt, pd)(x)
#elif defined(__aarch64__) && !defined(SIMD_GENERIC)
#define SIMD_SQRT_FLOAT(x)  vsqrtq_f32(x)
#define SIMD_SQRT_DOUBLE(x) vsqrtq_f64(x)
#else
#define SIMD_SQRT_FLOAT(x)  simd_by_lane_float(sqrtf, x)
#define SIMD_SQRT_DOUBLE(x) simd_by_lane_double(sqrt, x)
#endif

#if defined(__AVX512F__)
#define SIMD_ANY_FLOAT(mask)  (_mm512_test_epi32_mask((__m512i)(mask), (__m512i)(mask)) != 0)
#define SIMD_ANY_DOUBLE(mask) (_mm512_test_epi64_mask((__m512i)(mask), (__m512i)(mask)) != 0)
#elif defined(__AVX__) && !defined(SIMD_GENERIC)
#define SIMD_ANY_FLOAT(mask)  (!_mm256_testz_si256((__m256i)(mask), (__m256i)(mask)))
#define SIMD_ANY_DOUBLE(mask) SIMD_ANY_FLOAT(mask)
#elif defined(__SSE4_1__) && !defined(SIMD_GENERIC)
#define SIMD_ANY_FLOAT(mask)  (!_mm_testz_si128((__m128i)(mask), (__m128i)(mask)))
#define SIMD_ANY_DOUBLE(mask) SIMD_ANY_FLOAT(mask)
#else
#define SIMD_ANY_FLOAT(mask)  simd_any_lane_float(mask)
#define SIMD_ANY_DOUBLE(mask) simd_any_lane_double(mask)
#endif

/* Whether a·b − p is had without error, which pow needs. */
#if (defined(__FMA__) || defined(__aarch64__)) && !defined(SIMD_GENERIC)
#define SIMD_FMA_IS_EXACT 1
#else
#define SIMD_FMA_IS_EXACT 0
#endif

#define SIMD_DEFINE_LANES(real, vint)                                                              \
    SIMD_INLINE v##real simd_select_##real(vint mask, v##real a, v##real b)                        \
    {                                                                                              \
        return (v##real)((mask & (vint)a) | (~mask & (vint)b));                                    \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE int simd_any_lane_##real(vint mask)                                                \
    {                                                                                              \
        int any = 0;                                                                               \
        for (size_t lane = 0; lane < sizeof mask / sizeof mask[0]; lane++)                         \
            any |= mask[lane] != 0;                                                                \
        return any;                                                                                \
    }                                                                                              \
                                                                                                   \
    static __attribute__((noinline, unused))                                                       \
    v##real simd_by_lane_##real(real function(real), v##real x)                                    \
    {                                                                                              \
        for (size_t lane = 0; lane < sizeof x / sizeof x[0]; lane++)                               \
            x[lane] = function(x[lane]);                                                           \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static __attribute__((noinline, unused))                                                       \
    v##real simd_by_lane_2_##real(real function(real, real), v##real x, v##real y)                 \
    {                                                                                              \
        for (size_t lane = 0; lane < sizeof x / sizeof x[0]; lane++)                               \
            x[lane] = function(x[lane], y[lane]);                                                  \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_polynomial_##real(v##real x, const real *coefficient, int degree)     \
    {                                                                                              \
        v##real sum = simd_all_##real(coefficient[degree]);                                        \
        SIMD_UNROLL                                                                                \
        for (int k = degree - 1; k >= 0; k--)                                                      \
            sum = simd_fma_##real(sum, x, simd_all_##real(coefficient[k]));                        \
        return sum;                                                                                \
    }

SIMD_DEFINE_LANES(float, vint32)
SIMD_DEFINE_LANES(double, vint64)

#define SIMD_DEGREE(table) ((int)(sizeof(table) / sizeof(table)[0]) - 1)

/* The constants of a format: its bits, and numbers that depend on them. ROUNDER: adding 3·2^(p−2)
 * rounds to an integer, which the low bits then are. */
#define SIMD_FRACTION_BITS_FLOAT   23
#define SIMD_FRACTION_BITS_DOUBLE  52
#define SIMD_BIAS_FLOAT            127
#define SIMD_BIAS_DOUBLE           1023
#define SIMD_ROUNDER_FLOAT         0x1.8p23f
#define SIMD_ROUNDER_DOUBLE        0x1.8p52
#define SIMD_ROUNDER_BITS_FLOAT    0x4b400000
#define SIMD_ROUNDER_BITS_DOUBLE   0x4338000000000000
#define SIMD_SQRT_HALF_BITS_FLOAT  0x3f3504f3
#define SIMD_SQRT_HALF_BITS_DOUBLE 0x3fe6a09e667f3bcd
#define SIMD_SIGN_FLOAT            INT32_MIN
#define SIMD_SIGN_DOUBLE           INT64_MIN
#define SIMD_LEAST_FLOAT           FLT_MIN
#define SIMD_LEAST_DOUBLE          DBL_MIN
#define SIMD_GREATEST_FLOAT        FLT_MAX
#define SIMD_GREATEST_DOUBLE       DBL_MAX
/* Beyond these exp2 is ∞ or 0. */
#define SIMD_EXP2_HIGH_FLOAT  129.0f
#define SIMD_EXP2_LOW_FLOAT   -151.0f
#define SIMD_EXP2_HIGH_DOUBLE 1025.0
#define SIMD_EXP2_LOW_DOUBLE  -1076.0
/* ln 2 in two parts, the first short enough that its product with an integer is exact. */
#define SIMD_LN2_HIGH_FLOAT  0x1.62e4p-1f
#define SIMD_LN2_LOW_FLOAT   0x1.7f7d1cp-20f
#define SIMD_LN2_HIGH_DOUBLE 0x1.62e42fefa38p-1
#define SIMD_LN2_LOW_DOUBLE  0x1.ef35793c7673p-45
/* 1/ln 2 in two parts. */
#define SIMD_LOG2E_HIGH_FLOAT  0x1.715476p+0f
#define SIMD_LOG2E_LOW_FLOAT   0x1.4ae0bfp-26f
#define SIMD_LOG2E_HIGH_DOUBLE 0x1.71547652b82fep+0
#define SIMD_LOG2E_LOW_DOUBLE  0x1.777d0ffda0d24p-56

/* exp2 and exp: x = n + f or n ln 2 + f; 2^n is applied in two halves, so that neither overflows
 * where the result does not, and small results become subnormal as they should. */
#define SIMD_DEFINE_EXP(real, REAL, vint)                                                          \
    SIMD_INLINE v##real simd_power_of_2_##real(vint n)                                             \
    {                                                                                              \
        return (v##real)((n + SIMD_BIAS_##REAL) << SIMD_FRACTION_BITS_##REAL);                     \
    }                                                                                              \
                                                                                                   \
    /* y·2^n; rounded is n + ROUNDER. */                                                          \
    SIMD_INLINE v##real simd_scale_##real(v##real y, v##real rounded)                              \
    {                                                                                              \
        const vint n = (vint)rounded - SIMD_ROUNDER_BITS_##REAL;                                   \
        const vint half = n >> 1;                                                                  \
        return y * simd_power_of_2_##real(half) * simd_power_of_2_##real(n - half);                \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_clamp_##real(v##real x, real low, real high)                          \
    {                                                                                              \
        x = simd_select_##real(x > high, simd_all_##real(high), x); /* NaN stays */                \
        return simd_select_##real(x < low, simd_all_##real(low), x);                               \
    }                                                                                              \
                                                                                                   \
    /* 2^(x + rest), rest much less than x. */                                                     \
    SIMD_INLINE v##real simd_exp2_of_sum_##real(v##real x, v##real rest)                           \
    {                                                                                              \
        x = simd_clamp_##real(x, SIMD_EXP2_LOW_##REAL, SIMD_EXP2_HIGH_##REAL);                     \
        const v##real rounded = x + SIMD_ROUNDER_##REAL;                                           \
        const v##real f = x - (rounded - SIMD_ROUNDER_##REAL) + rest;                              \
        const v##real series = simd_polynomial_##real(f, simd_exp2_terms_##real,                   \
                                                      SIMD_DEGREE(simd_exp2_terms_##real));        \
        return simd_scale_##real(simd_fma_##real(f, series, simd_all_##real(1)), rounded);         \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_exp2_##real(v##real x)                                                \
    {                                                                                              \
        return simd_exp2_of_sum_##real(x, (v##real){0});                                           \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_exp_##real(v##real x)                                                 \
    {                                                                                              \
        x = simd_clamp_##real(x, SIMD_EXP2_LOW_##REAL * SIMD_LN2_HIGH_##REAL,                      \
                              SIMD_EXP2_HIGH_##REAL * SIMD_LN2_HIGH_##REAL);                       \
        const v##real rounded = simd_fma_##real(x, simd_all_##real(SIMD_LOG2E_HIGH_##REAL),        \
                                                simd_all_##real(SIMD_ROUNDER_##REAL));             \
        const v##real n = rounded - SIMD_ROUNDER_##REAL;                                           \
        v##real f = simd_fma_##real(-n, simd_all_##real(SIMD_LN2_HIGH_##REAL), x);                 \
        f = simd_fma_##real(-n, simd_all_##real(SIMD_LN2_LOW_##REAL), f);                          \
        const v##real series =                                                                     \
            simd_polynomial_##real(f, simd_exp_terms_##real, SIMD_DEGREE(simd_exp_terms_##real));  \
        return simd_scale_##real(simd_fma_##real(f * f, series, f) + 1, rounded);                  \
    }

SIMD_DEFINE_EXP(float, FLOAT, vint32)
SIMD_DEFINE_EXP(double, DOUBLE, vint64)

/* log and pow: x = 2^k m with m in [√½, √2), f = m − 1 exactly, s = f / (2 + f),
 * log m = log((1 + s)/(1 − s)) = 2s + s³ R(s²). */
#define SIMD_DEFINE_LOG(real, REAL, vint)                                                          \
    SIMD_INLINE vint simd_is_rare_##real(v##real x)                                                \
    {                                                                                              \
        return ~((x >= SIMD_LEAST_##REAL) & (x <= SIMD_GREATEST_##REAL));                          \
    }                                                                                              \
                                                                                                   \
    /* m − 1, and k. */                                                                          \
    SIMD_INLINE v##real simd_split_##real(v##real x, v##real *k)                                   \
    {                                                                                              \
        const vint shift = ((vint)x - SIMD_SQRT_HALF_BITS_##REAL) >> SIMD_FRACTION_BITS_##REAL;    \
        *k = (v##real)(shift + SIMD_ROUNDER_BITS_##REAL) - SIMD_ROUNDER_##REAL;                    \
        return (v##real)((vint)x - (shift << SIMD_FRACTION_BITS_##REAL)) - 1;                      \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_log_##real(v##real x)                                                 \
    {                                                                                              \
        v##real k;                                                                                 \
        const v##real f = simd_split_##real(x, &k), s = f / (f + 2), z = s * s;                    \
        const v##real series = z * simd_polynomial_##real(z, simd_log_terms_##real,                \
                                                          SIMD_DEGREE(simd_log_terms_##real));     \
        /* 2s = f − s f = f − f²/2 + s f²/2: the largest term, f, is exact. */               \
        const v##real square = f * f * (real)0.5;                                                  \
        const v##real rest = simd_fma_##real(s, square + series, k * SIMD_LN2_LOW_##REAL);         \
        const v##real usual =                                                                      \
            simd_fma_##real(k, simd_all_##real(SIMD_LN2_HIGH_##REAL), f - (square - rest));        \
        const vint rare = simd_is_rare_##real(x);                                                  \
        if (SIMD_ANY_##REAL(rare))                                                                 \
            return simd_select_##real(rare, simd_by_lane_##real(SIMD_LIBM_LOG_##REAL, x), usual);  \
        return usual;                                                                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_log2_##real(v##real x)                                                \
    {                                                                                              \
        return simd_log_##real(x) * SIMD_LOG2E_HIGH_##REAL;                                        \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_pow_##real(v##real x, v##real y)                                      \
    {                                                                                              \
        const v##real size = simd_select_##real(y < 0, -y, y);                                     \
        if (!SIMD_FMA_IS_EXACT)                                                                    \
            return simd_by_lane_2_##real(SIMD_LIBM_POW_##REAL, x, y);                              \
        v##real k;                                                                                 \
        const v##real f = simd_split_##real(x, &k), t = f + 2, s = f / t, z = s * s;               \
        /* What rounding took from s: t is 2 + f but for 2 − t + f. */                           \
        const v##real s_low = simd_fma_##real(-s, (2 - t) + f, simd_fma_##real(-s, t, f)) / t;     \
        const v##real cube =                                                                       \
            s * z *                                                                                \
            simd_polynomial_##real(z, simd_log_terms_##real, SIMD_DEGREE(simd_log_terms_##real));  \
        /* log m = high + low, then log2 x. */                                                     \
        const v##real high = 2 * s + cube, low = 2 * s - high + cube + 2 * s_low;                  \
        const v##real product = high * SIMD_LOG2E_HIGH_##REAL;                                     \
        const v##real product_low =                                                                \
            simd_fma_##real(high, simd_all_##real(SIMD_LOG2E_HIGH_##REAL), -product) +             \
            high * SIMD_LOG2E_LOW_##REAL + low * SIMD_LOG2E_HIGH_##REAL;                           \
        const v##real log2 = k + product, log2_low = (k - log2) + product + product_low;           \
        v##real power = log2 * y;                                                                  \
        const v##real power_low = simd_fma_##real(log2, y, -power) + log2_low * y;                 \
        const v##real usual = simd_exp2_of_sum_##real(power, simd_clamp_##real(power_low, -1, 1)); \
        const vint rare = simd_is_rare_##real(x) | ~(size <= (real)0x1p60);                        \
        if (SIMD_ANY_##REAL(rare))                                                                 \
            return simd_select_##real(rare, simd_by_lane_2_##real(SIMD_LIBM_POW_##REAL, x, y),     \
                                      usual);                                                      \
        return usual;                                                                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_fabs_##real(v##real x)                                                \
    {                                                                                              \
        return (v##real)((vint)x & ~((vint){0} + SIMD_SIGN_##REAL));                               \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_fmin_##real(v##real x, v##real y)                                     \
    {                                                                                              \
        return simd_select_##real((vint)(y != y), x, simd_least_##real(x, y));                     \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_fmax_##real(v##real x, v##real y)                                     \
    {                                                                                              \
        return simd_select_##real((vint)(y != y), x, simd_greatest_##real(x, y));                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt_of_any_##real(v##real x)                                        \
    {                                                                                              \
        const v##real usual = simd_rsqrt_##real(x);                                                \
        const vint rare = simd_is_rare_##real(x);                                                  \
        if (SIMD_ANY_##REAL(rare))                                                                 \
            return simd_select_##real(rare, 1 / SIMD_SQRT_##REAL(x), usual);                       \
        return usual;                                                                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt_of_subnormal_##real(v##real x)                                  \
    {                                                                                              \
        return simd_rsqrt_##real(SIMD_NORMAL_##REAL(x));                                           \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt_or_0_of_subnormal_scaled_##real(v##real x)                      \
    {                                                                                              \
        return simd_0_at_0_##real(x, simd_rsqrt_or_0_scaled_##real(SIMD_NORMAL_##REAL(x)));        \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_sqrt_##real(v##real x)                                                \
    {                                                                                              \
        return SIMD_SQRT_##REAL(x);                                                                \
    }

#define SIMD_LIBM_LOG_FLOAT  logf
#define SIMD_LIBM_LOG_DOUBLE log
#define SIMD_LIBM_POW_FLOAT  powf
#define SIMD_LIBM_POW_DOUBLE pow
SIMD_DEFINE_LOG(float, FLOAT, vint32)
SIMD_DEFINE_LOG(double, DOUBLE, vint64)

#endif
