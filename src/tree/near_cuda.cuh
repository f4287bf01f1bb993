#ifndef TREE_NEAR_CUDA_CUH
#define TREE_NEAR_CUDA_CUH

/* A pair of points on a GPU. */

#include "core/roots_cuda.cuh"
#include "device/reals_cuda.cuh"
#include "tree/expansion.h"

/* near_kernel.h's sums: 1/s with the floor below s², or ln s of what has s² > 0. */
template <enum expansion_law law, bool absolute = false, typename real>
static __device__ inline void add_pair(const real4_of<real> &p, const real4_of<real> &q,
                                       real weight, real softening2, real sum[4])
{
    const real dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    if (law == expansion_inverse) {
        const real floor = s2_floor<real>();
        const real s2 = fma(dz, dz, fma(dy, dy, fma(dx, dx, softening2 + floor)));
        const real factor = weight * inverse_cube(s2);
        sum[0] = fma(factor, dx, sum[0]);
        sum[1] = fma(factor, dy, sum[1]);
        sum[2] = fma(factor, dz, sum[2]);
        if (absolute)
            sum[3] += fabs(factor) * sqrt(fma(dz, dz, fma(dy, dy, dx * dx)));
        else
            sum[3] = fma(factor, s2 - floor, sum[3]);
    } else {
        const real s2 = fma(dy, dy, fma(dx, dx, softening2));
        const real counted = s2 > 0 ? weight : 0, above_0 = s2 + s2_floor<real>();
        const real factor = -counted / above_0;
        sum[0] = fma(factor, dx, sum[0]);
        sum[1] = fma(factor, dy, sum[1]);
        if (absolute)
            sum[3] += fabs(factor) * sqrt(fma(dy, dy, dx * dx));
        else
            sum[3] = fma(counted * (real)0.5, log(above_0), sum[3]);
    }
}

#endif
