#ifndef SIMULATION_WHFAST_PLANETS_H
#define SIMULATION_WHFAST_PLANETS_H

/* The planets of whfast in vectors. Included by kernels only.
 *
 * Of one system a vector has as many planets as lanes, and slots is the number of vectors; of an
 * ensemble it has one planet of as many systems, and slots is the number of planets. What is done
 * to each planet alone is the same for both. Sums over planets add in one order for both, that of
 * vectors of planets, so that a system has the same bits in an ensemble and alone. */

#include <string.h>

#include "core/floors.h"
#include "simulation/whfast_kepler.h"

#if SIMD_BYTES == 64
#define WHFAST_UP_1(a)   __builtin_shufflevector(a, (vdouble){0}, 8, 0, 1, 2, 3, 4, 5, 6)
#define WHFAST_UP_2(a)   __builtin_shufflevector(a, (vdouble){0}, 8, 9, 0, 1, 2, 3, 4, 5)
#define WHFAST_UP_4(a)   __builtin_shufflevector(a, (vdouble){0}, 8, 9, 10, 11, 0, 1, 2, 3)
#define WHFAST_DOWN_1(a) __builtin_shufflevector(a, (vdouble){0}, 1, 2, 3, 4, 5, 6, 7, 8)
#define WHFAST_DOWN_2(a) __builtin_shufflevector(a, (vdouble){0}, 2, 3, 4, 5, 6, 7, 8, 9)
#define WHFAST_DOWN_4(a) __builtin_shufflevector(a, (vdouble){0}, 4, 5, 6, 7, 8, 9, 10, 11)
#define WHFAST_SWAP_1(a) __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6)
#define WHFAST_SWAP_2(a) __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5)
#define WHFAST_SWAP_4(a) __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3)
#elif SIMD_BYTES == 32
#define WHFAST_UP_1(a)   __builtin_shufflevector(a, (vdouble){0}, 4, 0, 1, 2)
#define WHFAST_UP_2(a)   __builtin_shufflevector(a, (vdouble){0}, 4, 5, 0, 1)
#define WHFAST_UP_4(a)   (a)
#define WHFAST_DOWN_1(a) __builtin_shufflevector(a, (vdouble){0}, 1, 2, 3, 4)
#define WHFAST_DOWN_2(a) __builtin_shufflevector(a, (vdouble){0}, 2, 3, 4, 5)
#define WHFAST_DOWN_4(a) (a)
#define WHFAST_SWAP_1(a) __builtin_shufflevector(a, a, 1, 0, 3, 2)
#define WHFAST_SWAP_2(a) __builtin_shufflevector(a, a, 2, 3, 0, 1)
#define WHFAST_SWAP_4(a) (a)
#else
#define WHFAST_UP_1(a)   __builtin_shufflevector(a, (vdouble){0}, 2, 0)
#define WHFAST_UP_2(a)   (a)
#define WHFAST_UP_4(a)   (a)
#define WHFAST_DOWN_1(a) __builtin_shufflevector(a, (vdouble){0}, 1, 2)
#define WHFAST_DOWN_2(a) (a)
#define WHFAST_DOWN_4(a) (a)
#define WHFAST_SWAP_1(a) __builtin_shufflevector(a, a, 1, 0)
#define WHFAST_SWAP_2(a) (a)
#define WHFAST_SWAP_4(a) (a)
#endif

struct whfast_layout {
    bool is_systems;
    int64_t slots;
};

/* Vectors are [3][slots], numbers of a planet [slots]. After the planets lie bodies that stay at a
 * distance of 1 from the star, without mass. */
struct whfast_planets {
    struct whfast_layout layout;
    int64_t planets;
    bool is_jacobi;
    vdouble *q, *v, *lost_q, *lost_v;
    vdouble *x, *dx; /* relative to the star; those along which a derivative is taken */
    vdouble *a, *pull, *terms;
    vdouble *saved; /* of q, v, lost_q, lost_v */

    /* Of a planet i, with η_i the mass of the bodies up to it and M that of all: */
    vdouble *mass, *gm; /* m_i, G m_i; of mu G η_i, or G m_0 */
    vdouble *mu;
    vdouble *share;   /* m_i / η_i */
    vdouble *part;    /* m_i / M */
    vdouble *jump;    /* m_i / m_0 */
    vdouble *inverse; /* 1 / η_{i−1} */
    vdouble *ratio;   /* m_0 / η_{i−1} */
    vdouble *kick;    /* η_i / η_{i−1}, in heliocentric coordinates 1; after the planets 0 */
    vdouble star_gm;

    vdouble center[3], center_velocity[3], lost_center[3]; /* of mass */
    int32_t *source; /* the planets with mass (of an ensemble: in any system), ascending */
    int32_t *is_source;
    int32_t sources;
};

enum { whfast_numbers_of_slot = 48 };

SIMD_INLINE vdouble whfast_scan_up(vdouble a)
{
    a += WHFAST_UP_1(a);
    if (whfast_lanes > 2)
        a += WHFAST_UP_2(a);
    if (whfast_lanes > 4)
        a += WHFAST_UP_4(a);
    return a;
}

SIMD_INLINE vdouble whfast_scan_down(vdouble a)
{
    a += WHFAST_DOWN_1(a);
    if (whfast_lanes > 2)
        a += WHFAST_DOWN_2(a);
    if (whfast_lanes > 4)
        a += WHFAST_DOWN_4(a);
    return a;
}

/* The sum of all lanes, in each. */
SIMD_INLINE vdouble whfast_sum_lanes(vdouble a)
{
    if (whfast_lanes > 4)
        a += WHFAST_SWAP_4(a);
    if (whfast_lanes > 2)
        a += WHFAST_SWAP_2(a);
    return a + WHFAST_SWAP_1(a);
}

/* The terms of as many planets as a vector has lanes, from begin on; 0 behind the last. */
SIMD_INLINE void whfast_take_terms(const struct whfast_layout layout, const vdouble *terms,
                                   int64_t begin, vdouble *taken)
{
    const vdouble zero = {0};
    SIMD_UNROLL
    for (int32_t k = 0; k < whfast_lanes; k++)
        taken[k] = begin + k < layout.slots ? terms[begin + k] : zero;
}

/* sums[k] = Σ_{j<k} terms[j] */
SIMD_INLINE void whfast_sums_before(const struct whfast_layout layout, const vdouble *terms,
                                    vdouble *sums)
{
    const vdouble zero = {0};
    vdouble carry = zero;
    if (!layout.is_systems) {
        for (int64_t k = 0; k < layout.slots; k++) {
            const vdouble sum = whfast_scan_up(terms[k]);
            sums[k] = WHFAST_UP_1(sum) + carry;
            if (layout.slots > 1)
                carry += simd_all(sum[whfast_lanes - 1]);
        }
        return;
    }
    for (int64_t begin = 0; begin < layout.slots; begin += whfast_lanes) {
        vdouble sum[whfast_lanes];
        whfast_take_terms(layout, terms, begin, sum);
        SIMD_UNROLL
        for (int32_t d = 1; d < whfast_lanes; d *= 2) {
            SIMD_UNROLL
            for (int32_t k = whfast_lanes - 1; k >= d; k--)
                sum[k] += sum[k - d];
        }
        SIMD_UNROLL
        for (int32_t k = 0; k < whfast_lanes; k++)
            if (begin + k < layout.slots)
                sums[begin + k] = (k > 0 ? sum[k - 1] : zero) + carry;
        carry += sum[whfast_lanes - 1];
    }
}

/* sums[k] = Σ_{j>k} terms[j] */
SIMD_INLINE void whfast_sums_after(const struct whfast_layout layout, const vdouble *terms,
                                   vdouble *sums)
{
    const vdouble zero = {0};
    vdouble carry = zero;
    if (!layout.is_systems) {
        for (int64_t k = layout.slots - 1; k >= 0; k--) {
            const vdouble sum = whfast_scan_down(terms[k]);
            sums[k] = WHFAST_DOWN_1(sum) + carry;
            if (layout.slots > 1)
                carry += simd_all(sum[0]);
        }
        return;
    }
    const int64_t last = (layout.slots - 1) / whfast_lanes * whfast_lanes;
    for (int64_t begin = last; begin >= 0; begin -= whfast_lanes) {
        vdouble sum[whfast_lanes];
        whfast_take_terms(layout, terms, begin, sum);
        SIMD_UNROLL
        for (int32_t d = 1; d < whfast_lanes; d *= 2) {
            SIMD_UNROLL
            for (int32_t k = 0; k < whfast_lanes - d; k++)
                sum[k] += sum[k + d];
        }
        SIMD_UNROLL
        for (int32_t k = 0; k < whfast_lanes; k++)
            if (begin + k < layout.slots)
                sums[begin + k] = (k + 1 < whfast_lanes ? sum[k + 1] : zero) + carry;
        carry += sum[0];
    }
}

/* Σ_j factor[j] terms[j], of one system in each lane. */
SIMD_INLINE vdouble whfast_sum(const struct whfast_layout layout, const vdouble *factor,
                               const vdouble *terms)
{
    if (!layout.is_systems) {
        vdouble sum = {0};
        for (int64_t k = 0; k < layout.slots; k++)
            sum = simd_fma(factor[k], terms[k], sum);
        return whfast_sum_lanes(sum);
    }
    vdouble sum[whfast_lanes];
    SIMD_UNROLL
    for (int32_t k = 0; k < whfast_lanes; k++)
        sum[k] = simd_all(0.0);
    for (int64_t begin = 0; begin < layout.slots; begin += whfast_lanes) {
        SIMD_UNROLL
        for (int32_t k = 0; k < whfast_lanes; k++)
            if (begin + k < layout.slots)
                sum[k] = simd_fma(factor[begin + k], terms[begin + k], sum[k]);
    }
    SIMD_UNROLL
    for (int32_t d = whfast_lanes / 2; d > 0; d /= 2) {
        SIMD_UNROLL
        for (int32_t k = 0; k < d; k++)
            sum[k] += sum[k + d];
    }
    return sum[0];
}

/* The field d / |d|³, or its derivative along change, is weight times this: field. */
SIMD_INLINE vdouble whfast_weigh(const bool is_derivative, const vdouble d[3],
                                 const vdouble change[3], vdouble field[3])
{
    const vdouble r2 =
        simd_fma(d[2], d[2], simd_fma(d[1], d[1], simd_fma(d[0], d[0], simd_all(S2_FLOOR_DOUBLE))));
    if (!is_derivative) {
        memcpy(field, d, 3 * sizeof *field);
        return simd_rsqrt3_scaled(r2);
    }
    const vdouble root = simd_rsqrt(r2), square = root * root;
    const vdouble rate = whfast_dot(d, change) * square * simd_all(3.0);
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++)
        field[c] = simd_fma(-rate, d[c], change[c]);
    return square * root;
}

SIMD_INLINE double whfast_lane(const vdouble *vectors, int64_t k)
{
    return ((const double *)vectors)[k];
}

/* pull = what planets do to planets. */
SIMD_INLINE void whfast_pull_one(const struct whfast_planets *p, const struct whfast_layout layout,
                                 const bool is_derivative)
{
    const int64_t slots = layout.slots;
    for (int64_t k = 0; k < slots; k++) {
        vdouble x[3], dx[3], sum[3] = {{0}};
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            x[c] = p->x[c * slots + k];
            dx[c] = is_derivative ? p->dx[c * slots + k] : x[c];
        }
        for (int32_t t = 0; t < p->sources; t++) {
            const int64_t j = p->source[t];
            vdouble d[3], change[3], field[3];
            SIMD_UNROLL
            for (int32_t c = 0; c < 3; c++) {
                d[c] = simd_all(whfast_lane(p->x + c * slots, j)) - x[c];
                change[c] =
                    is_derivative ? simd_all(whfast_lane(p->dx + c * slots, j)) - dx[c] : d[c];
            }
            const vdouble weight = whfast_weigh(is_derivative, d, change, field);
            const vdouble of_source = simd_all(whfast_lane(p->gm, j)) * weight;
            SIMD_UNROLL
            for (int32_t c = 0; c < 3; c++)
                sum[c] = simd_fma(of_source, field[c], sum[c]);
        }
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            p->pull[c * slots + k] = sum[c];
    }
}

/* Pairs in an order in which each planet has its sources ascending. */
SIMD_INLINE void whfast_pull_systems(const struct whfast_planets *p, const int64_t slots,
                                     const bool is_derivative)
{
    for (int64_t k = 0; k < 3 * slots; k++)
        p->pull[k] = (vdouble){0};
    for (int32_t s = 0; s < p->sources; s++) {
        const int64_t i = p->source[s];
        vdouble x[3], dx[3], sum[3];
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            x[c] = p->x[c * slots + i];
            dx[c] = is_derivative ? p->dx[c * slots + i] : x[c];
            sum[c] = p->pull[c * slots + i];
        }
        const vdouble gm = p->gm[i];
        for (int64_t j = 0; j < slots; j++) {
            if (j == i || (j < i && p->is_source[j])) /* a pair of sources is done at its first */
                continue;
            vdouble d[3], change[3], field[3];
            SIMD_UNROLL
            for (int32_t c = 0; c < 3; c++) {
                d[c] = p->x[c * slots + j] - x[c];
                change[c] = is_derivative ? p->dx[c * slots + j] - dx[c] : d[c];
            }
            const vdouble weight = whfast_weigh(is_derivative, d, change, field);
            const vdouble of_other = p->gm[j] * weight, of_this = gm * weight;
            SIMD_UNROLL
            for (int32_t c = 0; c < 3; c++) {
                sum[c] = simd_fma(of_other, field[c], sum[c]);
                p->pull[c * slots + j] = simd_fma(-of_this, field[c], p->pull[c * slots + j]);
            }
        }
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            p->pull[c * slots + i] = sum[c];
    }
}

#endif
