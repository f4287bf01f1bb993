#ifndef CELLS_GEOMETRY_H
#define CELLS_GEOMETRY_H

/* The arithmetic that decides which points are a pair, for all backends: each operation rounded, in
 * the one order below, none fused, so that all list the same pairs.
 *
 *     n_i = ⌊x_i · inverse⌋ along periodic axes,   w_i = x_i − n_i · cell        wrapped, in double
 *     d = (w_j − w_i) + t,   t = T · cell                       in the problem's dtype from here on
 *     r² = (d_x² + d_y²) + d_z² < limit
 *     S = T − n_j + n_i
 *
 * d changes its sign and no bit if i and j are exchanged and T is negated. Where T = 0, adding t
 * may be left out. In 2D d_z is left out. Lengths are in units of a power of two (problem.h): that
 * costs no bit. */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/both_sides.h"
#include "kith/array.h"

#if defined(__CUDA_ARCH__)
#define PAIRS_DEFINE_ROUNDED(real, letter)                                                         \
    __device__ static inline real pairs_add_##real(real a, real b)                                 \
    {                                                                                              \
        return __##letter##add_rn(a, b);                                                           \
    }                                                                                              \
    __device__ static inline real pairs_multiply_##real(real a, real b)                            \
    {                                                                                              \
        return __##letter##mul_rn(a, b);                                                           \
    }
PAIRS_DEFINE_ROUNDED(float, f)
PAIRS_DEFINE_ROUNDED(double, d)
#else
#define PAIRS_DEFINE_ROUNDED(real)                                                                 \
    KITH_BOTH_SIDES static inline real pairs_add_##real(real a, real b)                            \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    KITH_BOTH_SIDES static inline real pairs_multiply_##real(real a, real b)                       \
    {                                                                                              \
        return a * b;                                                                              \
    }
PAIRS_DEFINE_ROUNDED(float)
PAIRS_DEFINE_ROUNDED(double)
#endif
#undef PAIRS_DEFINE_ROUNDED

/* Points may lie this many cells away from the first one. */
#define PAIRS_MOST_CELLS_AWAY 1073741824.0

/* A cell as the search sees it, in 3D always, in the problem's unit of length. A basis vector is
 * the cell's where that is periodic; the others are unit vectors, at right angles to all that come
 * before them and to the periodic ones. */
struct pairs_lattice {
    double basis[3][3];   /* rows */
    double inverse[3][3]; /* columns: component k of x in the basis is Σ_c x_c inverse[c][k] */
    double height[3];     /* of the basis' parallelepiped along each axis */
    bool periodic[3];
};

/* a·b + c·d + e·f, from left to right. */
KITH_BOTH_SIDES static inline double pairs_sum_of_products(double a, double b, double c, double d,
                                                           double e, double f)
{
    return pairs_add_double(
        pairs_add_double(pairs_multiply_double(a, b), pairs_multiply_double(c, d)),
        pairs_multiply_double(e, f));
}

/* Component k of a point in the basis. */
KITH_BOTH_SIDES static inline double pairs_fraction(const struct pairs_lattice *lattice,
                                                    const double x[3], int k)
{
    return pairs_sum_of_products(x[0], lattice->inverse[0][k], x[1], lattice->inverse[1][k], x[2],
                                 lattice->inverse[2][k]);
}

/* T · cell, to be rounded to the problem's dtype; T_k = 0 where not periodic. */
KITH_BOTH_SIDES static inline double pairs_translation(const struct pairs_lattice *lattice,
                                                       const int32_t image[3], int component)
{
    return pairs_sum_of_products(image[0], lattice->basis[0][component], image[1],
                                 lattice->basis[1][component], image[2],
                                 lattice->basis[2][component]);
}

/* Brings a point into the cell (to a few ulps) and gives n. The second turn corrects what rounding
 * does to points that are many cells away. False if it is too many. */
KITH_BOTH_SIDES static inline bool pairs_wrap(const struct pairs_lattice *lattice, double x[3],
                                              int32_t n[3])
{
    n[0] = n[1] = n[2] = 0;
    for (int turn = 0; turn < 2; turn++) {
        int32_t more[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            if (!lattice->periodic[k])
                continue;
            const double fraction = pairs_fraction(lattice, x, k);
            if (fraction >= 0 && fraction < 1)
                continue;
            const double cells = floor(fraction);
            if (!(fabs(cells) < PAIRS_MOST_CELLS_AWAY))
                return false;
            more[k] = (int32_t)cells;
        }
        if (more[0] == 0 && more[1] == 0 && more[2] == 0)
            return true;
        double moved[3];
        for (int component = 0; component < 3; component++)
            moved[component] =
                pairs_add_double(x[component], -pairs_translation(lattice, more, component));
        for (int k = 0; k < 3; k++) {
            x[k] = moved[k];
            n[k] += more[k];
        }
    }
    return true;
}

/* What a cell's edges must be for a search distance: more by what rounding does to distances (in
 * the dtype, across a periodic cell) and to components in the basis (of magnitude `largest`). */
static inline double pairs_safe_distance(const struct pairs_lattice *lattice, kith_dtype dtype,
                                         double search, double largest)
{
    const double epsilon = dtype == KITH_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    double period = 0;
    for (int k = 0; k < 3; k++)
        for (int component = 0; component < 3 && lattice->periodic[k]; component++)
            period += fabs(lattice->basis[k][component]);
    return search * (1 + 0x1p-10) + 8 * epsilon * period + 16 * DBL_EPSILON * largest;
}

/* The limit of r² in a dtype: the smallest number whose square root, rounded, is not below the
 * cutoff (rounded to the dtype). So r² < limit if and only if the distance is less than the
 * cutoff. */
static inline double pairs_limit_double(double cutoff)
{
    double limit = cutoff * cutoff;
    if (!(cutoff > 0))
        return 0; /* of radii alone */
    while (sqrt(limit) >= cutoff)
        limit = nextafter(limit, 0.0);
    while (sqrt(limit) < cutoff)
        limit = nextafter(limit, INFINITY);
    return limit;
}

static inline float pairs_limit_float(float cutoff)
{
    float limit = cutoff * cutoff;
    if (!(cutoff > 0))
        return 0;
    while (sqrtf(limit) >= cutoff)
        limit = nextafterf(limit, 0.0f);
    while (sqrtf(limit) < cutoff)
        limit = nextafterf(limit, INFINITY);
    return limit;
}

#endif
