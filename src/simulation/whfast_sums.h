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

/* The terms of as many planets as a vector has lanes, from begin on, times a factor unless that is
 * NULL; 0 past the last. */
SIMD_INLINE void whfast_take_terms(const struct whfast_layout layout, const vdouble *factor,
                                   const vdouble *terms, int64_t begin, vdouble *taken)
{
    const vdouble zero = simd_all(0.0);
    SIMD_UNROLL
    for (int32_t k = 0; k < whfast_lanes; k++)
        taken[k] = begin + k >= layout.slots ? zero
                   : factor                  ? factor[begin + k] * terms[begin + k]
                                             : terms[begin + k];
}

/* sums[k] = base[k] + Σ_{j<k} factor[j] terms[j]; without NULLs, or without base and factor. */
SIMD_INLINE void whfast_add_before(const struct whfast_layout layout, const vdouble *base,
                                   const vdouble *factor, const vdouble *terms, vdouble *sums)
{
    const vdouble zero = simd_all(0.0);
    vdouble carry = zero;
    if (!layout.is_systems) {
        for (int64_t k = 0; k < layout.slots; k++) {
            const vdouble sum = whfast_scan_up(factor ? factor[k] * terms[k] : terms[k]);
            const vdouble before = WHFAST_UP_1(sum) + carry;
            sums[k] = base ? base[k] + before : before;
            if (layout.slots > 1)
                carry += simd_all(SIMD_LANE(sum, whfast_lanes - 1));
        }
        return;
    }
    for (int64_t begin = 0; begin < layout.slots; begin += whfast_lanes) {
        vdouble sum[whfast_lanes];
        whfast_take_terms(layout, factor, terms, begin, sum);
        SIMD_UNROLL
        for (int32_t d = 1; d < whfast_lanes; d *= 2) {
            SIMD_UNROLL
            for (int32_t k = whfast_lanes - 1; k >= d; k--)
                sum[k] += sum[k - d];
        }
        SIMD_UNROLL
        for (int32_t k = 0; k < whfast_lanes; k++) {
            const vdouble before = (k > 0 ? sum[k - 1] : zero) + carry;
            if (begin + k < layout.slots)
                sums[begin + k] = base ? base[begin + k] + before : before;
        }
        carry += sum[whfast_lanes - 1];
    }
}

/* sums[k] = Σ_{j<k} terms[j] */
SIMD_INLINE void whfast_sums_before(const struct whfast_layout layout, const vdouble *terms,
                                    vdouble *sums)
{
    whfast_add_before(layout, NULL, NULL, terms, sums);
}

/* to[k] = from[k] + Σ_{j<k} share[j] from[j] */
SIMD_INLINE void whfast_place(const struct whfast_layout layout, const vdouble *share,
                              const vdouble *from, vdouble *to)
{
    whfast_add_before(layout, from, share, from, to);
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
    const int32_t last = (int32_t)((layout.slots - 1) / whfast_lanes);
    for (int32_t block = last; block >= 0; block--) {
        const int64_t begin = (int64_t)block * whfast_lanes;
        vdouble sum[whfast_lanes];
        whfast_take_terms(layout, NULL, terms, begin, sum);
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
            const vdouble weight = whfast_weigh(is_derivative, S2_FLOOR_DOUBLE, d, change, field);
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

/* A planet that attracts others, with the sum of what these do to it. */
struct whfast_puller {
    vdouble x[3], dx[3], mass, sum[3];
};

SIMD_INLINE void whfast_load_puller(const struct whfast_planets *p, const int64_t slots,
                                    const bool is_derivative, int64_t i, struct whfast_puller *at)
{
    at->mass = p->mass[i];
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        at->x[c] = p->x[c * slots + i];
        at->dx[c] = is_derivative ? p->dx[c * slots + i] : at->x[c];
        at->sum[c] = p->pull[c * slots + i];
    }
}

/* What two planets do to each other. */
SIMD_INLINE void whfast_pull_pair(const bool is_derivative, struct whfast_puller *at,
                                  struct whfast_puller *other)
{
    vdouble d[3], change[3], field[3];
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        d[c] = other->x[c] - at->x[c];
        change[c] = is_derivative ? other->dx[c] - at->dx[c] : d[c];
    }
    const vdouble weight = whfast_weigh(is_derivative, S2_FLOOR_DOUBLE, d, change, field);
    const vdouble of_other = other->mass * weight, of_this = at->mass * weight;
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        at->sum[c] = simd_fma(of_other, field[c], at->sum[c]);
        other->sum[c] = simd_fma(-of_this, field[c], other->sum[c]);
    }
}

/* One or two sources from s on, and all planets but the sources before them: two at a time load and
 * store the others half as often. */
SIMD_INLINE void whfast_pull_sources(const struct whfast_planets *p, const int64_t slots,
                                     const bool is_derivative, int32_t s, const int32_t count)
{
    struct whfast_puller at[2];
    const int64_t last = p->source[s + count - 1];
    SIMD_UNROLL
    for (int32_t u = 0; u < count; u++)
        whfast_load_puller(p, slots, is_derivative, p->source[s + u], &at[u]);
    if (count == 2)
        whfast_pull_pair(is_derivative, &at[0], &at[1]);
    for (int64_t j = 0; j < slots; j++) {
        if (j <= last && p->is_source[j])
            continue;
        struct whfast_puller other;
        whfast_load_puller(p, slots, is_derivative, j, &other);
        SIMD_UNROLL
        for (int32_t u = 0; u < count; u++)
            whfast_pull_pair(is_derivative, &at[u], &other);
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            p->pull[c * slots + j] = other.sum[c];
    }
    SIMD_UNROLL
    for (int32_t u = 0; u < count; u++)
        SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++)
        p->pull[c * slots + p->source[s + u]] = at[u].sum[c];
}

/* Pairs in an order in which each planet has its sources ascending. */
SIMD_INLINE void whfast_pull_systems(const struct whfast_planets *p, const int64_t slots,
                                     const bool is_derivative)
{
    int32_t s = 0;
    for (int64_t k = 0; k < 3 * slots; k++)
        p->pull[k] = simd_all(0.0);
    for (; s + 2 <= p->sources; s += 2)
        whfast_pull_sources(p, slots, is_derivative, s, 2);
    if (s < p->sources)
        whfast_pull_sources(p, slots, is_derivative, s, 1);
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
