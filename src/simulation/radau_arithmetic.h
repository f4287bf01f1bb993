#ifndef SIMULATION_RADAU_ARITHMETIC_H
#define SIMULATION_RADAU_ARITHMETIC_H

/* The arithmetic of the steps of ias15, number by number: radau.h has the formulas. Included by
 * kernels only. On a GPU a vector is a number of a thread. */

#include <math.h>

#include "core/simd_shared.h"
#include "simulation/radau.h"
#include "simulation/radau_table.inc"

enum { lanes = SIMD_BYTES / sizeof(double) };

struct attempt {
    double **array;
    int64_t vectors; /* of a component */
    int32_t dimensions;
    int64_t in_all; /* vectors */
#if SIMD_IS_SCALAR
    int32_t threads; /* of a system */
#else
    const struct radau_problem *problem;
#endif
};

SIMD_INLINE vdouble larger(vdouble a, vdouble b)
{
    return simd_select(simd_is_more(a, b), a, b);
}

SIMD_INLINE vdouble magnitude(vdouble a)
{
    return larger(a, -a);
}

/* a + b exactly: the sum and what did not fit into it (Knuth 1998, The Art of Computer Programming
 * 2, 4.2.2). */
SIMD_INLINE vdouble add_exactly(vdouble a, vdouble b, vdouble *lost)
{
    const vdouble sum = a + b, of_b = sum - a;
    *lost = (a - (sum - of_b)) + (b - of_b);
    return sum;
}

/* Extrapolation of the polynomials of the last step: with a(1 + q s) − a(1) = Σ_k s^{k+1} e_k, e_k
 * = q^{k+1} Σ_{j ≥ k} C(j + 1, k + 1) b_j, the guess for b_k is e_k + (b_k − e_k of the last step).
 * All are times h². */
SIMD_INLINE void guess_terms(const struct attempt *at, double q)
{
    static const double binomial[radau_terms][radau_terms] = {
        {1, 2, 3, 4, 5, 6, 7},   {0, 1, 3, 6, 10, 15, 21}, {0, 0, 1, 4, 10, 20, 35},
        {0, 0, 0, 1, 5, 15, 35}, {0, 0, 0, 0, 1, 6, 21},   {0, 0, 0, 0, 0, 1, 7},
        {0, 0, 0, 0, 0, 0, 1}};
    const bool goes_on = fabs(q) <= RADAU_MOST_CONTINUED && q != 0;
    double factor[radau_terms], scale = q * q;
    for (int32_t k = 0; k < radau_terms; k++)
        factor[k] = goes_on ? (scale *= q) : 0;
    const double again = goes_on ? q * q : 0;
    for (int64_t m = 0; m < at->in_all; m++) {
        const int64_t here = m * lanes;
        vdouble b[radau_terms];
        SIMD_UNROLL
        for (int32_t k = 0; k < radau_terms; k++)
            b[k] = simd_load(at->array[RADAU_TERMS + k] + here);
        SIMD_UNROLL
        for (int32_t k = 0; k < radau_terms; k++) {
            vdouble sum = b[k];
            SIMD_UNROLL
            for (int32_t j = k + 1; j < radau_terms; j++)
                sum = simd_fma(simd_all(binomial[k][j]), b[j], sum);
            const vdouble guess = sum * simd_all(factor[k]);
            const vdouble miss = b[k] - simd_load(at->array[RADAU_GUESSES + k] + here);
            simd_store(at->array[RADAU_NEW_GUESSES + k] + here, guess);
            simd_store(at->array[RADAU_NEW_TERMS + k] + here,
                       simd_fma(simd_all(again), miss, guess));
        }
    }
}

/* What the nodes of an attempt find: the largest change of h² b_6, and the largest h² a_0. */
struct found {
    vdouble change, scale;
};

/* Corrects the terms by the acceleration at node n − 1 (from 0; none if n = 0), then places the
 * bodies at node n mod 7. n must be constant. */
SIMD_INLINE void pass_node(const struct attempt *at, const int32_t n, double h, struct found *found)
{
    const int32_t next = n % radau_terms;
    const vdouble h1 = simd_all(h), h2 = simd_all(h * h);
    for (int64_t m = 0; m < at->in_all; m++) {
        const int64_t here = m * lanes;
        const vdouble a = simd_load(at->array[RADAU_ACCELERATION] + here) * h2;
        vdouble b[radau_terms];
        SIMD_UNROLL
        for (int32_t k = 0; k < radau_terms; k++)
            b[k] = simd_load(at->array[RADAU_NEW_TERMS + k] + here);
        if (n > 0) {
            const double *power = radau_power[n - 1], *basis = radau_basis[n - 1];
            vdouble odd = b[5] * simd_all(power[5]), even = b[6] * simd_all(power[6]);
            SIMD_UNROLL
            for (int32_t k = 4; k >= 0; k -= 2) {
                even = simd_fma(b[k], simd_all(power[k]), even);
                if (k > 0)
                    odd = simd_fma(b[k - 1], simd_all(power[k - 1]), odd);
            }
            const vdouble expected = a + (even + odd);
            const vdouble seen = simd_load(at->array[RADAU_STAGE_ACCELERATION] + here);
            const vdouble change = simd_fma(seen, h2, -expected) * simd_all(radau_weight[n - 1]);
            SIMD_UNROLL
            for (int32_t k = 0; k < n; k++) {
                b[k] = simd_fma(simd_all(basis[k]), change, b[k]);
                simd_store(at->array[RADAU_NEW_TERMS + k] + here, b[k]);
            }
            if (n == radau_terms) {
                found->change = larger(found->change, magnitude(change));
                found->scale = larger(found->scale, magnitude(a));
            }
        }
        const double *place = radau_place[next], node = radau_node[next];
        const vdouble v = simd_load(at->array[RADAU_VELOCITY] + here) * h1;
        vdouble odd = b[5] * simd_all(place[5]), even = b[6] * simd_all(place[6]);
        SIMD_UNROLL
        for (int32_t k = 4; k >= 0; k -= 2) {
            even = simd_fma(b[k], simd_all(place[k]), even);
            if (k > 0)
                odd = simd_fma(b[k - 1], simd_all(place[k - 1]), odd);
        }
        vdouble way = simd_fma(a, simd_all(node * node / 2), even + odd);
        way += simd_load(at->array[RADAU_LOST_POSITION] + here);
        way = simd_fma(v, simd_all(node), way);
        vdouble lost;
        simd_store(at->array[RADAU_STAGE] + here,
                   add_exactly(simd_load(at->array[RADAU_POSITION] + here), way, &lost));
        simd_store(at->array[RADAU_LOST_STAGE] + here, lost);
    }
}

/* The squares of τ of the bodies of a vector in units of the step's length; ∞ where nothing
 * changes.
 */
SIMD_INLINE vdouble times2_of(const struct attempt *at, int64_t t, double h, double scale)
{
    static const double of_rate[] = {1, 2, 3, 4, 5, 6, 7}, of_second[] = {0, 2, 6, 12, 20, 30, 42},
                        of_third[] = {0, 0, 6, 24, 60, 120, 210};
    const vdouble zero = simd_all(0.0), infinite = simd_all((double)INFINITY);
    const vdouble unit = simd_all(1 / scale), h2 = simd_all(h * h);
    vdouble start2 = zero, a2 = zero, rate2 = zero, second2 = zero, third2 = zero;
    for (int32_t c = 0; c < at->dimensions; c++) {
        const int64_t here = (c * at->vectors + t) * lanes;
        const vdouble start = simd_load(at->array[RADAU_ACCELERATION] + here) * h2 * unit;
        vdouble a = start, rate = zero, second = zero, third = zero;
        SIMD_UNROLL
        for (int32_t k = 0; k < radau_terms; k++) {
            const vdouble b = simd_load(at->array[RADAU_NEW_TERMS + k] + here) * unit;
            a += b;
            rate = simd_fma(simd_all(of_rate[k]), b, rate);
            second = simd_fma(simd_all(of_second[k]), b, second);
            third = simd_fma(simd_all(of_third[k]), b, third);
        }
        start2 = simd_fma(start, start, start2);
        a2 = simd_fma(a, a, a2);
        rate2 = simd_fma(rate, rate, rate2);
        second2 = simd_fma(second, second, second2);
        third2 = simd_fma(third, third, third2);
    }
    const vdouble product = a2 * second2, other = rate2 * third2;
    const vdouble a_second =
        product * simd_rsqrt_or_0_scaled(product) * simd_all(1 / SIMD_RSQRT_SCALE_DOUBLE);
    const vdouble rate_third =
        other * simd_rsqrt_or_0_scaled(other) * simd_all(1 / SIMD_RSQRT_SCALE_DOUBLE);
    const vdouble time2 = larger((a2 + a2) / (rate2 + a_second),
                                 simd_all(0.5) * (a_second + rate2) / (rate_third + second2));
    const vint64 counts = simd_is_more(larger(start2, a2), simd_all(0x1p-72));
    return simd_select(counts, time2, infinite);
}

/* The state at the end of a step. */
SIMD_INLINE void finish_step(const struct attempt *at, double h, bool continued)
{
    static const double of_place[] = {1.0 / 6,  1.0 / 12, 1.0 / 20, 1.0 / 30,
                                      1.0 / 42, 1.0 / 56, 1.0 / 72};
    static const double of_velocity[] = {1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5,
                                         1.0 / 6, 1.0 / 7, 1.0 / 8};
    const vdouble h1 = simd_all(h), h2 = simd_all(h * h);
    for (int64_t m = 0; m < at->in_all; m++) {
        const int64_t here = m * lanes;
        const vdouble a = simd_load(at->array[RADAU_ACCELERATION] + here) * h2;
        vdouble place = simd_all(0.0), change = simd_all(0.0);
        SIMD_UNROLL
        for (int32_t k = radau_terms - 1; k >= 0; k--) {
            const vdouble b = simd_load(at->array[RADAU_NEW_TERMS + k] + here);
            const double *guesses =
                at->array[(continued ? RADAU_NEW_GUESSES : RADAU_NEW_TERMS) + k] + here;
            simd_store(at->array[RADAU_GUESSES + k] + here, simd_load(guesses));
            simd_store(at->array[RADAU_TERMS + k] + here, b);
            place = simd_fma(simd_all(of_place[k]), b, place);
            change = simd_fma(simd_all(of_velocity[k]), b, change);
        }
        const vdouble v = simd_load(at->array[RADAU_VELOCITY] + here);
        const vdouble lost_v = simd_load(at->array[RADAU_LOST_VELOCITY] + here);
        vdouble lost[3];

        place = simd_fma(a, simd_all(0.5), place);
        place = simd_fma(h1, lost_v, place);
        place += simd_load(at->array[RADAU_LOST_POSITION] + here);
        const vdouble drift = v * h1, lost_drift = simd_fma(v, h1, -drift);
        const vdouble way = add_exactly(drift, place, &lost[0]);
        simd_store(at->array[RADAU_POSITION] + here,
                   add_exactly(simd_load(at->array[RADAU_POSITION] + here), way, &lost[1]));
        simd_store(at->array[RADAU_LOST_POSITION] + here, lost[1] + (lost[0] + lost_drift));

        const vdouble pull = simd_load(at->array[RADAU_ACCELERATION] + here);
        simd_store(at->array[RADAU_START] + here, pull);
        const vdouble first = pull * h1, lost_first = simd_fma(pull, h1, -first);
        const vdouble kick = add_exactly(first, change / h1 + lost_v, &lost[0]);
        simd_store(at->array[RADAU_VELOCITY] + here, add_exactly(v, kick, &lost[1]));
        simd_store(at->array[RADAU_LOST_VELOCITY] + here, lost[1] + (lost[0] + lost_first));
    }
}

#endif
