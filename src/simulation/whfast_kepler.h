#ifndef SIMULATION_WHFAST_KEPLER_H
#define SIMULATION_WHFAST_KEPLER_H

/* The Kepler step of whfast: a planet in each lane. Included by kernels only.
 *
 * With the functions of orbits/universal.h a body at q, v moves in a time h to
 *
 *     q + (−μ G_2 / r) q + (h − μ G_3) v,    v + (−μ G_1 / (r r')) q + (−μ G_2 / r') v,
 *
 * r' = r + (r·v) G_1 + ζ G_2. The root s is found by two steps of fourth order from a series in h,
 * the first with short series of Stumpff's functions. A lane where that is not enough, near the
 * pericenter of a comet or of a step of a fifth of an orbit and more, has more steps, and at last
 * universal_solve. What is done to a lane does not depend on the others. Square roots and quotients
 * are those of the hardware, which round without a bias: energies would drift with one. */

#include "core/simd_math.h"
#include "orbits/universal.h"

enum { whfast_lanes = SIMD_BYTES / sizeof(double) };

/* a + b exactly: the sum and what did not fit into it (Knuth 1998, The Art of Computer Programming
 * 2, 4.2.2). */
SIMD_INLINE vdouble whfast_add(vdouble a, vdouble b, vdouble *lost)
{
    const vdouble sum = a + b, of_b = sum - a;
    *lost = (a - (sum - of_b)) + (b - of_b);
    return sum;
}

/* An orbit at the start of a step. */
struct whfast_orbit {
    vdouble r, rv, beta, zeta, mu, h;
};

/* G_1 … G_3 at s. */
struct whfast_functions {
    vdouble s, g1, g2, g3;
};

/* For |z| up to this the series are good to rounding. */
static const double whfast_most_z = 2.25;

/* 6 c_3 − 1 and 2 c_2 − 1 are z times these over 6 and 2: coefficients 1/(k+2)! and 1/(k+3)!. */
static const double whfast_of_c2[] = {1.0 / 24,
                                      -1.0 / 720,
                                      1.0 / 40320,
                                      -1.0 / 3628800,
                                      1.0 / 479001600,
                                      -1.0 / 87178291200,
                                      1.0 / 20922789888000,
                                      -1.0 / 6402373705728000,
                                      1.0 / 2432902008176640000};
static const double whfast_of_c3[] = {1.0 / 120,
                                      -1.0 / 5040,
                                      1.0 / 362880,
                                      -1.0 / 39916800,
                                      1.0 / 6227020800,
                                      -1.0 / 1307674368000,
                                      1.0 / 355687428096000,
                                      -1.0 / 121645100408832000,
                                      1.0 / 51090942171709440000.0};
enum { whfast_terms = 9, whfast_few_terms = 4 };

/* 1/6 is this and 0x1.555…p−3. */
static const double whfast_rest_of_sixth = 0x1.5555555555555p-57;

/* Σ_k coefficient[k] z^k, even and odd powers apart, so that they do not wait for each other. */
SIMD_INLINE vdouble whfast_series(vdouble z, vdouble z2, const double *coefficient,
                                  const int32_t terms)
{
    vdouble even = simd_all(coefficient[(terms - 1) / 2 * 2]);
    vdouble odd = simd_all(coefficient[terms / 2 * 2 - 1]);
    SIMD_UNROLL
    for (int32_t k = (terms - 1) / 2 * 2 - 2; k >= 0; k -= 2)
        even = simd_fma(even, z2, simd_all(coefficient[k]));
    SIMD_UNROLL
    for (int32_t k = terms / 2 * 2 - 3; k >= 0; k -= 2)
        odd = simd_fma(odd, z2, simd_all(coefficient[k]));
    return simd_fma(odd, z, even);
}

SIMD_INLINE struct whfast_functions whfast_functions_at(const struct whfast_orbit *orbit, vdouble s,
                                                        const int32_t terms)
{
    const vdouble s2 = s * s, z = orbit->beta * s2, z2 = z * z;
    const vdouble c2 = simd_fma(-z, whfast_series(z, z2, whfast_of_c2, terms), simd_all(0.5));
    const vdouble c3 =
        simd_fma(-z, whfast_series(z, z2, whfast_of_c3, terms), simd_all(whfast_rest_of_sixth)) +
        simd_all(1.0 / 6);
    const vdouble g3 = s * s2 * c3;
    return (struct whfast_functions){s, simd_fma(-orbit->beta, g3, s), s2 * c2, g3};
}

/* The root of u = δ + a δ² + b δ³ for small u, with A = a u and B = b u². */
SIMD_INLINE vdouble whfast_revert(vdouble u, vdouble A, vdouble B)
{
    const vdouble square = simd_fma(A + A, A, -B);
    return simd_fma(u, square - A, u);
}

/* The correction of s, and where it is small enough that it is the last. */
SIMD_INLINE vdouble whfast_correct(const struct whfast_orbit *orbit,
                                   const struct whfast_functions *at, vint64 *is_last)
{
    const double small = 0x1p-14;
    const vdouble g0 = simd_fma(-orbit->beta, at->g2, simd_all(1.0));
    const vdouble miss =
        simd_fma(orbit->r, at->s, -orbit->h) + simd_fma(orbit->rv, at->g2, orbit->zeta * at->g3);
    const vdouble slope = simd_fma(orbit->rv, at->g1, simd_fma(orbit->zeta, at->g2, orbit->r));
    const vdouble curve = simd_fma(orbit->rv, g0, orbit->zeta * at->g1);
    const vdouble third = simd_fma(orbit->zeta, g0, -(orbit->beta * orbit->rv * at->g1));
    const vdouble inverse = 1 / slope, u = -miss * inverse;
    const vdouble A = curve * u * inverse * simd_all(0.5);
    const vdouble B = third * u * u * inverse * simd_all(1.0 / 6);
    *is_last = (simd_fabs(u) <= simd_fabs(at->s) * simd_all(small)) &
               (simd_fabs(A) <= simd_all(small)) & (simd_fabs(B) <= simd_all(small));
    return whfast_revert(u, A, B);
}

/* The functions at s + d for a small d. */
SIMD_INLINE struct whfast_functions whfast_shift(const struct whfast_orbit *orbit,
                                                 const struct whfast_functions *at, vdouble d)
{
    const vdouble half = d * simd_all(0.5), third = d * simd_all(1.0 / 3);
    const vdouble g0 = simd_fma(-orbit->beta, at->g2, simd_all(1.0));
    const vdouble s = at->s + d;
    const vdouble g3 = simd_fma(d, simd_fma(half, simd_fma(third, g0, at->g1), at->g2), at->g3);
    const vdouble g2 =
        simd_fma(d, simd_fma(half, simd_fma(third, -(orbit->beta * at->g1), g0), at->g1), at->g2);
    return (struct whfast_functions){s, simd_fma(-orbit->beta, g3, s), g2, g3};
}

SIMD_INLINE void whfast_put(struct whfast_functions *to, vint64 where,
                            const struct whfast_functions *from)
{
    to->s = simd_select(where, from->s, to->s);
    to->g1 = simd_select(where, from->g1, to->g1);
    to->g2 = simd_select(where, from->g2, to->g2);
    to->g3 = simd_select(where, from->g3, to->g3);
}

SIMD_INLINE vint64 whfast_is_in_range(const struct whfast_orbit *orbit, vdouble s)
{
    return simd_fabs(orbit->beta * s * s) <= simd_all(whfast_most_z);
}

enum { whfast_more_steps = 6 };

/* Goes on where the first steps were not enough: in is the mask of lanes that are done. */
static __attribute__((noinline)) struct whfast_functions
whfast_solve_rest(const struct whfast_orbit *orbit, struct whfast_functions at, vint64 is_done)
{
    struct whfast_functions trial = at;
    vint64 is_hopeless = ~is_done & ~whfast_is_in_range(orbit, trial.s);
    for (int32_t k = 0; k < whfast_more_steps; k++) {
        vint64 is_last;
        trial = whfast_functions_at(orbit, trial.s, whfast_terms);
        const vdouble d = whfast_correct(orbit, &trial, &is_last);
        const struct whfast_functions shifted = whfast_shift(orbit, &trial, d);
        const vint64 now = is_last & ~is_done & ~is_hopeless;
        whfast_put(&at, now, &shifted);
        is_done |= now;
        trial.s = shifted.s;
        is_hopeless |= ~is_done & ~whfast_is_in_range(orbit, trial.s);
    }
    for (int32_t k = 0; k < whfast_lanes; k++) {
        if (is_done[k])
            continue;
        const struct universal_orbit one = {orbit->r[k], orbit->rv[k], orbit->beta[k],
                                            orbit->zeta[k], orbit->mu[k]};
        double g[3];
        universal_solve(&one, orbit->h[k], g);
        at.g1[k] = g[0];
        at.g2[k] = g[1];
        at.g3[k] = g[2];
    }
    return at;
}

SIMD_INLINE struct whfast_functions whfast_solve(const struct whfast_orbit *orbit, vdouble inverse)
{
    /* h = r s (1 + a s + b s² + …) */
    const vdouble u = orbit->h * inverse;
    const vdouble A = orbit->rv * inverse * u * simd_all(0.5);
    const vdouble B = orbit->zeta * inverse * u * u * simd_all(1.0 / 6);
    vint64 is_last;
    struct whfast_functions at =
        whfast_functions_at(orbit, whfast_revert(u, A, B), whfast_few_terms);
    const vdouble s = at.s + whfast_correct(orbit, &at, &is_last);
    at = whfast_functions_at(orbit, s, whfast_terms);
    const vdouble d = whfast_correct(orbit, &at, &is_last);
    at = whfast_shift(orbit, &at, d);
    is_last &= whfast_is_in_range(orbit, s);
    if (__builtin_expect(SIMD_ANY_DOUBLE(~is_last), 0))
        at = whfast_solve_rest(orbit, at, is_last);
    return at;
}

SIMD_INLINE vdouble whfast_dot(const vdouble a[3], const vdouble b[3])
{
    return simd_fma(a[2], b[2], simd_fma(a[1], b[1], a[0] * b[0]));
}

/* Moves the planets of a vector for a time h. q and v go with what did not fit into them. */
SIMD_INLINE void whfast_kepler(vdouble mu, vdouble h, vdouble q[3], vdouble v[3], vdouble lost_q[3],
                               vdouble lost_v[3])
{
    const vdouble r = simd_sqrt(whfast_dot(q, q)), inverse = 1 / r;
    const vdouble rv = whfast_dot(q, v), pull = mu * inverse;
    const vdouble beta = (pull + pull) - whfast_dot(v, v);
    const struct whfast_orbit orbit = {r, rv, beta, simd_fma(-beta, r, mu), mu, h};
    const struct whfast_functions at = whfast_solve(&orbit, inverse);
    const vdouble end = simd_fma(rv, at.g1, simd_fma(orbit.zeta, at.g2, r)), at_end = mu / end;
    const vdouble f = -(pull * at.g2), g = simd_fma(-mu, at.g3, h);
    const vdouble f_rate = -(at_end * at.g1 * inverse), g_rate = -(at_end * at.g2);
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        const vdouble way = simd_fma(f, q[c], g * v[c]) + lost_q[c];
        const vdouble change = simd_fma(f_rate, q[c], g_rate * v[c]) + lost_v[c];
        q[c] = whfast_add(q[c], way, &lost_q[c]);
        v[c] = whfast_add(v[c], change, &lost_v[c]);
    }
}

#endif
