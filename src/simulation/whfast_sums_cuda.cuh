#ifndef SIMULATION_WHFAST_SUMS_CUDA_CUH
#define SIMULATION_WHFAST_SUMS_CUDA_CUH

/* Sums over planets and their pull on each other, on a GPU: whfast_sums.h with threads as the lanes
 * of a vector. Included by whfast_planets.h.
 *
 * All threads of a warp call these together, each of its systems with as many threads, a power of
 * two, and two planets in each: lane l of vector k is planet 2 l + k. */

static const unsigned whfast_warp = 0xffffffff;

SIMD_INLINE int32_t whfast_lane_of(const struct whfast_layout layout)
{
    return (int32_t)threadIdx.x & (layout.lanes - 1);
}

/* Inclusive sums over lanes; down: of this lane and those after it. */
SIMD_INLINE vdouble whfast_scan_up(const struct whfast_layout layout, vdouble a)
{
#pragma unroll
    for (int32_t d = 1; d < layout.lanes; d *= 2) {
        const vdouble other = __shfl_up_sync(whfast_warp, a, (unsigned)d, layout.lanes);
        a += whfast_lane_of(layout) >= d ? other : 0;
    }
    return a;
}

SIMD_INLINE vdouble whfast_scan_down(const struct whfast_layout layout, vdouble a)
{
#pragma unroll
    for (int32_t d = 1; d < layout.lanes; d *= 2) {
        const vdouble other = __shfl_down_sync(whfast_warp, a, (unsigned)d, layout.lanes);
        a += whfast_lane_of(layout) + d < layout.lanes ? other : 0;
    }
    return a;
}

/* sums[k] = Σ_{j<k} terms[j] */
SIMD_INLINE void whfast_sums_before(const struct whfast_layout layout, const vdouble *terms,
                                    vdouble *sums)
{
    const vdouble first = terms[0], all = whfast_scan_up(layout, first + terms[1]);
    const vdouble before = __shfl_up_sync(whfast_warp, all, 1, layout.lanes);
    sums[0] = whfast_lane_of(layout) > 0 ? before : 0;
    sums[1] = sums[0] + first;
}

/* sums[k] = Σ_{j>k} terms[j] */
SIMD_INLINE void whfast_sums_after(const struct whfast_layout layout, const vdouble *terms,
                                   vdouble *sums)
{
    const vdouble second = terms[1], all = whfast_scan_down(layout, terms[0] + second);
    const vdouble after = __shfl_down_sync(whfast_warp, all, 1, layout.lanes);
    sums[1] = whfast_lane_of(layout) + 1 < layout.lanes ? after : 0;
    sums[0] = sums[1] + second;
}

/* Σ_j factor[j] terms[j], in each lane. */
SIMD_INLINE vdouble whfast_sum(const struct whfast_layout layout, const vdouble *factor,
                               const vdouble *terms)
{
    vdouble sum = 0;
#pragma unroll
    for (int64_t k = 0; k < layout.slots; k++)
        sum = simd_fma(factor[k], terms[k], sum);
#pragma unroll
    for (int32_t d = layout.lanes / 2; d > 0; d /= 2)
        sum += __shfl_xor_sync(whfast_warp, sum, d, layout.lanes);
    return sum;
}

/* The vector of the planets that are `turns` lanes further, around. */
SIMD_INLINE void whfast_turn(const struct whfast_layout layout, const vdouble *vectors, int64_t k,
                             int32_t turns, vdouble to[3])
{
    const int32_t from = whfast_lane_of(layout) + turns;
#pragma unroll
    for (int32_t c = 0; c < 3; c++)
        to[c] = __shfl_sync(whfast_warp, vectors[c * layout.slots + k], from, layout.lanes);
}

/* 8/15 of 1/|d|³, in an operation less: with e = 1 − y² d² of an estimate y of 1/|d| it is
 * y³ (8/15 + 4/5 e + e²) = y³ ((e + 2/5)² + 28/75). */
SIMD_INLINE vdouble whfast_cube(double floor, const vdouble d[3])
{
    const vdouble d2 = simd_fma(d[2], d[2], simd_fma(d[1], d[1], simd_fma(d[0], d[0], floor)));
    const vdouble y = simd_estimate_rsqrt_double(d2), y2 = y * y, t = simd_fma(-d2, y2, 1.4);
    return y2 * y * simd_fma(t, t, 28.0 / 75);
}

/* A planet that attracts others. */
struct whfast_puller {
    vdouble x[3], dx[3], gm;
};

/* dx is NULL without a derivative. */
SIMD_INLINE struct whfast_puller whfast_puller_of(const vdouble *x, const vdouble *dx, vdouble gm,
                                                  int32_t k)
{
    struct whfast_puller at;
#pragma unroll
    for (int32_t c = 0; c < 3; c++) {
        at.x[c] = x[2 * c + k];
        at.dx[c] = dx ? dx[2 * c + k] : 0;
    }
    at.gm = gm;
    return at;
}

/* That of another lane. */
SIMD_INLINE struct whfast_puller whfast_turn(const struct whfast_layout layout,
                                             const bool is_derivative,
                                             const struct whfast_puller *own, int32_t from)
{
    struct whfast_puller at;
#pragma unroll
    for (int32_t c = 0; c < 3; c++) {
        at.x[c] = __shfl_sync(whfast_warp, own->x[c], from, layout.lanes);
        at.dx[c] = is_derivative ? __shfl_sync(whfast_warp, own->dx[c], from, layout.lanes) : 0;
    }
    at.gm = __shfl_sync(whfast_warp, own->gm, from, layout.lanes);
    return at;
}

SIMD_INLINE void whfast_pull_two(const bool is_derivative, double floor,
                                 const struct whfast_puller *at, const struct whfast_puller *other,
                                 vdouble sum[3], vdouble other_sum[3])
{
    vdouble d[3], change[3], field[3];
#pragma unroll
    for (int32_t c = 0; c < 3; c++) {
        d[c] = other->x[c] - at->x[c];
        change[c] = is_derivative ? other->dx[c] - at->dx[c] : d[c];
        field[c] = d[c];
    }
    const vdouble weight =
        is_derivative ? whfast_weigh(true, floor, d, change, field) : whfast_cube(floor, d);
    const vdouble of_other = other->gm * weight, of_this = at->gm * weight;
#pragma unroll
    for (int32_t c = 0; c < 3; c++) {
        sum[c] = simd_fma(of_other, field[c], sum[c]);
        other_sum[c] = simd_fma(-of_this, field[c], other_sum[c]);
    }
}

/* Adds to a sum what the lane `from` has found for it. */
SIMD_INLINE void whfast_hand(const struct whfast_layout layout, const vdouble found[3],
                             int32_t from, vdouble sum[3])
{
#pragma unroll
    for (int32_t c = 0; c < 3; c++)
        sum[c] += __shfl_sync(whfast_warp, found[c], from, layout.lanes);
}

/* Adds h times what planets do to planets, or its derivative along dx, to a sum: each pair once. A
 * thread does its own pair, those with the planets of the next lanes, around, and one with the
 * opposite lane's, and hands the others their part. One without mass adds 0. */
SIMD_INLINE void whfast_add_pull(const struct whfast_planets *p, const struct whfast_layout layout,
                                 const vdouble *x, const vdouble *dx, vdouble h, vdouble *to)
{
    const bool is_derivative = dx;
    const int32_t lane = whfast_lane_of(layout), opposite = layout.lanes / 2;
    const vdouble factor = h * p->g * (is_derivative ? 1.0 : 1.875);
    /* At the floor factor / |d|³ is finite (core/floors.h). */
    const double floor = S2_FLOOR_DOUBLE * fmax(1.0, fabs(factor));
    const struct whfast_puller own[2] = {whfast_puller_of(x, dx, factor * p->mass[0], 0),
                                         whfast_puller_of(x, dx, factor * p->mass[1], 1)};
    vdouble sum[2][3];
#pragma unroll
    for (int32_t c = 0; c < 3; c++) {
        sum[0][c] = to[2 * c];
        sum[1][c] = to[2 * c + 1];
    }
    whfast_pull_two(is_derivative, floor, &own[0], &own[1], sum[0], sum[1]);
#pragma unroll
    for (int32_t turns = 1; turns < opposite; turns++) {
        vdouble found[2][3] = {};
#pragma unroll
        for (int32_t j = 0; j < 2; j++) {
            const struct whfast_puller other =
                whfast_turn(layout, is_derivative, &own[j], lane + turns);
#pragma unroll
            for (int32_t k = 0; k < 2; k++)
                whfast_pull_two(is_derivative, floor, &own[k], &other, sum[k], found[j]);
        }
#pragma unroll
        for (int32_t k = 0; k < 2; k++)
            whfast_hand(layout, found[k], lane + layout.lanes - turns, sum[k]);
    }
    if (opposite > 0) {
        vdouble found[3] = {}, not_handed[3] = {};
        const struct whfast_puller first =
            whfast_turn(layout, is_derivative, &own[0], lane ^ opposite);
        const struct whfast_puller second =
            whfast_turn(layout, is_derivative, &own[1], lane ^ opposite);
        whfast_pull_two(is_derivative, floor, &own[0], &second, sum[0], found);
        whfast_pull_two(is_derivative, floor, &own[0], &first, sum[0], not_handed);
        whfast_pull_two(is_derivative, floor, &own[1], &second, sum[1], not_handed);
        whfast_hand(layout, found, lane ^ opposite, sum[1]);
    }
#pragma unroll
    for (int32_t c = 0; c < 3; c++) {
        to[2 * c] = sum[0][c];
        to[2 * c + 1] = sum[1][c];
    }
}

SIMD_INLINE void whfast_pull(const struct whfast_planets *p, const struct whfast_layout layout,
                             const bool is_derivative)
{
#pragma unroll
    for (int32_t k = 0; k < 6; k++)
        p->pull[k] = 0;
    whfast_add_pull(p, layout, p->x, is_derivative ? p->dx : NULL, 1, p->pull);
}

#endif
