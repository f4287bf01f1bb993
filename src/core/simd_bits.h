#ifndef CORE_SIMD_BITS_H
#define CORE_SIMD_BITS_H

/* An estimate of 1/√x from the bits of x: half the exponent, negated, in one integer subtraction;
 * relative error at most 3.44 % for every normal x > 0 (Lomont 2003, "Fast inverse square root") */

SIMD_INLINE vfloat simd_bits_rsqrt_float(vfloat x)
{
    return (vfloat)(0x5f375a86 - ((vint32)x >> 1));
}

SIMD_INLINE vdouble simd_bits_rsqrt_double(vdouble x)
{
    return (vdouble)(0x5fe6eb50c7b537a9 - ((vint64)x >> 1));
}

/* Choices between lanes by masks of their bits, after simd_fma_real. */
#define SIMD_DEFINE_MASKS(real, vint)                                                              \
    SIMD_INLINE v##real simd_fma_where_##real(vint mask, v##real a, v##real b, v##real c)          \
    {                                                                                              \
        return (v##real)(((vint)simd_fma_##real(a, b, c) & mask) | ((vint)c & ~mask));             \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_least_##real(v##real x, v##real y)                                    \
    {                                                                                              \
        const vint less = (vint)(x < y);                                                           \
        return (v##real)(((vint)x & less) | ((vint)y & ~less));                                    \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_greatest_##real(v##real x, v##real y)                                 \
    {                                                                                              \
        const vint greater = (vint)(x > y);                                                        \
        return (v##real)(((vint)x & greater) | ((vint)y & ~greater));                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##real simd_unless_equal_##real(v##real a, v##real b, v##real value)              \
    {                                                                                              \
        return (v##real)((vint)(a != b) & (vint)value);                                            \
    }

#endif
