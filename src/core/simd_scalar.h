#ifndef CORE_SIMD_SCALAR_H
#define CORE_SIMD_SCALAR_H

/* What core/simd.h and core/simd_math.h define for vectors of doubles, with one number as the
 * vector, for kernels on a GPU that share their arithmetic with those of a CPU; and, for tests of
 * it, on a CPU, where the estimates of roots and reciprocals are as bad as a GPU's. A mask is −1 or
 * 0.
 *
 * Square roots, quotients and reciprocals are an estimate, improved by a series and then by the
 * remainder of an exact multiplication: rounded correctly but for rare cases, without a bias, for
 * arguments and results that are normal and not within 2^20 of the limits of the format. That takes
 * half of a GPU's instructions for the operators / and sqrt, which are right for all arguments. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SIMD_IS_SCALAR 1
#define SIMD_BYTES     8
typedef double vdouble;
typedef int64_t vint64;

#define SIMD_LANE(x, lane)       (x)
#define SIMD_ANY_DOUBLE(mask)    ((mask) != 0)
#define SIMD_RSQRT3_SCALE_DOUBLE 1.0
#define SIMD_RSQRT_SCALE_DOUBLE  1.0

#if defined(__CUDACC__)
#define SIMD_INLINE  static __device__ __forceinline__
#define SIMD_OUTLINE static __device__ __noinline__
#define SIMD_TABLE   static __device__
#define SIMD_UNROLL  _Pragma("unroll")
#else
#define SIMD_INLINE  static inline __attribute__((always_inline, unused))
#define SIMD_OUTLINE static __attribute__((noinline, unused))
#define SIMD_TABLE   static
#define SIMD_UNROLL
#endif

SIMD_INLINE vdouble simd_all(double x)
{
    return x;
}

SIMD_INLINE vdouble simd_fma(vdouble a, vdouble b, vdouble c)
{
    return fma(a, b, c);
}

SIMD_INLINE vdouble simd_fabs(vdouble x)
{
    return fabs(x);
}

SIMD_INLINE vint64 simd_is_at_most(vdouble a, vdouble b)
{
    return a <= b ? -1 : 0;
}

SIMD_INLINE vint64 simd_is_more(vdouble a, vdouble b)
{
    return a > b ? -1 : 0;
}

SIMD_INLINE vdouble simd_load(const double *from)
{
    return *from;
}

SIMD_INLINE void simd_store(double *to, vdouble x)
{
    *to = x;
}

SIMD_INLINE vdouble simd_select(vint64 mask, vdouble a, vdouble b)
{
    return mask ? a : b;
}

/* Estimates of 1/√x and 1/x with a relative error of 2^−20. */
#if defined(__CUDACC__)
#include "core/roots_cuda.cuh"

/* To 2 units in the last place. */
SIMD_INLINE float simd_float_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

SIMD_INLINE double simd_estimate_rsqrt_double(double x)
{
    return estimate_rsqrt(x);
}

SIMD_INLINE double simd_estimate_reciprocal(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}

SIMD_INLINE vdouble simd_rsqrt(vdouble x)
{
    return inverse(x);
}

SIMD_INLINE vdouble simd_rsqrt_or_0_scaled(vdouble x)
{
    return x > 0x1p-1000 ? inverse(x) : 0;
}

SIMD_INLINE vdouble simd_rsqrt3_scaled(vdouble x)
{
    return inverse_cube(x);
}
#else
SIMD_INLINE float simd_float_reciprocal(float x)
{
    return 1.0f / x;
}

/* The upper half of the bits. */
SIMD_INLINE double simd_cut(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0xffffffff00000000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

SIMD_INLINE double simd_estimate_rsqrt_double(double x)
{
    return simd_cut(1 / sqrt(x));
}

SIMD_INLINE double simd_estimate_reciprocal(double x)
{
    return simd_cut(1 / x);
}

SIMD_INLINE vdouble simd_rsqrt(vdouble x)
{
    const double y = simd_estimate_rsqrt_double(x), e = fma(-x, y * y, 1.0);
    return fma(y * e, fma(0.375, e, 0.5), y);
}

SIMD_INLINE vdouble simd_rsqrt3_scaled(vdouble x)
{
    const double y = simd_estimate_rsqrt_double(x), y2 = y * y, y3 = y2 * y;
    const double e = fma(-x, y2, 1.0);
    return y3 * fma(e, fma(1.875, e, 1.5), 1.0);
}
#endif

/* √x and 1/√x. With e = 1 − x y² of an estimate y, 1/√x = y (1 + e/2 + 3/8 e² + …); then √x ≈ x y,
 * to which half of what its square lacks over it is added. */
SIMD_INLINE vdouble simd_roots(vdouble x, vdouble *inverse_root)
{
    const double estimate = simd_estimate_rsqrt_double(x);
    const double e = fma(-x, estimate * estimate, 1.0);
    const double y = fma(estimate * e, fma(0.375, e, 0.5), estimate), near = x * y;
    const double root = fma(fma(-near, near, x), 0.5 * y, near);
    *inverse_root = fma(fma(-root, y, 1.0), y, y);
    return root;
}

/* a/b, with 1/b = y (1 + e + e² + …), e = 1 − b y. */
SIMD_INLINE vdouble simd_quotient(vdouble a, vdouble b)
{
    const double y = simd_estimate_reciprocal(b), e = fma(-b, y, 1.0);
    const double z = fma(y, fma(e, e, e), y), q = a * z;
    return fma(fma(-b, q, a), z, q);
}

/* 1/b to about 2^−38. */
SIMD_INLINE vdouble simd_rough_reciprocal(vdouble b)
{
    const double y = simd_estimate_reciprocal(b);
    return fma(y, fma(-b, y, 1.0), y);
}

#endif
