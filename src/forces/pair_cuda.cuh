#ifndef FORCES_PAIR_CUDA_CUH
#define FORCES_PAIR_CUDA_CUH

/* The arithmetic of one pair on the GPU, shared by the kernels. */

#include "core/floors.h"
#include "forces/problem.h"

template <typename real> __device__ constexpr real s2_floor();
template <> __device__ constexpr float s2_floor<float>()
{
    return S2_FLOOR_FLOAT;
}
template <> __device__ constexpr double s2_floor<double>()
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

template <typename real> struct pair_body {
    real x[3], v[3], mass, half_softening2;
};

/* What is summed for a target, without G: Σ m d / s³; Σ m / s; Σ m [u / s³ − 3 (d·u) d / s⁵]. */
__host__ __device__ constexpr int pair_values(enum forces_outputs outputs)
{
    return outputs == forces_jerk ? 7 : outputs == forces_potential ? 4 : 3;
}

/* Adds what a source does to a target at x with the velocity v; s2 is ε² + s2_floor. A pair at the
 * same place, or i = j, adds 0 to the acceleration by itself; only the potential and the jerk need
 * to leave it out. */
template <typename real, enum forces_outputs outputs>
__device__ void add_pair(const real (&x)[3], const real (&v)[3], real s2,
                         const struct pair_body<real> &source, bool is_self, real *sums)
{
    real d[3];
    for (int c = 0; c < 3; c++) {
        d[c] = source.x[c] - x[c];
        s2 = fma(d[c], d[c], s2);
    }
    real m_over_s3;
    if (outputs == forces_acceleration) {
        m_over_s3 = source.mass * inverse_cube(s2);
    } else {
        const real y = inverse(s2);
        const real m_over_s = is_self || s2 == s2_floor<real>() ? (real)0 : source.mass * y;
        m_over_s3 = m_over_s * (y * y);
        sums[3] += m_over_s;
        if (outputs == forces_jerk) {
            real u[3], d_dot_u = 0;
            for (int c = 0; c < 3; c++) {
                u[c] = source.v[c] - v[c];
                d_dot_u = fma(d[c], u[c], d_dot_u);
            }
            const real factor = d_dot_u * (y * y) * (real)-3;
            for (int c = 0; c < 3; c++)
                sums[4 + c] = fma(m_over_s3, fma(factor, d[c], u[c]), sums[4 + c]);
        }
    }
    for (int c = 0; c < 3; c++)
        sums[c] = fma(m_over_s3, d[c], sums[c]);
}

#endif
