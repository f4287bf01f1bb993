#ifndef PAIRS_LANES_H
#define PAIRS_LANES_H

/* Comparing the lanes of vectors, with a mask for the answer (bit k for lane k), and storing the
 * chosen ones of some indices or reals. A vector of reals has as many lanes as one of int32. */

#include "core/simd.h"

#define LANES_FLOAT  (SIMD_BYTES / 4)
#define LANES_DOUBLE (SIMD_BYTES / 8)

typedef int32_t vindex_float __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t vindex_double __attribute__((vector_size(SIMD_BYTES / 2)));

/* The mask of vectors of −1 and 0. */
#define LANES_DEFINE_GATHERED(name, vector, lanes)                                                 \
    SIMD_INLINE uint32_t lanes_gathered_##name(vector truth)                                       \
    {                                                                                              \
        uint32_t mask = 0;                                                                         \
        SIMD_UNROLL                                                                                \
        for (int k = 0; k < (lanes); k++)                                                          \
            mask |= (truth[k] != 0 ? 1U : 0U) << k;                                                \
        return mask;                                                                               \
    }

#if defined(__AVX512F__)

SIMD_INLINE uint32_t lanes_below_float(vfloat a, vfloat b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

SIMD_INLINE uint32_t lanes_below_double(vdouble a, vdouble b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}

SIMD_INLINE uint32_t lanes_differ_float(vindex_float a, vindex_float b)
{
    return _mm512_cmpneq_epi32_mask((__m512i)a, (__m512i)b);
}

SIMD_INLINE uint32_t lanes_differ_double(vindex_double a, vindex_double b)
{
    return _mm256_cmpneq_epi32_mask((__m256i)a, (__m256i)b);
}

SIMD_INLINE uint32_t lanes_above_float(vindex_float a, vindex_float b)
{
    return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
}

SIMD_INLINE uint32_t lanes_above_double(vindex_double a, vindex_double b)
{
    return _mm256_cmpgt_epi32_mask((__m256i)a, (__m256i)b);
}

/* A whole vector is written: storing only the chosen lanes is many times slower on some
 * processors. */
SIMD_INLINE void lanes_store_chosen_float(int32_t *to, vindex_float from, uint32_t mask)
{
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)mask, (__m512i)from));
}

SIMD_INLINE void lanes_store_chosen_double(int32_t *to, vindex_double from, uint32_t mask)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_maskz_compress_epi32((__mmask8)mask, (__m256i)from));
}

SIMD_INLINE void lanes_store_reals_float(float *to, vfloat from, uint32_t mask)
{
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps((__mmask16)mask, from));
}

SIMD_INLINE void lanes_store_reals_double(double *to, vdouble from, uint32_t mask)
{
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd((__mmask8)mask, from));
}

SIMD_INLINE vfloat lanes_at_float(const float *from, vindex_float at)
{
    return _mm512_i32gather_ps((__m512i)at, from, 4);
}

SIMD_INLINE vdouble lanes_at_double(const double *from, vindex_double at)
{
    return _mm512_i32gather_pd((__m256i)at, from, 8);
}

SIMD_INLINE vindex_float lanes_index_at_float(const int32_t *from, vindex_float at)
{
    return (vindex_float)_mm512_i32gather_epi32((__m512i)at, from, 4);
}

SIMD_INLINE vindex_double lanes_index_at_double(const int32_t *from, vindex_double at)
{
    return (vindex_double)_mm256_i32gather_epi32(from, (__m256i)at, 4);
}

#else

#if defined(__AVX2__)
SIMD_INLINE uint32_t lanes_mask_float(vint32 truth)
{
    return (uint32_t)_mm256_movemask_ps((__m256)truth);
}
SIMD_INLINE uint32_t lanes_mask_double(vint64 truth)
{
    return (uint32_t)_mm256_movemask_pd((__m256d)truth);
}
SIMD_INLINE uint32_t lanes_mask_index(vindex_double truth)
{
    return (uint32_t)_mm_movemask_ps((__m128)truth);
}
#elif defined(__x86_64__)
SIMD_INLINE uint32_t lanes_mask_float(vint32 truth)
{
    return (uint32_t)_mm_movemask_ps((__m128)truth);
}
SIMD_INLINE uint32_t lanes_mask_double(vint64 truth)
{
    return (uint32_t)_mm_movemask_pd((__m128d)truth);
}
LANES_DEFINE_GATHERED(index, vindex_double, LANES_DOUBLE)
#define lanes_mask_index lanes_gathered_index
#else
LANES_DEFINE_GATHERED(float, vint32, LANES_FLOAT)
LANES_DEFINE_GATHERED(double, vint64, LANES_DOUBLE)
LANES_DEFINE_GATHERED(index, vindex_double, LANES_DOUBLE)
#define lanes_mask_float  lanes_gathered_float
#define lanes_mask_double lanes_gathered_double
#define lanes_mask_index  lanes_gathered_index
#endif

SIMD_INLINE uint32_t lanes_below_float(vfloat a, vfloat b)
{
    return lanes_mask_float((vint32)(a < b));
}

SIMD_INLINE uint32_t lanes_below_double(vdouble a, vdouble b)
{
    return lanes_mask_double((vint64)(a < b));
}

SIMD_INLINE uint32_t lanes_differ_float(vindex_float a, vindex_float b)
{
    return lanes_mask_float((vint32)(a != b));
}

SIMD_INLINE uint32_t lanes_differ_double(vindex_double a, vindex_double b)
{
    return lanes_mask_index((vindex_double)(a != b));
}

SIMD_INLINE uint32_t lanes_above_float(vindex_float a, vindex_float b)
{
    return lanes_mask_float((vint32)(a > b));
}

SIMD_INLINE uint32_t lanes_above_double(vindex_double a, vindex_double b)
{
    return lanes_mask_index((vindex_double)(a > b));
}

#define LANES_DEFINE_STORE_CHOSEN(real, lanes)                                                     \
    SIMD_INLINE void lanes_store_chosen_##real(int32_t *to, vindex_##real from, uint32_t mask)     \
    {                                                                                              \
        int32_t all[lanes];                                                                        \
        memcpy(all, &from, sizeof all);                                                            \
        for (; mask; mask &= mask - 1)                                                             \
            *to++ = all[__builtin_ctz(mask)];                                                      \
    }                                                                                              \
    SIMD_INLINE void lanes_store_reals_##real(real *to, v##real from, uint32_t mask)               \
    {                                                                                              \
        real all[lanes];                                                                           \
        memcpy(all, &from, sizeof all);                                                            \
        for (; mask; mask &= mask - 1)                                                             \
            *to++ = all[__builtin_ctz(mask)];                                                      \
    }                                                                                              \
    SIMD_INLINE v##real lanes_at_##real(const real *from, vindex_##real at)                        \
    {                                                                                              \
        v##real value = {0};                                                                       \
        for (int k = 0; k < (lanes); k++)                                                          \
            value[k] = from[at[k]];                                                                \
        return value;                                                                              \
    }                                                                                              \
    SIMD_INLINE vindex_##real lanes_index_at_##real(const int32_t *from, vindex_##real at)         \
    {                                                                                              \
        vindex_##real value = {0};                                                                 \
        for (int k = 0; k < (lanes); k++)                                                          \
            value[k] = from[at[k]];                                                                \
        return value;                                                                              \
    }

LANES_DEFINE_STORE_CHOSEN(float, LANES_FLOAT)
LANES_DEFINE_STORE_CHOSEN(double, LANES_DOUBLE)

#endif

#endif
