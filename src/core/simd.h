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

/* Before a loop of a few constant turns over vectors, so that they stay in registers. */
#if defined(__clang__)
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 16")
#endif

#define SIMD_OF(x, name) _Generic((x), vfloat : name##_float, vdouble : name##_double)

/* a·b + c, rounded once where the hardware can. */
#define simd_fma(a, b, c) SIMD_OF(a, simd_fma)(a, b, c)

/* value where a ≠ b, else 0. */
#define simd_unless_equal(a, b, value) SIMD_OF(a, simd_unless_equal)(a, b, value)

/* 1/√x to about an ulp for normal x > 0; unspecified for any other x. */
#define simd_rsqrt(x) SIMD_OF(x, simd_rsqrt)(x)

/* The vector at an address, of any alignment. */
#define simd_load(from)                                                                            \
    _Generic(*(from), float : simd_load_float, double : simd_load_double)((const void *)(from))

#define simd_store(to, x) SIMD_OF(x, simd_store)(to, x)

/* The vector with all elements x. */
#define simd_all(x) _Generic((x), float : simd_all_float, double : simd_all_double)(x)

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

/* Series of (1 − e)^{−1/2} = 1 + e/2 + 3/8 e² + 5/16 e³ + 35/128 e⁴ + …: with e = 1 − x y², an
 * estimate y of 1/√x becomes y (1 − e)^{−1/2}. k terms raise an error of δ to about δ^{k+1}; one
 * term is Newton's step. terms must be constant. */
#define SIMD_DEFINE(real)                                                                          \
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
    SIMD_INLINE v##real simd_improve_rsqrt_##real(v##real x, v##real y, int terms)                 \
    {                                                                                              \
        static const real coefficient[] = {1.0f / 2, 3.0f / 8, 5.0f / 16, 35.0f / 128};            \
        const v##real e = simd_fma_##real(-(x * y), y, simd_all_##real(1));                        \
        v##real series = simd_all_##real(coefficient[terms - 1]);                                  \
        SIMD_UNROLL                                                                                \
        for (int k = terms - 2; k >= 0; k--)                                                       \
            series = simd_fma_##real(series, e, simd_all_##real(coefficient[k]));                  \
        return simd_fma_##real(y * e, series, y);                                                  \
    }

SIMD_DEFINE(float)
SIMD_DEFINE(double)

SIMD_INLINE vfloat simd_rsqrt_float(vfloat x)
{
    vfloat y = simd_estimate_rsqrt_float(x);
    if (SIMD_ESTIMATE_BITS_FLOAT < 11)
        y = simd_improve_rsqrt_float(x, y, 2);
    return simd_improve_rsqrt_float(x, y, SIMD_ESTIMATE_BITS_FLOAT < 14 ? 2 : 1);
}

SIMD_INLINE vdouble simd_rsqrt_double(vdouble x)
{
    vdouble y = simd_estimate_rsqrt_double(x);
    if (SIMD_ESTIMATE_BITS_DOUBLE < 14)
        y = simd_improve_rsqrt_double(x, y, 2);
    return simd_improve_rsqrt_double(x, y, 4);
}

#endif
