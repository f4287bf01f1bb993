#ifndef FORCES_PAIR_CUDA_CUH
#define FORCES_PAIR_CUDA_CUH

/* The arithmetic of one pair on the GPU, shared by the kernels. */

#include "core/roots_cuda.cuh"
#include "forces/problem.h"

template <typename real> struct pair_body {
    real x[3], v[3], mass, half_softening2;
};

/* What is summed for a target, without G: Σ m d / s³; Σ m / s; Σ m [u / s³ − 3 (d·u) d / s⁵]. */
__host__ __device__ constexpr int pair_values(enum forces_outputs outputs)
{
    return outputs == forces_jerk ? 7 : outputs == forces_potential ? 4 : 3;
}

/* Adds what a source does to a target at x with the velocity v; s2 is ε² + s2_floor. A pair at the
 * same position, or i = j, adds 0 to the acceleration by itself; only the potential and the jerk
 * need to leave it out. */
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
