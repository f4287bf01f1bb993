#ifndef SIMULATION_WHFAST_SUMS_H
#define SIMULATION_WHFAST_SUMS_H

/* Sums over planets in vectors, and their pull on each other, on a CPU. Included by
 * whfast_planets.h. */

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
#elif SIMD_BYTES == 8
#define WHFAST_UP_1(a)   (0.0 * (a))
#define WHFAST_UP_2(a)   (a)
#define WHFAST_UP_4(a)   (a)
#define WHFAST_DOWN_1(a) (0.0 * (a))
#define WHFAST_DOWN_2(a) (a)
#define WHFAST_DOWN_4(a) (a)
#define WHFAST_SWAP_1(a) (0.0 * (a))
#define WHFAST_SWAP_2(a) (a)
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

/* The terms of as many planets as a vector has lanes, from begin on; 0 past the last. */
SIMD_INLINE void whfast_take_terms(const struct whfast_layout layout, const vdouble *terms,
                                   int64_t begin, vdouble *taken)
{
    const vdouble zero = simd_all(0.0);
    SIMD_UNROLL
    for (int32_t k = 0; k < whfast_lanes; k++)
        taken[k] = begin + k < layout.slots ? terms[begin + k] : zero;
}

/* sums[k] = Σ_{j<k} terms[j] */
SIMD_INLINE void whfast_sums_before(const struct whfast_layout layout, const vdouble *terms,
                                    vdouble *sums)
{
    const vdouble zero = simd_all(0.0);
    vdouble carry = zero;
    if (!layout.is_systems) {
        for (int64_t k = 0; k < layout.slots; k++) {
            const vdouble sum = whfast_scan_up(terms[k]);
            sums[k] = WHFAST_UP_1(sum) + carry;
            if (layout.slots > 1)
                carry += simd_all(SIMD_LANE(sum, whfast_lanes - 1));
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
    const vdouble zero = simd_all(0.0);
    vdouble carry = zero;
    if (!layout.is_systems) {
        for (int64_t k = layout.slots - 1; k >= 0; k--) {
            const vdouble sum = whfast_scan_down(terms[k]);
            sums[k] = WHFAST_DOWN_1(sum) + carry;
            if (layout.slots > 1)
                carry += simd_all(SIMD_LANE(sum, 0));
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
        vdouble sum = simd_all(0.0);
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

SIMD_INLINE double whfast_lane(const vdouble *vectors, int64_t k)
{
    return ((const double *)vectors)[k];
}

/* pull = what planets do to planets. G comes last: at the distance 0 of a planet from itself a
 * weight is next to the largest number. */
SIMD_INLINE void whfast_pull_one(const struct whfast_planets *p, const struct whfast_layout layout,
                                 const bool is_derivative)
{
    const int64_t slots = layout.slots;
    for (int64_t k = 0; k < slots; k++) {
        vdouble x[3], dx[3], sum[3] = {simd_all(0.0), simd_all(0.0), simd_all(0.0)};
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
            const vdouble of_source = simd_all(whfast_lane(p->mass, j)) * weight;
            SIMD_UNROLL
            for (int32_t c = 0; c < 3; c++)
                sum[c] = simd_fma(of_source, field[c], sum[c]);
        }
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            p->pull[c * slots + k] = simd_all(p->g) * sum[c];
    }
}

/* Pairs in an order in which each planet has its sources ascending. */
SIMD_INLINE void whfast_pull_systems(const struct whfast_planets *p, const int64_t slots,
                                     const bool is_derivative)
{
    for (int64_t k = 0; k < 3 * slots; k++)
        p->pull[k] = simd_all(0.0);
    for (int32_t s = 0; s < p->sources; s++) {
        const int64_t i = p->source[s];
        vdouble x[3], dx[3], sum[3];
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            x[c] = p->x[c * slots + i];
            dx[c] = is_derivative ? p->dx[c * slots + i] : x[c];
            sum[c] = p->pull[c * slots + i];
        }
        const vdouble mass = p->mass[i];
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
            const vdouble of_other = p->mass[j] * weight, of_this = mass * weight;
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
    for (int64_t k = 0; k < 3 * slots; k++)
        p->pull[k] *= simd_all(p->g);
}

SIMD_INLINE void whfast_pull(const struct whfast_planets *p, const struct whfast_layout layout,
                             const bool is_derivative)
{
    if (layout.is_systems)
        whfast_pull_systems(p, layout.slots, is_derivative);
    else
        whfast_pull_one(p, layout, is_derivative);
}

#endif
