#ifndef TREE_EXPANSION_CUDA_CUH
#define TREE_EXPANSION_CUDA_CUH

/* The parts of the operators of tree/expansion.h for one cell or point at a time, of any order and
 * basis: what the kernels of expansion_kernel.c do for a vector of them. Coefficients are in rows
 * (expansion_row) of arrays that the caller has. */

#include "tree/expansion.h"

/* More sizes away than this a cell's unit of length is its distance, so that powers of the ratio
 * stay in range. */
template <typename real> struct expansion_far;
template <> struct expansion_far<float> {
    static constexpr float sizes = 0x1p8f;
};
template <> struct expansion_far<double> {
    static constexpr double sizes = 0x1p40;
};

/* Which coefficients there are. */
struct expansion_shape {
    enum expansion_basis basis;
    enum expansion_law law;
    int32_t order, max_c, count, record, local;
    int32_t solid; /* reals from a record to its solid coefficients; 0: none */
    double softening;
};

static inline struct expansion_shape expansion_shape_of(const struct expansion *expansion)
{
    return {expansion->basis,
            expansion->law,
            expansion->order,
            expansion_max_c(expansion->basis, expansion->order),
            expansion_count(expansion),
            expansion_record_length(expansion),
            expansion_local_length(expansion),
            expansion->has_solid ? expansion_solid(expansion) : 0,
            sqrt(expansion->softening2)};
}

KITH_BOTH_SIDES inline int32_t row_in_plane(int32_t length, int32_t b)
{
    return b * length - b * (b - 1) / 2;
}

/* f(index, a, b, c) for all coefficients of an order with c ≤ max_c, in their order. */
template <typename function>
KITH_BOTH_SIDES inline void for_each_coefficient(int32_t order, int32_t max_c, function f)
{
    int32_t k = 0;
    for (int32_t c = 0; c <= max_c; c++)
        for (int32_t b = 0; b <= order - c; b++)
            for (int32_t a = 0; a <= order - c - b; a++)
                f(k++, a, b, c);
}

/* power[n] = first ratio^n */
template <typename real>
KITH_BOTH_SIDES inline void make_powers(int32_t order, real first, real ratio, real *power)
{
    power[0] = first;
    for (int32_t n = 1; n <= order; n++)
        power[n] = power[n - 1] * ratio;
}

/* H_α of α = (a, b, 0) and (a, b, 1) from those of lower degrees, and (a, b, 1) from (a, b, 0);
 * (x, y, z) is d over the degree. */
template <typename real>
KITH_BOTH_SIDES inline real next_harmonic(int32_t order, int32_t a, int32_t b, real x, real y,
                                          real z, const real *h)
{
    real sum = 0;
    if (a > 0)
        sum = fma(x, h[expansion_row(order, b, 0) + a - 1], sum);
    if (b > 0)
        sum = fma(y, h[expansion_row(order, b - 1, 0) + a], sum);
    if (a > 1)
        sum = fma(-z, h[expansion_row(order, b, 1) + a - 2], sum);
    if (b > 1)
        sum = fma(-z, h[expansion_row(order, b - 2, 1) + a], sum);
    return sum;
}

template <typename real>
KITH_BOTH_SIDES inline real next_harmonic_by_z(int32_t order, int32_t a, int32_t b, real x, real y,
                                               real z, const real *h)
{
    real sum = z * h[expansion_row(order, b, 0) + a];
    if (a > 0)
        sum = fma(x, h[expansion_row(order, b, 1) + a - 1], sum);
    if (b > 0)
        sum = fma(y, h[expansion_row(order, b - 1, 1) + a], sum);
    return sum;
}

/* H_α(d) for |α| ≤ order. */
template <typename real>
KITH_BOTH_SIDES inline void make_harmonics(int32_t order, const real d[3], real *h)
{
    h[0] = 1;
    for (int32_t n = 1; n <= order; n++) {
        const real inverse = 1 / (real)n;
        const real x = d[0] * inverse, y = d[1] * inverse, z = d[2] * inverse;
        for (int32_t b = 0; b <= n; b++)
            h[expansion_row(order, b, 0) + n - b] = next_harmonic(order, n - b, b, x, y, z, h);
        for (int32_t b = 0; b < n; b++)
            h[expansion_row(order, b, 1) + n - 1 - b] =
                next_harmonic_by_z(order, n - 1 - b, b, x, y, z, h);
    }
}

/* x^k / k! of each axis. */
template <typename real>
KITH_BOTH_SIDES inline void make_axis_powers(int32_t order, const real d[3],
                                             real power[3][expansion_max_full + 1])
{
    for (int32_t axis = 0; axis < 3; axis++) {
        power[axis][0] = 1;
        for (int32_t k = 1; k <= order; k++)
            power[axis][k] = power[axis][k - 1] * d[axis] * (1 / (real)k);
    }
}

template <typename real>
KITH_BOTH_SIDES inline void make_polynomials(const struct expansion_shape &shape, const real d[3],
                                             real *h)
{
    if (shape.basis == expansion_harmonic) {
        make_harmonics(shape.order, d, h);
        return;
    }
    real power[3][expansion_max_full + 1];
    make_axis_powers(shape.order, d, power);
    for_each_coefficient(shape.order, shape.max_c, [&](int32_t k, int32_t a, int32_t b, int32_t c) {
        h[k] = power[1][b] * power[2][c] * power[0][a];
    });
}

/* (s^{-1} d/ds)^m f(s) of f = 1/s, which is (−1)^m (2m − 1)!! / s^{2m + 1}, or of f = ln s. */
template <typename real>
KITH_BOTH_SIDES inline void make_radial(enum expansion_law law, int32_t order, real s2,
                                        real inverse_unit, real *base)
{
    const real root = 1 / sqrt(s2), inverse2 = root * root;
    const bool logarithm = law == expansion_logarithm;
    int32_t m = 1;
    base[0] = root;
    if (logarithm) {
        base[0] = log(s2) * (real)0.5 - log(inverse_unit);
        base[m++] = inverse2;
    }
    for (; m <= order; m++)
        base[m] = base[m - 1] * inverse2 * (real)((logarithm ? 2 : 1) - 2 * m);
}

/* E^0_{ab} for a + b ≤ order from E^m_0 = base[m]; and, if in_z, in_z[0] E^1_{ab} after it: see
 * derivatives_plane in expansion_rows_kernel.h. */
template <typename real>
KITH_BOTH_SIDES inline void make_plane(int32_t order, real x, real y, const real *base,
                                       const real *in_z, real *e)
{
    const int32_t length = order + 1;
    for (int32_t degree = 0; degree <= order; degree++) {
        for (int32_t b = degree; b >= 0; b--) {
            real *row = e + row_in_plane(length, b);
            for (int32_t a = degree - b; a > 1; a--)
                row[a] = fma(x, row[a - 1], row[a - 2] * (real)(a - 1));
            if (degree - b > 0)
                row[1] = x * row[0];
            if (b > 1)
                row[0] = fma(y, e[row_in_plane(length, b - 1)],
                             e[row_in_plane(length, b - 2)] * (real)(b - 1));
            else
                row[0] = b == 1 ? y * e[0] : base[order - degree];
        }
        if (in_z && degree == order - 1)
            for (int32_t b = 0; b < order; b++)
                for (int32_t a = 0; a < order - b; a++)
                    e[length * (length + 1) / 2 + row_in_plane(order, b) + a] =
                        *in_z * e[row_in_plane(length, b) + a];
    }
}

/* −f_{a + 2, b} − f_{a, b + 2} at c: what Laplace's equation says of c + 2. */
template <typename real>
KITH_BOTH_SIDES inline real second_in_z(int32_t order, const real *f, int32_t a, int32_t b,
                                        int32_t c)
{
    return -(f[expansion_row(order, b, c) + a + 2] + f[expansion_row(order, b + 2, c) + a]);
}

/* ∂^α f for |α| ≤ order and c ≤ 2 or, if not harmonic, c ≤ max_c, from base[m] = (s^{-1} d/ds)^m f,
 * which is overwritten. */
template <typename real>
KITH_BOTH_SIDES inline void make_derivatives(enum expansion_basis basis, int32_t order,
                                             const real d[3], real *base, real *e)
{
    real before[expansion_max_full + 2];
    const bool harmonic = basis == expansion_harmonic;
    for (int32_t m = 0; m <= order; m++)
        before[m] = 0;
    for (int32_t c = 0; c <= (basis == expansion_full ? order : 0); c++) {
        make_plane(order - c, d[0], d[1], base, harmonic ? &d[2] : (const real *)NULL,
                   e + expansion_row(order, 0, c));
        for (int32_t m = 0; m < order - c && basis == expansion_full; m++) {
            const real next = fma(d[2], base[m + 1], before[m + 1] * (real)c); /* c + 1 */
            before[m] = base[m];
            base[m] = next;
        }
    }
    for (int32_t b = 0; harmonic && b <= order - 2; b++)
        for (int32_t a = 0; a <= order - 2 - b; a++)
            e[expansion_row(order, b, 2) + a] = second_in_z(order, e, a, b, 0);
}

/* Where a source is, seen from a target: d and s² in units of the size or, if it is far, of the
 * distance. */
template <typename real> struct expansion_direction {
    real d[3], s2, inverse; /* of the unit */
};

template <typename real>
KITH_BOTH_SIDES inline struct expansion_direction<real>
look_at(const real from[3], const real to[3], real size, real softening) {
    struct expansion_direction<real> direction;
    real distance = 0;
    for (int axis = 0; axis < 3; axis++) {
        direction.d[axis] = to[axis] - from[axis];
        distance = fmax(distance, fabs(direction.d[axis]));
    }
    const real unit = distance > expansion_far<real>::sizes *size ? distance : size;
    direction.inverse = 1 / unit;
    softening *= direction.inverse;
    direction.s2 = softening * softening;
    for (int axis = 0; axis < 3; axis++) {
        direction.d[axis] *= direction.inverse;
        direction.s2 = fma(direction.d[axis], direction.d[axis], direction.s2);
    }
    return direction;
}

/* sum_α += scale[|α|] Σ_β terms_β field_{α + β}, |α| + |β| ≤ order and c ≤ max_c in α and β. */
template <typename real>
KITH_BOTH_SIDES inline void contract_coefficient(int32_t order, int32_t max_c, int32_t a, int32_t b,
                                                 int32_t c, const real *terms, const real *field,
                                                 real *total)
{
    real sum = 0;
    for (int32_t k = 0; k <= max_c && k <= order - a - b - c; k++)
        for (int32_t j = 0; j <= order - a - b - c - k; j++) {
            const real *x = terms + expansion_row(order, j, k);
            const real *y = field + expansion_row(order, b + j, c + k) + a;
            for (int32_t i = 0; i <= order - a - b - c - k - j; i++)
                sum = fma(x[i], y[i], sum);
        }
    *total = sum;
}

/* total[0] = Σ_α terms_α field_α, |α| ≤ order, and total[1 … 3] the same of field_{α + e}, where e
 * is the step in x, y, z (not in the plane). terms are of this order, field of one more. */
template <typename real>
KITH_BOTH_SIDES inline void dot_field(const struct expansion_shape &shape, const real *terms,
                                      const real *field, real total[4])
{
    const int32_t order = shape.order;
    for (int32_t k = 0; k < 4; k++)
        total[k] = 0;
    for (int32_t c = 0; c <= shape.max_c; c++)
        for (int32_t b = 0; b <= order - c; b++) {
            const real *x = terms + expansion_row(order, b, c);
            const real *f = field + expansion_row(order + 1, b, c);
            const real *next = field + expansion_row(order + 1, b + 1, c);
            const real *up = shape.basis == expansion_plane
                                 ? (const real *)NULL
                                 : field + expansion_row(order + 1, b, c + 1);
            for (int32_t a = 0; a <= order - c - b; a++) {
                total[0] = fma(x[a], f[a], total[0]);
                total[1] = fma(x[a], f[a + 1], total[1]);
                total[2] = fma(x[a], next[a], total[2]);
                if (up)
                    total[3] = fma(x[a], up[a], total[3]);
            }
        }
}

/* Coefficients that a local expansion of an order takes with those that follow from it, in rows of
 * order + more, of which the higher degrees are 0. */
KITH_BOTH_SIDES inline int32_t extended_length(const struct expansion_shape &shape, int32_t more)
{
    return expansion_row(shape.order + more, 0, shape.max_c + 2);
}

template <typename real>
KITH_BOTH_SIDES inline real extended_coefficient(const struct expansion_shape &shape,
                                                 const real *local, int32_t a, int32_t b, int32_t c)
{
    const int32_t order = shape.order;
    if (a + b + c > order)
        return 0;
    if (c <= shape.max_c)
        return local[expansion_row(order, b, c) + a];
    return shape.basis == expansion_harmonic && c == 2 ? second_in_z(order, local, a, b, 0)
                                                       : (real)0;
}

#endif
