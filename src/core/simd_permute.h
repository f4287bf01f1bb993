#ifndef CORE_SIMD_PERMUTE_H
#define CORE_SIMD_PERMUTE_H

/* Vectors with their elements in another order, which is given at run time. */

#include "core/simd.h"

/* SIMD_PERMUTE_UNIT(bytes): how many bytes an index of the processor's instruction moves, for
 * elements of this many bytes. */
#if defined(SIMD_GENERIC)
#define SIMD_PERMUTE_UNIT(bytes) 1
#elif defined(__AVX512F__)
#define SIMD_PERMUTE_UNIT(bytes) (bytes)
#elif defined(__AVX2__)
#define SIMD_PERMUTE_UNIT(bytes) 4
#else
#define SIMD_PERMUTE_UNIT(bytes) 1
#endif

/* The permutation that takes element k from element from[k], for elements of this many bytes: the
 * argument of simd_permute. */
SIMD_INLINE vint32 simd_permutation(const int32_t *from, int32_t bytes)
{
    const int32_t unit = SIMD_PERMUTE_UNIT(bytes);
    unsigned char indices[SIMD_BYTES];
    for (int32_t at = 0; at < SIMD_BYTES; at += unit) {
        const int32_t index = (from[at / bytes] * bytes + at % bytes) / unit;
        const int64_t wide = index;
        if (unit == 8)
            memcpy(indices + at, &wide, sizeof wide);
        else if (unit == 4)
            memcpy(indices + at, &index, sizeof index);
        else
            indices[at] = (unsigned char)index;
    }
    vint32 permutation;
    memcpy(&permutation, indices, sizeof permutation);
    return permutation;
}

#if defined(SIMD_GENERIC) || !(defined(__x86_64__) || defined(__aarch64__))
#define SIMD_DEFINE_PERMUTE(real)                                                                  \
    SIMD_INLINE v##real simd_permute_##real(v##real x, vint32 permutation)                         \
    {                                                                                              \
        unsigned char from[SIMD_BYTES], to[SIMD_BYTES], indices[SIMD_BYTES];                       \
        memcpy(from, &x, sizeof x);                                                                \
        memcpy(indices, &permutation, sizeof permutation);                                         \
        for (int32_t k = 0; k < SIMD_BYTES; k++)                                                   \
            to[k] = from[indices[k]];                                                              \
        memcpy(&x, to, sizeof x);                                                                  \
        return x;                                                                                  \
    }
SIMD_DEFINE_PERMUTE(float)
SIMD_DEFINE_PERMUTE(double)
#else
SIMD_INLINE vfloat simd_permute_float(vfloat x, vint32 permutation)
{
#if defined(__AVX512F__)
    return _mm512_permutexvar_ps((__m512i)permutation, x);
#elif defined(__AVX2__)
    return _mm256_permutevar8x32_ps(x, (__m256i)permutation);
#elif defined(__x86_64__)
    return (vfloat)_mm_shuffle_epi8((__m128i)x, (__m128i)permutation);
#else
    return (vfloat)vqtbl1q_u8((uint8x16_t)x, (uint8x16_t)permutation);
#endif
}

SIMD_INLINE vdouble simd_permute_double(vdouble x, vint32 permutation)
{
#if defined(__AVX512F__)
    return _mm512_permutexvar_pd((__m512i)permutation, x);
#else
    return (vdouble)simd_permute_float((vfloat)x, permutation);
#endif
}
#endif

/* x with element k from where the permutation (simd_permutation) takes it. */
#define simd_permute(x, permutation) SIMD_OF(x, simd_permute)(x, permutation)

#endif
