/* Forces by a Verlet list, for one instruction set and real type: verlet_kernel_body.h.
 */

#include "forces/verlet_kernel.h"

#include <stddef.h>

#include "forces/law_sums_problem.h"
#include "law/real_law.h"
#include "pairs/lanes.h"

typedef uint64_t vbits __attribute__((vector_size(SIMD_BYTES)));

/* verlet_part: part k of a vector, in double precision.
 * verlet_load: what is there of each slot of a cluster, for each particle of a segment.
 * verlet_both: a number of each particle of a segment, in the lanes of that.
 *
 * verlet_round: a component of a force as an integer of a unit, rounded to the nearest, ties to the
 * even one: by adding 3/2 · 2^52 units in double precision, where it is rounded once. */
#if REAL_IS_DOUBLE || !defined(__AVX512F__) || defined(SIMD_GENERIC)
struct verlet_units {
    vdouble magic;
};

SIMD_INLINE struct verlet_units verlet_units_of(double magic)
{
    return (struct verlet_units){simd_all(magic)};
}

SIMD_INLINE VREAL verlet_in_units(const struct verlet_units *units, VREAL factor)
{
    (void)units;
    return factor;
}
#endif

#if REAL_IS_DOUBLE
SIMD_INLINE vdouble verlet_part(vdouble x, int k)
{
    (void)k;
    return x;
}

SIMD_INLINE vdouble verlet_load(const double *from)
{
    return simd_load(from);
}

SIMD_INLINE vdouble verlet_both(double first, double second)
{
    (void)second;
    return simd_all(first);
}

SIMD_INLINE vbits verlet_round(const struct verlet_units *units, vdouble factor, vdouble d, int k)
{
    (void)k;
    return (vbits)simd_fma(factor, d, units->magic) - (vbits)units->magic;
}
#else
typedef float vfloat_half __attribute__((vector_size(SIMD_BYTES / 2)));

SIMD_INLINE vdouble verlet_part(vfloat x, int k)
{
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
    const __m512d bits = (__m512d)x;
    return _mm512_cvtps_pd(
        (__m256)(k == 0 ? _mm512_castpd512_pd256(bits) : _mm512_extractf64x4_pd(bits, 1)));
#else
    vfloat_half half;
    memcpy(&half, (const char *)&x + (size_t)k * sizeof half, sizeof half);
    return __builtin_convertvector(half, vdouble);
#endif
}

SIMD_INLINE vfloat verlet_load(const float *from)
{
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
    return (vfloat)_mm512_broadcast_f64x4(_mm256_loadu_pd((const double *)(const void *)from));
#else
    vfloat x;
    memcpy(&x, from, sizeof x / 2);
    memcpy((char *)&x + sizeof x / 2, from, sizeof x / 2);
    return x;
#endif
}

SIMD_INLINE vfloat verlet_both(float first, float second)
{
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
    return _mm512_mask_mov_ps(simd_all(first), 0xff00, simd_all(second));
#else
    vfloat x = simd_all(first);
    SIMD_UNROLL
    for (size_t k = sizeof x / sizeof first / 2; k < sizeof x / sizeof first; k++)
        x[k] = second;
    return x;
#endif
}

#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
/* There is an instruction for the same, of numbers that are in units. */
struct verlet_units {
    vfloat per_unit;
};

SIMD_INLINE struct verlet_units verlet_units_of(double magic)
{
    return (struct verlet_units){simd_all((float)(0x1.8p52 / magic))};
}

SIMD_INLINE vfloat verlet_in_units(const struct verlet_units *units, vfloat factor)
{
    return factor * units->per_unit;
}

SIMD_INLINE vbits verlet_round(const struct verlet_units *units, vfloat factor, vfloat d, int k)
{
    const __m512d product = (__m512d)(factor * d);
    (void)units;
    return (vbits)_mm512_cvtps_epi64(
        (__m256)(k == 0 ? _mm512_castpd512_pd256(product) : _mm512_extractf64x4_pd(product, 1)));
}
#else
SIMD_INLINE vbits verlet_round(const struct verlet_units *units, vfloat factor, vfloat d, int k)
{
    return (vbits)(verlet_part(factor * d, k) + units->magic) - (vbits)units->magic;
}
#endif
#endif

/* What the loop over pairs is compiled for; constants once inlined. */
struct verlet_variant {
    int is_shifted; /* the law is changed by what it is at the cutoff */
    int has_value;  /* V is summed too */
};

/* Adds an integer of 64 bits, signed. */
SIMD_INLINE void verlet_add_wide(struct verlet_wide *sum, unsigned long long bits)
{
    sum->high += (unsigned long long)((long long)bits >> 32);
    sum->low += bits & 0xffffffff;
}

/* A NaN is larger than any number. */
SIMD_INLINE double verlet_larger_number(double a, double b)
{
    return a > b || a != a ? a : b;
}

/* The sum of the lanes, modulo 2^64: _mm512_reduce_add_epi64 adds signed numbers in GCC's header,
 * whose overflow is undefined. */
SIMD_INLINE unsigned long long verlet_sum_lanes(vbits x)
{
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
    const __m512i all = (__m512i)x;
    const __m256i half =
        _mm256_add_epi64(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    const __m128i pair =
        _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (unsigned long long)_mm_cvtsi128_si64(pair) +
           (unsigned long long)_mm_extract_epi64(pair, 1);
#else
    unsigned long long sum = 0;
    SIMD_UNROLL
    for (size_t lane = 0; lane < sizeof x / sizeof sum; lane++)
        sum += x[lane];
    return sum;
#endif
}

/* value where a < b, else 0; and the larger of magnitudes, as bits: a NaN is larger than all. */
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
#define VERLET_DEFINE(type, width)                                                                 \
    SIMD_INLINE VREAL verlet_below(VREAL a, VREAL b, VREAL value)                                  \
    {                                                                                              \
        return _mm512_maskz_mov_##type(_mm512_cmp_##type##_mask(a, b, _CMP_LT_OQ), value);         \
    }                                                                                              \
    SIMD_INLINE VMASK verlet_larger(VMASK a, VMASK b)                                              \
    {                                                                                              \
        return (VMASK)_mm512_max_epi##width((__m512i)a, (__m512i)b);                               \
    }
#if REAL_IS_DOUBLE
VERLET_DEFINE(pd, 64)
#else
VERLET_DEFINE(ps, 32)
#endif
#undef VERLET_DEFINE
#else
SIMD_INLINE VREAL verlet_below(VREAL a, VREAL b, VREAL value)
{
    return (VREAL)((VMASK)(a < b) & (VMASK)value);
}

SIMD_INLINE VMASK verlet_larger(VMASK a, VMASK b)
{
    const VMASK is_more = (VMASK)(a > b);
    return (a & is_more) | (b & ~is_more);
}
#endif

#include "forces/verlet_kernel_body.h"

#ifndef LAW_CUSTOM_BODY
#define ENTRY(kind) [law_##kind] = verlet_##kind,
const struct verlet_kernels KITH_REAL_SYMBOL(verlet_kernels) = {
    .of_kind = {LAW_EACH_BUILT_IN(ENTRY)},
    .search = verlet_find,
    .slots = cluster_slots,
    .particles = segment_particles,
};
#undef ENTRY
#endif
