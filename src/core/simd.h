#ifndef CORE_SIMD_H
#define CORE_SIMD_H

/* Vectors of reals for kernels, as long as the registers of the instruction set that the file is
 * compiled for.
 *
 * vfloat and vdouble are vector extensions of GCC and Clang: + − * / and unary − work on them. The
 * macros below take either type. What differs between instruction sets is in simd_x86.h,
 * simd_neon.h and simd_generic.h, which define the same functions; to add one, add such a file. */

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define SIMD_BYTES 64
#elif defined(__AVX__)
#define SIMD_BYTES 32
#else
#define SIMD_BYTES 16
#endif

typedef float vfloat __attribute__((vector_size(SIMD_BYTES)));
typedef double vdouble __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t vint32 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t vint64 __attribute__((vector_size(SIMD_BYTES)));

#define SIMD_INLINE static inline __attribute__((always_inline, unused))

/* Before a loop with a small constant number of iterations over vectors, so that they stay in
 * registers. */
#if defined(__clang__)
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 16")
#endif

/* Before a loop whose long body must not be unrolled. */
#if defined(__clang__)
#define SIMD_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define SIMD_KEEP_LOOP _Pragma("GCC unroll 1")
#endif

/* Hides the value of x from the optimizer, and keeps x alive: for measurements. */
#if defined(__AVX512F__)
#define SIMD_LAUNDER(x) __asm__ volatile("" : "+v"(x))
#elif defined(__x86_64__)
#define SIMD_LAUNDER(x) __asm__ volatile("" : "+x"(x))
#elif defined(__aarch64__)
#define SIMD_LAUNDER(x) __asm__ volatile("" : "+w"(x))
#else
#define SIMD_LAUNDER(x) __asm__ volatile("" : "+m"(x))
#endif

#define SIMD_OF(x, name) _Generic((x), vfloat : name##_float, vdouble : name##_double)

/* a·b + c, rounded once where the hardware can. */
#define simd_fma(a, b, c) SIMD_OF(a, simd_fma)(a, b, c)

/* a·b + c in the lanes where the mask is −1, c where it is 0. */
#define simd_fma_where(mask, a, b, c) SIMD_OF(a, simd_fma_where)(mask, a, b, c)

/* x where x < y, or x > y; else y. */
#define simd_least(x, y)    SIMD_OF(x, simd_least)(x, y)
#define simd_greatest(x, y) SIMD_OF(x, simd_greatest)(x, y)

/* value where a ≠ b, else 0. */
#define simd_unless_equal(a, b, value) SIMD_OF(a, simd_unless_equal)(a, b, value)

/* 1/√x to about an ulp for normal x > 0; unspecified for any other x. */
#define simd_rsqrt(x) SIMD_OF(x, simd_rsqrt)(x)

/* SIMD_RSQRT3_SCALE_FLOAT or _DOUBLE times 1/√x³, to about two ulps for normal x > 0 whose 1/√x³ is
 * normal. (A factor that saves an operation where the estimate is good enough for Newton's step.)
 */
#define simd_rsqrt3_scaled(x) SIMD_OF(x, simd_rsqrt3_scaled)(x)

/* 1/√x from the processor's estimate alone: a third of the error of simd_rsqrt3_rough in float. */
#define simd_begin_rsqrt(x) SIMD_OF(x, simd_begin_rsqrt)(x)

/* SIMD_RSQRT3_ROUGH_SCALE_FLOAT or _DOUBLE times 1/√x³, to SIMD_RSQRT3_ROUGH_ERROR_FLOAT or
 * _DOUBLE: from the processor's estimate alone, in double with one of Newton's steps. */
#define simd_rsqrt3_rough(x)           SIMD_OF(x, simd_rsqrt3_rough)(x)
#define SIMD_RSQRT3_ROUGH_SCALE_FLOAT  1.0f
#define SIMD_RSQRT3_ROUGH_SCALE_DOUBLE (5.0 / 3 - 1)
#define SIMD_RSQRT3_ROUGH_ERROR_FLOAT  (3.0 / (1 << SIMD_ESTIMATE_BITS_FLOAT))
#define SIMD_RSQRT3_ROUGH_ERROR_DOUBLE (8.0 / (1 << 2 * SIMD_ESTIMATE_BITS_DOUBLE))

/* SIMD_RSQRT_SCALE_FLOAT or _DOUBLE times 1/√x, to about two ulps for normal x > 0, and 0 for x =
 * 0.
 */
#define simd_rsqrt_or_0_scaled(x) SIMD_OF(x, simd_rsqrt_or_0_scaled)(x)

/* c over the factor of simd_rsqrt3_scaled or simd_rsqrt_or_0_scaled: what their results are to be
 * multiplied by in c's place. */
#define simd_rsqrt3_unscaled(c)     SIMD_OF(c, simd_rsqrt3_unscaled)(c)
#define simd_rsqrt_or_0_unscaled(c) SIMD_OF(c, simd_rsqrt_or_0_unscaled)(c)

/* The vector at an address, of any alignment. */
#define simd_load(from)                                                                            \
    _Generic(*(from), float : simd_load_float, double : simd_load_double)((const void *)(from))

#define simd_store(to, x) SIMD_OF(x, simd_store)(to, x)

/* The vector with all elements x. */
#define simd_all(x) _Generic((x), float : simd_all_float, double : simd_all_double)(x)

/* The sum of the lanes of each of as many vectors as a vector has lanes, in their order. Destroys
 * the vectors. */
#define simd_sum_rows(rows)                                                                        \
    _Generic((rows)[0], vfloat : simd_sum_rows_float, vdouble : simd_sum_rows_double)(rows)

/* SIMD_GENERIC: the portable functions, for tests of them. */
#if defined(SIMD_GENERIC)
#include "core/simd_generic.h"
#elif defined(__x86_64__)
#include "core/simd_x86.h"
#elif defined(__aarch64__)
#include "core/simd_neon.h"
#else
#include "core/simd_generic.h"
#endif

/* Terms of the series below that an estimate with a relative error of 2^−bits needs, for an error
 * of less than half an ulp. */
#define SIMD_TERMS_FLOAT(bits)  ((bits) >= 14 ? 1 : 2)
#define SIMD_TERMS_DOUBLE(bits) ((bits) >= 14 ? 3 : 4)

/* Estimates worse than this are improved by two terms first. */
enum { SIMD_LEAST_BITS_FLOAT = 11, SIMD_LEAST_BITS_DOUBLE = 11 };

/* With e = 1 − x y², an estimate y of 1/√x becomes 1/√x = y (1 − e)^{−1/2}, and 1/√x³ =
 * y³ (1 − e)^{−3/2}; the binomial series of both begin with 1 + coefficient[0] e + …. k terms raise
 * an error of δ to about δ^{k+1}; one term is Newton's step. terms must be constant. */
#define SIMD_DEFINE(real)                                                                          \
    static const real simd_coefficients_rsqrt_##real[] = {1.0f / 2, 3.0f / 8, 5.0f / 16,           \
                                                          35.0f / 128};                            \
    static const real simd_coefficients_rsqrt3_##real[] = {3.0f / 2, 15.0f / 8, 35.0f / 16,        \
                                                           315.0f / 128};                          \
                                                                                                   \
    SIMD_INLINE v##real simd_load_##real(const void *from)                                         \
    {                                                                                              \
        v##real x;                                                                                 \
        memcpy(&x, from, sizeof x);                                                                \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE void simd_store_##real(void *to, v##real x)                                        \
    {                                                                                              \
        memcpy(to, &x, sizeof x);                                                                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_all_##real(real x)                                                    \
    {                                                                                              \
        return x - (v##real){0};                                                                   \
    }                                                                                              \
                                                                                                   \
    /* value·(1 + Σ_k coefficient[k] e^{k+1}) */                                                 \
    SIMD_INLINE v##real simd_times_series_##real(v##real value, v##real e,                         \
                                                 const real *coefficient, int terms)               \
    {                                                                                              \
        v##real series = simd_all_##real(coefficient[terms - 1]);                                  \
        SIMD_UNROLL                                                                                \
        for (int k = terms - 2; k >= 0; k--)                                                       \
            series = simd_fma_##real(series, e, simd_all_##real(coefficient[k]));                  \
        return simd_fma_##real(value * e, series, value);                                          \
    }

SIMD_DEFINE(float)
SIMD_DEFINE(double)

/* The elements with even and with odd index of two vectors after each other. */
#define SIMD_EVEN_2(a, b) __builtin_shufflevector(a, b, 0, 2)
#define SIMD_ODD_2(a, b)  __builtin_shufflevector(a, b, 1, 3)
#define SIMD_EVEN_4(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define SIMD_ODD_4(a, b)  __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define SIMD_EVEN_8(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define SIMD_ODD_8(a, b)  __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define SIMD_EVEN_16(a, b)                                                                         \
    __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define SIMD_ODD_16(a, b)                                                                          \
    __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)

/* Each round adds neighboring elements of all rows and halves the number of rows. */
#define SIMD_DEFINE_SUM_ROWS(real, lanes)                                                          \
    SIMD_INLINE v##real simd_sum_rows_##real(v##real *rows)                                        \
    {                                                                                              \
        SIMD_UNROLL                                                                                \
        for (int count = (lanes) / 2; count > 0; count /= 2) {                                     \
            SIMD_UNROLL                                                                            \
            for (int k = 0; k < count; k++)                                                        \
                rows[k] = SIMD_EVEN_##lanes(rows[2 * k], rows[2 * k + 1]) +                        \
                          SIMD_ODD_##lanes(rows[2 * k], rows[2 * k + 1]);                          \
        }                                                                                          \
        return rows[0];                                                                            \
    }

#if SIMD_BYTES == 64
SIMD_DEFINE_SUM_ROWS(float, 16)
SIMD_DEFINE_SUM_ROWS(double, 8)
#elif SIMD_BYTES == 32
SIMD_DEFINE_SUM_ROWS(float, 8)
SIMD_DEFINE_SUM_ROWS(double, 4)
#else
SIMD_DEFINE_SUM_ROWS(float, 4)
SIMD_DEFINE_SUM_ROWS(double, 2)
#endif

#define SIMD_RSQRT3_SCALE_FLOAT                                                                    \
    (SIMD_TERMS_FLOAT(SIMD_ESTIMATE_BITS_FLOAT) == 1 ? 5.0f / 3 - 1 : 1.0f)
#define SIMD_RSQRT3_SCALE_DOUBLE 1.0
#define SIMD_RSQRT_SCALE_FLOAT   (SIMD_TERMS_FLOAT(SIMD_ESTIMATE_BITS_FLOAT) == 1 ? 2.0f : 1.0f)
#define SIMD_RSQRT_SCALE_DOUBLE  1.0

#define SIMD_DEFINE_RSQRT(real, REAL)                                                              \
    /* An estimate of 1/√x that the series takes to the last digit. */                           \
    SIMD_INLINE v##real simd_begin_rsqrt_##real(v##real x)                                         \
    {                                                                                              \
        v##real y = simd_estimate_rsqrt_##real(x);                                                 \
        if (SIMD_ESTIMATE_BITS_##REAL < SIMD_LEAST_BITS_##REAL)                                    \
            y = simd_times_series_##real(y, simd_fma_##real(-x, y * y, simd_all_##real(1)),        \
                                         simd_coefficients_rsqrt_##real, 2);                       \
        return y;                                                                                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt_##real(v##real x)                                               \
    {                                                                                              \
        const int terms = SIMD_TERMS_##REAL(SIMD_ESTIMATE_BITS_##REAL);                            \
        const v##real y = simd_begin_rsqrt_##real(x);                                              \
        return simd_times_series_##real(y, simd_fma_##real(-(x * y), y, simd_all_##real(1)),       \
                                        simd_coefficients_rsqrt_##real, terms);                    \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt3_scaled_##real(v##real x)                                       \
    {                                                                                              \
        const int terms = SIMD_TERMS_##REAL(SIMD_ESTIMATE_BITS_##REAL);                            \
        const v##real y = simd_begin_rsqrt_##real(x), y2 = y * y;                                  \
        if (terms == 1) /* y³ (2/3 + e) */                                                        \
            return y * y2 * simd_fma_##real(-x, y2, simd_all_##real((real)5 / 3));                 \
        return simd_times_series_##real(y * y2, simd_fma_##real(-x, y2, simd_all_##real(1)),       \
                                        simd_coefficients_rsqrt3_##real, terms);                   \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt_or_0_scaled_##real(v##real x)                                   \
    {                                                                                              \
        if (SIMD_TERMS_##REAL(SIMD_ESTIMATE_BITS_##REAL) > 1)                                      \
            return simd_0_at_0_##real(x, simd_rsqrt_##real(x));                                    \
        const v##real y = simd_begin_rsqrt_##real(x); /* y (2 + e) */                              \
        return simd_0_at_0_##real(x, y * simd_fma_##real(-x, y * y, simd_all_##real(3)));          \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt3_unscaled_##real(v##real c)                                     \
    {                                                                                              \
        return c * simd_all_##real(1 / SIMD_RSQRT3_SCALE_##REAL);                                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_rsqrt_or_0_unscaled_##real(v##real c)                                 \
    {                                                                                              \
        return c * simd_all_##real(1 / SIMD_RSQRT_SCALE_##REAL);                                   \
    }

/* For x = 0 in 1/√x: 0. Where the estimate is infinite there, the result is not a number, which
 * max passes over in its first operand: it takes none of the units that multiply, as a
 * comparison does. */
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
#define SIMD_DEFINE_0_AT_0(real, type)                                                             \
    SIMD_INLINE v##real simd_0_at_0_##real(v##real x, v##real rsqrt)                               \
    {                                                                                              \
        (void)x;                                                                                   \
        return _mm512_max_##type(rsqrt, _mm512_setzero_##type());                                  \
    }
#else
#define SIMD_DEFINE_0_AT_0(real, type)                                                             \
    SIMD_INLINE v##real simd_0_at_0_##real(v##real x, v##real rsqrt)                               \
    {                                                                                              \
        return simd_unless_equal_##real(x, (v##real){0}, rsqrt);                                   \
    }
#endif

SIMD_DEFINE_0_AT_0(float, ps)
SIMD_DEFINE_0_AT_0(double, pd)

SIMD_DEFINE_RSQRT(float, FLOAT)
SIMD_DEFINE_RSQRT(double, DOUBLE)

SIMD_INLINE vfloat simd_rsqrt3_rough_float(vfloat x)
{
    const vfloat y = simd_begin_rsqrt_float(x);
    return y * (y * y);
}

SIMD_INLINE vdouble simd_rsqrt3_rough_double(vdouble x)
{
    const vdouble y = simd_begin_rsqrt_double(x), y2 = y * y; /* y³ (2/3 + e) */
    return y * y2 * simd_fma_double(-x, y2, simd_all_double(5.0 / 3));
}

#endif
