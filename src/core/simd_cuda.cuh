#ifndef CORE_SIMD_CUDA_CUH
#define CORE_SIMD_CUDA_CUH

/* What core/simd.h and core/simd_math.h define for vectors of doubles, for kernels on a GPU that
 * share their arithmetic with those of a CPU: a vector is one number of a thread, and a mask is −1
 * or 0.
 *
 * Square roots, quotients and reciprocals are an estimate of the hardware, improved by a series and
 * then by the remainder of an exact multiplication: rounded correctly but for rare cases, without a
 * bias, for arguments and results that are normal and not within 2^20 of the limits of the format.
 * That takes half of the instructions of the operators / and sqrt, which care for all arguments. */

#include <stdint.h>
#include <string.h>

#include "core/roots_cuda.cuh"

#define SIMD_BYTES 8
typedef double vdouble;
typedef int64_t vint64;

#define SIMD_INLINE              static __device__ __forceinline__
#define SIMD_OUTLINE             static __device__ __noinline__
#define SIMD_TABLE               static __device__
#define SIMD_UNROLL              _Pragma("unroll")
#define SIMD_LANE(x, lane)       (x)
#define SIMD_ANY_DOUBLE(mask)    ((mask) != 0)
#define SIMD_RSQRT3_SCALE_DOUBLE 1.0

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

SIMD_INLINE vdouble simd_select(vint64 mask, vdouble a, vdouble b)
{
    return mask ? a : b;
}

SIMD_INLINE vdouble simd_estimate_rsqrt_double(vdouble x)
{
    return estimate_rsqrt(x);
}

SIMD_INLINE vdouble simd_rsqrt(vdouble x)
{
    return inverse(x);
}

SIMD_INLINE vdouble simd_rsqrt3_scaled(vdouble x)
{
    return inverse_cube(x);
}

/* √x of y ≈ 1/√x: √x ≈ x y, and half of what is missing from its square over it is added. */
SIMD_INLINE vdouble simd_sqrt(vdouble x)
{
    const double y = inverse(x), root = x * y;
    return fma(fma(-root, root, x), 0.5 * y, root);
}

SIMD_INLINE double simd_estimate_reciprocal(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}

/* 1/x = y (1 + e + e² + …) with e = 1 − x y, |e| ≤ 2^−19. */
SIMD_INLINE vdouble simd_reciprocal(vdouble x)
{
    const double y = simd_estimate_reciprocal(x), e = fma(-x, y, 1.0);
    const double z = fma(y, fma(e, e, e), y);
    return fma(fma(-x, z, 1.0), z, z);
}

SIMD_INLINE vdouble simd_quotient(vdouble a, vdouble b)
{
    const double y = simd_estimate_reciprocal(b), e = fma(-b, y, 1.0);
    const double z = fma(y, fma(e, e, e), y), q = a * z;
    return fma(fma(-b, q, a), z, q);
}

#endif
