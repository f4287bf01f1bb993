#ifndef FORCES_VERLET_PLACE_CUDA_CUH
#define FORCES_VERLET_PLACE_CUDA_CUH

/* Places of particles as integers (verlet_cuda_problem.h), for both precisions. */

#include "forces/verlet_cuda_problem.h"

template <typename real> struct verlet_types;
template <> struct verlet_types<float> {
    using place = verlet_place_float;
    using vector = verlet_vector_float;
    using whole = int;
    using natural = unsigned;
};
template <> struct verlet_types<double> {
    using place = verlet_place_double;
    using vector = verlet_vector_double;
    using whole = long long;
    using natural = unsigned long long;
};

/* A fraction of a vector of the cell, of any size, as a coordinate. */
__device__ inline void verlet_take_fraction(double fraction, int *coordinate)
{
    const double inside = pairs_add_double(fraction, -floor(fraction));
    *coordinate = (int)(unsigned)(unsigned long long)__double2ll_rn(inside * 0x1p32);
}

__device__ inline void verlet_take_fraction(double fraction, long long *coordinate)
{
    const double inside = pairs_add_double(fraction, -floor(fraction));
    *coordinate = (long long)__double2ull_rn(inside * 0x1p64);
}

/* Likewise, of less than half a vector either way. */
__device__ inline void verlet_take_open_fraction(double fraction, int *coordinate)
{
    *coordinate = (int)__double2ll_rn(fraction * 0x1p32);
}

__device__ inline void verlet_take_open_fraction(double fraction, long long *coordinate)
{
    *coordinate = __double2ll_rn(fraction * 0x1p64);
}

/* Fills in the coordinates of a position. Returns the largest fraction along open axes. */
template <typename real>
__device__ inline double verlet_find_place(const struct pairs_lattice &lattice, int dimensions,
                                           int open, const double x[3],
                                           typename verlet_types<real>::place *place)
{
    double farthest = 0;
    for (int k = 0; k < 3; k++) {
        place->x[k] = 0;
        if (k >= dimensions)
            continue;
        const double fraction = pairs_fraction(&lattice, x, k);
        if (open >> k & 1) {
            verlet_take_open_fraction(fraction, &place->x[k]);
            farthest = fmax(farthest, fabs(fraction));
        } else {
            verlet_take_fraction(fraction, &place->x[k]);
        }
    }
    return farthest;
}

/* From one place to the nearest image of another. */
template <typename real>
__device__ inline void verlet_separate(const double edge[3][3], bool is_orthogonal,
                                       const typename verlet_types<real>::place &from,
                                       const typename verlet_types<real>::place &to, real d[3])
{
    using whole = typename verlet_types<real>::whole;
    using natural = typename verlet_types<real>::natural;
    real along[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        along[k] = (real)(whole)((natural)to.x[k] - (natural)from.x[k]);
    if (is_orthogonal) {
#pragma unroll
        for (int c = 0; c < 3; c++)
            d[c] = along[c] * (real)edge[c][c];
        return;
    }
#pragma unroll
    for (int c = 0; c < 3; c++)
        d[c] = fma(along[2], (real)edge[2][c],
                   fma(along[1], (real)edge[1][c], along[0] * (real)edge[0][c]));
}

__device__ inline long long verlet_round_float(float x)
{
    return __float2ll_rn(x);
}

__device__ inline long long verlet_round_double(double x)
{
    return __double2ll_rn(x);
}

/* Partners, which are read once: L1 keeps places. */
__device__ inline int4 verlet_read_partners(const int4 *from)
{
    int4 four;
    asm volatile("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                 : "l"(from));
    return four;
}

/* Where the k-th partner is in a row, so that the threads that share it read partners that are next
 * to each other at the same time: those are often near in memory. */
__device__ inline unsigned verlet_place_in_row(unsigned k)
{
    const unsigned in_unit = k % verlet_cuda_row_unit;
    return k - in_unit + in_unit % verlet_cuda_lanes * verlet_cuda_vector +
           in_unit / verlet_cuda_lanes;
}

/* A coordinate along an open axis, of the part of the period that has cells, from its begin on. */
__device__ inline int verlet_from_below(int coordinate, int shift)
{
    return (int)(((unsigned)coordinate << shift) + 0x80000000U);
}

__device__ inline long long verlet_from_below(long long coordinate, int shift)
{
    return (long long)(((unsigned long long)coordinate << shift) + 0x8000000000000000ULL);
}

/* Number of the cell that holds a coordinate, of `cells` along a vector. */
__device__ inline int verlet_cell_of(int coordinate, int cells)
{
    return (int)__umulhi((unsigned)coordinate, (unsigned)cells);
}

__device__ inline int verlet_cell_of(long long coordinate, int cells)
{
    return (int)__umul64hi((unsigned long long)coordinate, (unsigned long long)cells);
}

#endif
