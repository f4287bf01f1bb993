#ifndef FORCES_TILE_CUDA_CUH
#define FORCES_TILE_CUDA_CUH

/* What both tile kernels share: bodies, and what one source does to one target. */

#include "forces/pair_cuda.cuh"
#include "forces/problem.h"

template <typename real> struct alignas(16) tile_body {
    real x, y, z, mass;
};

/* What a target sums: the acceleration, and Σ m / s. */
template <typename real> struct tile_sums {
    real x, y, z, m_over_s;
};

template <typename real>
__device__ inline real tile_coordinate(const void *const (&position)[3], int c, int64_t i)
{
    return position[c] ? ((const real *)position[c])[i] : (real)0; /* 2D has no z */
}

/* Source j; past the last one a body without mass, so that loops need no test. */
template <typename real>
__device__ inline tile_body<real> tile_source(const struct forces_problem &problem, int64_t j)
{
    const bool is_one = j < problem.source_count;
    const int64_t k = is_one ? j : problem.source_count - 1;
    return {tile_coordinate<real>(problem.source_position, 0, k),
            tile_coordinate<real>(problem.source_position, 1, k),
            tile_coordinate<real>(problem.source_position, 2, k),
            is_one ? ((const real *)problem.source_mass)[k] : (real)0};
}

/* Target i; past the last one the last again. */
template <typename real>
__device__ inline tile_body<real> tile_target(const struct forces_problem &problem, int64_t i)
{
    const int64_t k = i < problem.target_count ? i : problem.target_count - 1;
    return {tile_coordinate<real>(problem.target_position, 0, k),
            tile_coordinate<real>(problem.target_position, 1, k),
            tile_coordinate<real>(problem.target_position, 2, k), 0};
}

template <typename real>
__device__ inline real tile_softening2(const struct forces_problem &problem)
{
    const double softening2 = problem.softening2_at ? *problem.softening2_at : problem.softening2;
    return (real)softening2 + s2_floor<real>();
}

/* Adds m d / s³, and m / s if the potential is requested. A body with itself, or with one at the
 * same position, has d = 0 and adds nothing to the acceleration; the potential needs a test. source
 * by value: the compiler then reads it from shared memory immediately. */
template <typename real, bool with_potential>
__device__ inline void tile_interact(const tile_body<real> &target, tile_body<real> source,
                                     real softening2, bool is_self, tile_sums<real> &sums)
{
    const real dx = source.x - target.x, dy = source.y - target.y, dz = source.z - target.z;
    const real s2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, softening2)));
    const real m_over_s3 = source.mass * inverse_cube(s2);
    sums.x = fma(m_over_s3, dx, sums.x);
    sums.y = fma(m_over_s3, dy, sums.y);
    sums.z = fma(m_over_s3, dz, sums.z);
    if (with_potential && !is_self && s2 != s2_floor<real>())
        sums.m_over_s = fma(source.mass, inverse(s2), sums.m_over_s);
}

template <typename real>
__device__ inline void tile_add(tile_sums<real> &total, const tile_sums<real> &sums)
{
    total.x += sums.x;
    total.y += sums.y;
    total.z += sums.z;
    total.m_over_s += sums.m_over_s;
}

#endif
