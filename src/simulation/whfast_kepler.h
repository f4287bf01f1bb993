#ifndef SIMULATION_WHFAST_KEPLER_H
#define SIMULATION_WHFAST_KEPLER_H

/* The Kepler step of whfast: a planet in each lane. Included by kernels only.
 *
 * With the functions of orbits/universal.h a body at q, v moves in a time h to
 *
 *     q + (−μ G_2 / r) q + (h − μ G_3) v,    v + (−μ G_1 / (r r')) q + (−μ G_2 / r') v,
 *
 * r' = r + (r·v) G_1 + ζ G_2. The root s is found by one step of fifth order from a series in h to
 * the same order. A lane where that is not enough, near the pericenter of a comet or of a step of a
 * tenth of an orbit and more, has more steps, and at last universal_solve. What is done to a lane
 * does not depend on the others. Square roots and quotients on which the result depends are rounded
 * without a bias: energies would drift with one.
 *
 * On a GPU a vector is a number of a thread (core/simd_shared.h). */

#include "core/simd_shared.h"
#if defined(__CUDACC__)
#include "orbits/universal_body.h"
#define whfast_solve_any universal_solve_here
/* An operand of an instruction, where a literal takes two instructions more. */
#define WHFAST_TABLE static __constant__
#else
#include "orbits/universal.h"
#define whfast_solve_any universal_solve
#define WHFAST_TABLE     static const
#endif

enum { whfast_lanes = SIMD_BYTES / sizeof(double) };

/* a + b and what did not fit into it, to the last digits of b: exactly if |a| ≥ |b| (Dekker 1971,
 * Numerische Mathematik 18, 224), in half of the operations of an exact sum. */
SIMD_INLINE vdouble whfast_add(vdouble a, vdouble b, vdouble *lost)
{
    const vdouble sum = a + b;
    *lost = b - (sum - a);
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

/* For |z| up to this the series of all terms are good to rounding, and to the other those of the
 * usual ones. */
static const double whfast_most_z = 2.25, whfast_usual_z = 0.34;

/* 6 c_3 − 1 and 2 c_2 − 1 are z times these over 6 and 2: coefficients 1/(k+2)! and 1/(k+3)!. */
WHFAST_TABLE double whfast_of_c2[] = {1.0 / 24,
                                      -1.0 / 720,
                                      1.0 / 40320,
                                      -1.0 / 3628800,
                                      1.0 / 479001600,
                                      -1.0 / 87178291200,
                                      1.0 / 20922789888000,
                                      -1.0 / 6402373705728000,
                                      1.0 / 2432902008176640000};
WHFAST_TABLE double whfast_of_c3[] = {1.0 / 120,
                                      -1.0 / 5040,
                                      1.0 / 362880,
                                      -1.0 / 39916800,
                                      1.0 / 6227020800,
                                      -1.0 / 1307674368000,
                                      1.0 / 355687428096000,
                                      -1.0 / 121645100408832000,
                                      1.0 / 51090942171709440000.0};
enum { whfast_terms = 9, whfast_usual_terms = 6 };

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
    const struct whfast_functions at = {s, simd_fma(-orbit->beta, g3, s), s2 * c2, g3};
    return at;
}

/* The root of u = δ + a δ² + b δ³ + c δ⁴ + d δ⁵ for small u, with A = a u, B = b u² and so on. */
SIMD_INLINE vdouble whfast_revert(vdouble u, vdouble A, vdouble B, vdouble C, vdouble D)
{
    const vdouble A2 = A * A;
    const vdouble two = simd_fma(A + A, A, -B) - A;
    const vdouble three = simd_fma(simd_all(5.0) * A, B - A2, -C);
    const vdouble four = simd_fma(A2, simd_fma(simd_all(14.0), A2, simd_all(-21.0) * B), -D) +
                         simd_all(3.0) * simd_fma(B, B, (A + A) * C);
    return simd_fma(u, two + (three + four), u);
}

/* The correction of s, and where it is small enough that it is the last. */
SIMD_INLINE vdouble whfast_correct(const struct whfast_orbit *orbit,
                                   const struct whfast_functions *at, vint64 *is_last)
{
    const double small = 0x1p-11, small_a = 0x1p-12, small_b = 0x1p-23;
    const vdouble zero = simd_all(0.0), g0 = simd_fma(-orbit->beta, at->g2, simd_all(1.0));
    const vdouble miss =
        simd_fma(orbit->r, at->s, -orbit->h) + simd_fma(orbit->rv, at->g2, orbit->zeta * at->g3);
    const vdouble slope = simd_fma(orbit->rv, at->g1, simd_fma(orbit->zeta, at->g2, orbit->r));
    const vdouble curve = simd_fma(orbit->rv, g0, orbit->zeta * at->g1);
    const vdouble third = simd_fma(orbit->zeta, g0, -(orbit->beta * orbit->rv * at->g1));
    const vdouble inverse = simd_rough_reciprocal(slope), u = -miss * inverse, u2 = u * u;
    const vdouble A = curve * inverse * simd_all(0.5) * u;
    const vdouble B = third * inverse * simd_all(1.0 / 6) * u2;
    const vdouble C = orbit->beta * u2 * A * simd_all(-1.0 / 12);
    *is_last = simd_is_at_most(simd_fabs(u), simd_fabs(at->s) * simd_all(small)) &
               simd_is_at_most(simd_fabs(A), simd_all(small_a)) &
               simd_is_at_most(simd_fabs(B), simd_all(small_b));
    return whfast_revert(u, A, B, C, zero);
}

/* The functions at s + d for a small d. */
SIMD_INLINE struct whfast_functions whfast_shift(const struct whfast_orbit *orbit,
                                                 const struct whfast_functions *at, vdouble d)
{
    const vdouble half = d * d * simd_all(0.5), third = d * simd_all(1.0 / 3);
    const vdouble quarter = d * simd_all(0.25), s = at->s + d;
    const vdouble g0 = simd_fma(-orbit->beta, at->g2, simd_all(1.0));
    const vdouble rate = -(orbit->beta * at->g1), second = -(orbit->beta * g0);
    const vdouble in_g3 = simd_fma(third, simd_fma(quarter, rate, g0), at->g1);
    const vdouble in_g2 = simd_fma(third, simd_fma(quarter, second, rate), g0);
    const vdouble g3 = simd_fma(half, in_g3, simd_fma(d, at->g2, at->g3));
    const vdouble g2 = simd_fma(half, in_g2, simd_fma(d, at->g1, at->g2));
    const struct whfast_functions there = {s, simd_fma(-orbit->beta, g3, s), g2, g3};
    return there;
}

SIMD_INLINE void whfast_put(struct whfast_functions *to, vint64 where,
                            const struct whfast_functions *from)
{
    to->s = simd_select(where, from->s, to->s);
    to->g1 = simd_select(where, from->g1, to->g1);
    to->g2 = simd_select(where, from->g2, to->g2);
    to->g3 = simd_select(where, from->g3, to->g3);
}

SIMD_INLINE vint64 whfast_is_in_range(const struct whfast_orbit *orbit, vdouble s, double most_z)
{
    return simd_is_at_most(simd_fabs(orbit->beta * s * s), simd_all(most_z));
}

enum { whfast_more_steps = 6 };

/* Goes on where the first steps were not enough: in is the mask of lanes that are done. */
SIMD_OUTLINE struct whfast_functions whfast_solve_rest(const struct whfast_orbit *orbit,
                                                       struct whfast_functions at, vint64 is_done)
{
    struct whfast_functions trial = at;
    vint64 is_hopeless = ~is_done & ~whfast_is_in_range(orbit, trial.s, whfast_most_z);
    for (int32_t k = 0; k < whfast_more_steps && SIMD_ANY_DOUBLE(~is_done); k++) {
        vint64 is_last;
        trial = whfast_functions_at(orbit, trial.s, whfast_terms);
        const vdouble d = whfast_correct(orbit, &trial, &is_last);
        const struct whfast_functions shifted = whfast_shift(orbit, &trial, d);
        const vint64 now = is_last & ~is_done & ~is_hopeless;
        whfast_put(&at, now, &shifted);
        is_done |= now;
        trial.s = shifted.s;
        is_hopeless |= ~is_done & ~whfast_is_in_range(orbit, trial.s, whfast_most_z);
    }
    for (int32_t k = 0; k < whfast_lanes; k++) {
        if (SIMD_LANE(is_done, k))
            continue;
        const struct universal_orbit one = {SIMD_LANE(orbit->r, k), SIMD_LANE(orbit->rv, k),
                                            SIMD_LANE(orbit->beta, k), SIMD_LANE(orbit->zeta, k),
                                            SIMD_LANE(orbit->mu, k)};
        double g[3];
        whfast_solve_any(&one, SIMD_LANE(orbit->h, k), g);
        SIMD_LANE(at.g1, k) = g[0];
        SIMD_LANE(at.g2, k) = g[1];
        SIMD_LANE(at.g3, k) = g[2];
    }
    return at;
}

SIMD_INLINE vdouble whfast_dot(const vdouble a[3], const vdouble b[3])
{
    return simd_fma(a[2], b[2], simd_fma(a[1], b[1], a[0] * b[0]));
}

#if SIMD_IS_SCALAR
#include "simulation/whfast_kepler_scalar.h"
#else
/* A drift by a time h before its equation is solved. */
struct whfast_start {
    struct whfast_orbit orbit;
    vdouble inverse, guess; /* of r, of s */
};

/* 1 / √x to about 2^−20, for a guess, sooner than the hardware's root and quotient. */
SIMD_INLINE vdouble whfast_rsqrt(vdouble x)
{
    const vdouble y = simd_estimate_rsqrt_double(x), half = y * simd_all(0.5);
    return simd_fma(half, simd_fma(-x * y, y, simd_all(1.0)), y);
}

/* s from the series of h = r s (1 + …), to less than the last digits: with an estimate of 1 / r. */
SIMD_INLINE vdouble whfast_guess(vdouble inverse, vdouble rv, vdouble v2, vdouble mu, vdouble h)
{
    const vdouble u = h * inverse, u2 = u * u, pull = mu * inverse;
    const vdouble k = (pull + pull - v2) * u2; /* β u² */
    const vdouble A = rv * inverse * simd_all(0.5) * u;
    const vdouble B = (v2 - pull) * simd_all(1.0 / 6) * u2; /* ζ / r = v² − μ / r */
    return whfast_revert(u, A, B, k * A * simd_all(-1.0 / 12), k * B * simd_all(-1.0 / 20));
}

SIMD_INLINE struct whfast_start whfast_begin(vdouble mu, vdouble h, const vdouble q[3],
                                             const vdouble v[3])
{
    const vdouble r2 = whfast_dot(q, q), rv = whfast_dot(q, v), v2 = whfast_dot(v, v);
    vdouble inverse;
    const vdouble r = simd_roots(r2, &inverse), pull = mu * inverse;
    const vdouble beta = (pull + pull) - v2;
    const struct whfast_start start = {{r, rv, beta, simd_fma(-beta, r, mu), mu, h},
                                       inverse,
                                       whfast_guess(whfast_rsqrt(r2), rv, v2, mu, h)};
    return start;
}

/* Vectors of planets that are done together, each part of a drift for all before the next: the
 * instructions of one vector wait for each other, and a processor sees few ahead. */
enum { whfast_together = 8 };

SIMD_INLINE void whfast_solve_some(const struct whfast_start *start, int64_t count,
                                   struct whfast_functions *at)
{
    vdouble d[whfast_together];
    vint64 is_last[whfast_together], is_over = ~(vint64){0};
    for (int64_t k = 0; k < count; k++)
        at[k] = whfast_functions_at(&start[k].orbit, start[k].guess, whfast_usual_terms);
    for (int64_t k = 0; k < count; k++)
        d[k] = whfast_correct(&start[k].orbit, &at[k], &is_last[k]);
    for (int64_t k = 0; k < count; k++) {
        at[k] = whfast_shift(&start[k].orbit, &at[k], d[k]);
        is_last[k] &= whfast_is_in_range(&start[k].orbit, start[k].guess, whfast_usual_z);
        is_over &= is_last[k];
    }
    if (__builtin_expect(!SIMD_ANY_DOUBLE(~is_over), 1))
        return;
    for (int64_t k = 0; k < count; k++)
        if (SIMD_ANY_DOUBLE(~is_last[k]))
            at[k] = whfast_solve_rest(&start[k].orbit, at[k], is_last[k]);
}

SIMD_INLINE struct whfast_functions whfast_solve(const struct whfast_start *start)
{
    struct whfast_functions at;
    whfast_solve_some(start, 1, &at);
    return at;
}

/* Moves the planets from from_q and from_v, where the drift starts; q and v go with what did not
 * fit into them, or is not yet added to them. */
SIMD_INLINE void whfast_move(const struct whfast_start *start, const struct whfast_functions *at,
                             const vdouble from_q[3], const vdouble from_v[3], vdouble q[3],
                             vdouble v[3], vdouble lost_q[3], vdouble lost_v[3])
{
    const struct whfast_orbit *orbit = &start->orbit;
    const vdouble end = simd_fma(orbit->rv, at->g1, simd_fma(orbit->zeta, at->g2, orbit->r));
    const vdouble at_end = simd_quotient(orbit->mu, end), pull = orbit->mu * start->inverse;
    const vdouble f = -(pull * at->g2), g = simd_fma(-orbit->mu, at->g3, orbit->h);
    const vdouble f_rate = -(at_end * at->g1 * start->inverse), g_rate = -(at_end * at->g2);
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        const vdouble way = simd_fma(f, from_q[c], simd_fma(g, from_v[c], lost_q[c]));
        const vdouble change = simd_fma(f_rate, from_q[c], simd_fma(g_rate, from_v[c], lost_v[c]));
        q[c] = whfast_add(q[c], way, &lost_q[c]);
        v[c] = whfast_add(v[c], change, &lost_v[c]);
    }
}

SIMD_INLINE void whfast_end(const struct whfast_start *start, const struct whfast_functions *at,
                            vdouble q[3], vdouble v[3], vdouble lost_q[3], vdouble lost_v[3])
{
    const vdouble from_q[3] = {q[0], q[1], q[2]}, from_v[3] = {v[0], v[1], v[2]};
    whfast_move(start, at, from_q, from_v, q, v, lost_q, lost_v);
}

/* Moves the planets of a vector for a time h. */
SIMD_INLINE void whfast_kepler(vdouble mu, vdouble h, vdouble q[3], vdouble v[3], vdouble lost_q[3],
                               vdouble lost_v[3])
{
    const struct whfast_start start = whfast_begin(mu, h, q, v);
    const struct whfast_functions at = whfast_solve(&start);
    whfast_end(&start, &at, q, v, lost_q, lost_v);
}

#endif

#endif
