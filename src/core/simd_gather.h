#ifndef CORE_SIMD_GATHER_H
#define CORE_SIMD_GATHER_H

/* Groups of four reals from an address of each lane, as four vectors: the transposition of an array
 * of structures. Loads of 16 bytes and shuffles within them take a third of the time that the
 * processors' gather instructions take. */

#include "core/simd.h"

#if defined(__x86_64__) && !defined(SIMD_GENERIC)

/* A vector of the 16 bytes at from[0] + offset, from[step] + offset, …. */
#if defined(__AVX512F__)
#define SIMD_GATHER_PARTS(at)                                                                      \
    _mm512_inserti32x4(                                                                            \
        _mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi128_si512(at(0)), at(1), 1), at(2), 2), \
        at(3), 3)
#elif defined(__AVX__)
#define SIMD_GATHER_PARTS(at) _mm256_insertf128_si256(_mm256_castsi128_si256(at(0)), at(1), 1)
#else
#define SIMD_GATHER_PARTS(at) at(0)
#endif

SIMD_INLINE __m128i simd_part(const void *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

SIMD_INLINE vfloat simd_gather_parts_float(const float *const *from, int32_t offset)
{
#define SIMD_PART(k) simd_part(from[4 * (k)] + offset)
    return (vfloat)SIMD_GATHER_PARTS(SIMD_PART);
#undef SIMD_PART
}

SIMD_INLINE vdouble simd_gather_parts_double(const double *const *from, int32_t offset)
{
#define SIMD_PART(k) simd_part(from[2 * (k)] + offset)
    return (vdouble)SIMD_GATHER_PARTS(SIMD_PART);
#undef SIMD_PART
}

/* Transposes the 4 × 4 floats of each 16 bytes of four vectors. */
SIMD_INLINE void simd_transpose_parts(vfloat part[4])
{
    const vdouble low01 = (vdouble)SIMD_X86(unpacklo, ps)(part[0], part[1]);
    const vdouble low23 = (vdouble)SIMD_X86(unpacklo, ps)(part[2], part[3]);
    const vdouble high01 = (vdouble)SIMD_X86(unpackhi, ps)(part[0], part[1]);
    const vdouble high23 = (vdouble)SIMD_X86(unpackhi, ps)(part[2], part[3]);
    part[0] = (vfloat)SIMD_X86(unpacklo, pd)(low01, low23);
    part[1] = (vfloat)SIMD_X86(unpackhi, pd)(low01, low23);
    part[2] = (vfloat)SIMD_X86(unpacklo, pd)(high01, high23);
    part[3] = (vfloat)SIMD_X86(unpackhi, pd)(high01, high23);
}

/* to[k][lane] = from[lane][offset + k] */
SIMD_INLINE void simd_gather4_float(vfloat to[4], const float *const *from, int32_t offset)
{
    SIMD_UNROLL
    for (int32_t k = 0; k < 4; k++)
        to[k] = simd_gather_parts_float(from + k, offset);
    simd_transpose_parts(to);
}

#if defined(__AVX512F__)

/* A vector of four reals of one lane, and of four of another. */
SIMD_INLINE vdouble simd_gather_halves(const double *low, const double *high)
{
    return (vdouble)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(low)),
                                       _mm256_loadu_pd(high), 1);
}

SIMD_INLINE void simd_gather4_double(vdouble to[4], const double *const *from, int32_t offset)
{
    vdouble pair[2][2]; /* [of lanes 4 … 7][k odd]: lanes 0, 1 of k and k + 2, then lanes 2, 3 */
    SIMD_UNROLL
    for (int32_t k = 0; k < 2; k++) {
        const double *const *at = from + 4 * k;
        const vdouble even = simd_gather_halves(at[0] + offset, at[2] + offset);
        const vdouble odd = simd_gather_halves(at[1] + offset, at[3] + offset);
        pair[k][0] = _mm512_unpacklo_pd(even, odd);
        pair[k][1] = _mm512_unpackhi_pd(even, odd);
    }
    SIMD_UNROLL
    for (int32_t k = 0; k < 2; k++) {
        to[k] = _mm512_shuffle_f64x2(pair[0][k], pair[1][k], 0x88);
        to[k + 2] = _mm512_shuffle_f64x2(pair[0][k], pair[1][k], 0xdd);
    }
}

#else

SIMD_INLINE void simd_gather4_double(vdouble to[4], const double *const *from, int32_t offset)
{
    SIMD_UNROLL
    for (int32_t k = 0; k < 4; k += 2) {
        const vdouble even = simd_gather_parts_double(from, offset + k);
        const vdouble odd = simd_gather_parts_double(from + 1, offset + k);
        to[k] = SIMD_X86(unpacklo, pd)(even, odd);
        to[k + 1] = SIMD_X86(unpackhi, pd)(even, odd);
    }
}

#endif

#else

#define SIMD_DEFINE_GATHER4(real)                                                                  \
    SIMD_INLINE void simd_gather4_##real(v##real to[4], const real *const *from, int32_t offset)   \
    {                                                                                              \
        for (int32_t k = 0; k < 4; k++)                                                            \
            for (int32_t lane = 0; lane < SIMD_BYTES / (int32_t)sizeof(real); lane++)              \
                to[k][lane] = from[lane][offset + k];                                              \
    }
SIMD_DEFINE_GATHER4(float)
SIMD_DEFINE_GATHER4(double)

#endif

/* The same for groups of eight. */
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)

/* Two lanes in a vector: a third of the loads, and no more shuffles, than by groups of four. */
SIMD_INLINE vfloat simd_gather_two(const float *low, const float *high)
{
    return (vfloat)_mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(low)),
                                      _mm256_loadu_ps(high), 1);
}

SIMD_INLINE void simd_gather8_float(vfloat to[8], const float *const *from, int32_t offset)
{
    vfloat part[2][4]; /* [of lanes 8 … 15][k]: lanes 0 … 3 of k, of k + 4; lanes 4 … 7 likewise */
    SIMD_UNROLL
    for (int32_t half = 0; half < 2; half++) {
        SIMD_UNROLL
        for (int32_t k = 0; k < 4; k++)
            part[half][k] =
                simd_gather_two(from[8 * half + k] + offset, from[8 * half + k + 4] + offset);
        simd_transpose_parts(part[half]);
    }
    SIMD_UNROLL
    for (int32_t k = 0; k < 4; k++) {
        to[k] = (vfloat)_mm512_shuffle_f32x4(part[0][k], part[1][k], 0x88);
        to[k + 4] = (vfloat)_mm512_shuffle_f32x4(part[0][k], part[1][k], 0xdd);
    }
}

#else

SIMD_INLINE void simd_gather8_float(vfloat to[8], const float *const *from, int32_t offset)
{
    simd_gather4_float(to, from, offset);
    simd_gather4_float(to + 4, from, offset + 4);
}

#endif

SIMD_INLINE void simd_gather8_double(vdouble to[8], const double *const *from, int32_t offset)
{
    simd_gather4_double(to, from, offset);
    simd_gather4_double(to + 4, from, offset + 4);
}

#define simd_gather8(to, from, offset)                                                             \
    _Generic(*(to), vfloat : simd_gather8_float, vdouble : simd_gather8_double)(to, from, offset)

#define simd_gather4(to, from, offset)                                                             \
    _Generic(*(to), vfloat : simd_gather4_float, vdouble : simd_gather4_double)(to, from, offset)

#endif
