#ifndef TREE_LANES_CUDA_CUH
#define TREE_LANES_CUDA_CUH

/* Polynomials of any order by the lanes of a warp, which share the memory that they are in. */

#include "tree/expansion_cuda.cuh"

/* The coefficient k of an order, k = 0, 1, …: (a, b, c). */
static __device__ inline void find_coefficient(int32_t order, int32_t k, int32_t *a, int32_t *b,
                                               int32_t *c)
{
    *c = *b = 0;
    while (k > order - *c - *b) {
        k -= order - *c - *b + 1;
        if (++*b > order - *c) {
            *b = 0;
            ++*c;
        }
    }
    *a = k;
}

/* H_α(d) by a warp, into memory that its lanes share. */
template <typename real>
static __device__ inline void make_polynomials_by_lanes(const struct expansion_shape &shape,
                                                        const real d[3], int lane, real *h)
{
    if (shape.basis != expansion_harmonic) {
        real power[3][expansion_max_full + 1];
        make_axis_powers(shape.order, d, power);
        for (int32_t k = lane; k < shape.count; k += 32) {
            int32_t a, b, c;
            find_coefficient(shape.order, k, &a, &b, &c);
            h[k] = power[1][b] * power[2][c] * power[0][a];
        }
        __syncwarp();
        return;
    }
    if (lane == 0)
        h[0] = 1;
    __syncwarp();
    for (int32_t n = 1; n <= shape.order; n++) {
        const real inverse = 1 / (real)n;
        const real x = d[0] * inverse, y = d[1] * inverse, z = d[2] * inverse;
        const int32_t b = lane, a = n - b;
        if (b <= n)
            h[expansion_row(shape.order, b, 0) + a] = next_harmonic(shape.order, a, b, x, y, z, h);
        __syncwarp();
        if (b < n)
            h[expansion_row(shape.order, b, 1) + a - 1] =
                next_harmonic_by_z(shape.order, a - 1, b, x, y, z, h);
        __syncwarp();
    }
}

/* Coefficients with the derivatives by z that follow from them. */
static __host__ __device__ inline int32_t extended_count(const struct expansion_shape &shape)
{
    return expansion_row(shape.order, 0, shape.basis == expansion_harmonic ? 3 : shape.max_c + 1);
}

#endif
