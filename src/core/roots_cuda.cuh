#ifndef CORE_ROOTS_CUDA_CUH
#define CORE_ROOTS_CUDA_CUH

/* 1/s and 1/s³ on the GPU. */

#include "core/floors.h"

template <typename real> __host__ __device__ constexpr real s2_floor();
template <> __host__ __device__ constexpr float s2_floor<float>()
{
    return S2_FLOOR_FLOAT;
}
template <> __host__ __device__ constexpr double s2_floor<double>()
{
    return S2_FLOOR_DOUBLE;
}

/* The hardware's estimate of 1/√a: 2 units in the last place in float, 2^−20 in double. */
__device__ inline float estimate_rsqrt(float a)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

__device__ inline double estimate_rsqrt(double a)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    return y;
}

/* 1/s and 1/s³ of s². In double with e = 1 − y² s², y the estimate:
 *
 *     1/s  = y  (1 − e)^(−1/2) = y  (1 + 1/2 e +  3/8 e² + …)
 *     1/s³ = y³ (1 − e)^(−3/2) = y³ (1 + 3/2 e + 15/8 e² + …)
 *
 * |e| ≤ 2^−19, so that what is left out is below the last place. */
__device__ inline float inverse_cube(float s2)
{
    const float y = estimate_rsqrt(s2);
    return y * y * y;
}

__device__ inline double inverse_cube(double s2)
{
    const double y = estimate_rsqrt(s2), y2 = y * y, y3 = y2 * y;
    const double e = fma(-s2, y2, 1.0);
    return y3 * fma(e, fma(1.875, e, 1.5), 1.0); /* no instruction reads three registers */
}

__device__ inline float inverse(float s2)
{
    return estimate_rsqrt(s2);
}

__device__ inline double inverse(double s2)
{
    const double y = estimate_rsqrt(s2);
    const double e = fma(-s2, y * y, 1.0);
    return fma(y * e, fma(0.375, e, 0.5), y);
}

#endif
