#ifndef SPARSE_GATHER_H
#define SPARSE_GATHER_H

/* A vector of elements from scattered places, for kernels: x[index[0]], x[index[1]], …, with
 * indices of 32 or of 16 bits. To be included after core/simd.h. */

#include "core/simd.h"

#if defined(__AVX512F__)

SIMD_INLINE vdouble gather_int32_double(const double *x, const int32_t *index)
{
    return _mm512_i32gather_pd(_mm256_loadu_si256((const void *)index), x, 8);
}

SIMD_INLINE vdouble gather_uint16_double(const double *x, const uint16_t *index)
{
    return _mm512_i32gather_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)index)), x, 8);
}

SIMD_INLINE vfloat gather_int32_float(const float *x, const int32_t *index)
{
    return _mm512_i32gather_ps(_mm512_loadu_si512((const void *)index), x, 4);
}

SIMD_INLINE vfloat gather_uint16_float(const float *x, const uint16_t *index)
{
    return _mm512_i32gather_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)index)), x,
                               4);
}

#define GATHER_DEFINE_IS_NAN(real, type)                                                           \
    SIMD_INLINE bool has_nan_##real(v##real x)                                                     \
    {                                                                                              \
        return _mm512_cmp_##type##_mask(x, x, _CMP_UNORD_Q) != 0;                                  \
    }

GATHER_DEFINE_IS_NAN(float, ps)
GATHER_DEFINE_IS_NAN(double, pd)

#elif defined(__AVX2__)

SIMD_INLINE vdouble gather_int32_double(const double *x, const int32_t *index)
{
    return _mm256_i32gather_pd(x, _mm_loadu_si128((const void *)index), 8);
}

SIMD_INLINE vdouble gather_uint16_double(const double *x, const uint16_t *index)
{
    return _mm256_i32gather_pd(x, _mm_cvtepu16_epi32(_mm_loadl_epi64((const void *)index)), 8);
}

SIMD_INLINE vfloat gather_int32_float(const float *x, const int32_t *index)
{
    return _mm256_i32gather_ps(x, _mm256_loadu_si256((const void *)index), 4);
}

SIMD_INLINE vfloat gather_uint16_float(const float *x, const uint16_t *index)
{
    return _mm256_i32gather_ps(x, _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)index)), 4);
}

#define GATHER_DEFINE_IS_NAN(real, type)                                                           \
    SIMD_INLINE bool has_nan_##real(v##real x)                                                     \
    {                                                                                              \
        return _mm256_movemask_##type(_mm256_cmp_##type(x, x, _CMP_UNORD_Q)) != 0;                 \
    }

GATHER_DEFINE_IS_NAN(float, ps)
GATHER_DEFINE_IS_NAN(double, pd)

#else

#define GATHER_DEFINE(real, bits, place)                                                           \
    SIMD_INLINE v##real gather_##bits##_##real(const real *x, const place *index)                  \
    {                                                                                              \
        v##real gathered = {0};                                                                    \
        SIMD_UNROLL                                                                                \
        for (int k = 0; k < (int)(sizeof gathered / sizeof *x); k++)                               \
            gathered[k] = x[index[k]];                                                             \
        return gathered;                                                                           \
    }

#define GATHER_DEFINE_IS_NAN(real)                                                                 \
    SIMD_INLINE bool has_nan_##real(v##real x)                                                     \
    {                                                                                              \
        bool found = false;                                                                        \
        SIMD_UNROLL                                                                                \
        for (size_t k = 0; k < sizeof x / sizeof(real); k++)                                       \
            found = found || x[k] != x[k];                                                         \
        return found;                                                                              \
    }

GATHER_DEFINE(float, int32, int32_t)
GATHER_DEFINE(float, uint16, uint16_t)
GATHER_DEFINE(double, int32, int32_t)
GATHER_DEFINE(double, uint16, uint16_t)
GATHER_DEFINE_IS_NAN(float)
GATHER_DEFINE_IS_NAN(double)

#endif

/* Vectors of four. */
typedef float quad_float __attribute__((vector_size(16)));
typedef double quad_double __attribute__((vector_size(32)));

/* sum += the four numbers at `from`, of any alignment, times part. */
#if defined(__FMA__)
#define GATHER_ADD_QUAD(real, type, vector)                                                        \
    SIMD_INLINE void add_quad_##real(const real *from, const quad_##real *part, quad_##real *sum)  \
    {                                                                                              \
        *sum = vector##_fmadd_##type(vector##_loadu_##type(from), *part, *sum);                    \
    }
GATHER_ADD_QUAD(float, ps, _mm)
GATHER_ADD_QUAD(double, pd, _mm256)
#else
#define GATHER_ADD_QUAD(real)                                                                      \
    SIMD_INLINE void add_quad_##real(const real *from, const quad_##real *part, quad_##real *sum)  \
    {                                                                                              \
        quad_##real value;                                                                         \
        memcpy(&value, from, sizeof value);                                                        \
        *sum += value * *part;                                                                     \
    }
GATHER_ADD_QUAD(float)
GATHER_ADD_QUAD(double)
#endif

/* a·b + c, rounded once where the processor does that; never by a library function that emulates
 * it. */
#if defined(__FMA__) || defined(__aarch64__)
#define SPARSE_FMA_float(a, b, c)  __builtin_fmaf(a, b, c)
#define SPARSE_FMA_double(a, b, c) __builtin_fma(a, b, c)
#else
#define SPARSE_FMA_float(a, b, c)  ((a) * (b) + (c))
#define SPARSE_FMA_double(a, b, c) ((a) * (b) + (c))
#endif

#endif
