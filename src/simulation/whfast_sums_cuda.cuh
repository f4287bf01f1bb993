#ifndef SIMULATION_WHFAST_SUMS_CUDA_CUH
#define SIMULATION_WHFAST_SUMS_CUDA_CUH

/* Sums over planets and their pull on each other, on a GPU: whfast_sums.h with threads as the lanes
 * of a vector. Included by whfast_planets.h.
 *
 * All threads of a warp call these together, each of its systems with as many threads, a power of
 * two. Lane l of vector k is planet k·lanes + l. */

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
    const int32_t lane = whfast_lane_of(layout), last = layout.lanes - 1;
    vdouble carry = 0;
#pragma unroll
    for (int64_t k = 0; k < layout.slots; k++) {
        const vdouble sum = whfast_scan_up(layout, terms[k]);
        const vdouble before = __shfl_up_sync(whfast_warp, sum, 1, layout.lanes);
        sums[k] = (lane > 0 ? before : 0) + carry;
        if (layout.slots > 1)
            carry += __shfl_sync(whfast_warp, sum, last, layout.lanes);
    }
}

/* sums[k] = Σ_{j>k} terms[j] */
SIMD_INLINE void whfast_sums_after(const struct whfast_layout layout, const vdouble *terms,
                                   vdouble *sums)
{
    const int32_t lane = whfast_lane_of(layout), last = layout.lanes - 1;
    vdouble carry = 0;
#pragma unroll
    for (int64_t k = layout.slots - 1; k >= 0; k--) {
        const vdouble sum = whfast_scan_down(layout, terms[k]);
        const vdouble after = __shfl_down_sync(whfast_warp, sum, 1, layout.lanes);
        sums[k] = (lane < last ? after : 0) + carry;
        if (layout.slots > 1)
            carry += __shfl_sync(whfast_warp, sum, 0, layout.lanes);
    }
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

/* What planets do to planets, one in each thread: each pair once. A thread does the pairs with the
 * planets of the next lanes, around, up to the opposite one, and hands them their part. */
SIMD_INLINE void whfast_pull_pairs(const struct whfast_planets *p,
                                   const struct whfast_layout layout, const bool is_derivative)
{
    const int32_t opposite = layout.lanes / 2;
    vdouble sum[3] = {0, 0, 0};
#pragma unroll
    for (int32_t turns = 1; turns <= opposite; turns++) {
        const int32_t lane = whfast_lane_of(layout);
        const vdouble mass = __shfl_sync(whfast_warp, p->mass[0], lane + turns, layout.lanes);
        vdouble d[3], change[3], field[3];
        whfast_turn(layout, p->x, 0, turns, d);
        if (is_derivative)
            whfast_turn(layout, p->dx, 0, turns, change);
#pragma unroll
        for (int32_t c = 0; c < 3; c++) {
            d[c] -= p->x[c];
            change[c] = is_derivative ? change[c] - p->dx[c] : d[c];
        }
        const vdouble weight = whfast_weigh(is_derivative, d, change, field);
        const vdouble of_other = mass * weight, of_this = p->mass[0] * weight;
#pragma unroll
        for (int32_t c = 0; c < 3; c++) {
            sum[c] = simd_fma(of_other, field[c], sum[c]);
            if (turns < opposite)
                sum[c] -= __shfl_sync(whfast_warp, of_this * field[c], lane + layout.lanes - turns,
                                      layout.lanes);
        }
    }
#pragma unroll
    for (int32_t c = 0; c < 3; c++)
        p->pull[c] = p->g * sum[c];
}

/* The same with several planets in a thread, with all others as sources. */
SIMD_INLINE void whfast_pull_all(const struct whfast_planets *p, const struct whfast_layout layout,
                                 const bool is_derivative)
{
    const int64_t slots = layout.slots;
#pragma unroll
    for (int64_t k = 0; k < 3 * slots; k++)
        p->pull[k] = 0;
#pragma unroll
    for (int64_t from = 0; from < slots; from++)
#pragma unroll
        for (int32_t turns = 0; turns < layout.lanes; turns++) {
            vdouble source[3], rate[3] = {0, 0, 0};
            const vdouble mass = __shfl_sync(whfast_warp, p->mass[from],
                                             whfast_lane_of(layout) + turns, layout.lanes);
            whfast_turn(layout, p->x, from, turns, source);
            if (is_derivative)
                whfast_turn(layout, p->dx, from, turns, rate);
#pragma unroll
            for (int64_t k = 0; k < slots; k++) {
                vdouble d[3], change[3], field[3];
                if (turns == 0 && k == from)
                    continue;
#pragma unroll
                for (int32_t c = 0; c < 3; c++) {
                    d[c] = source[c] - p->x[c * slots + k];
                    change[c] = is_derivative ? rate[c] - p->dx[c * slots + k] : d[c];
                }
                const vdouble of_source = mass * whfast_weigh(is_derivative, d, change, field);
#pragma unroll
                for (int32_t c = 0; c < 3; c++)
                    p->pull[c * slots + k] = simd_fma(of_source, field[c], p->pull[c * slots + k]);
            }
        }
#pragma unroll
    for (int64_t k = 0; k < 3 * slots; k++)
        p->pull[k] *= p->g;
}

/* One without mass adds 0. */
SIMD_INLINE void whfast_pull(const struct whfast_planets *p, const struct whfast_layout layout,
                             const bool is_derivative)
{
    if (layout.slots == 1)
        whfast_pull_pairs(p, layout, is_derivative);
    else
        whfast_pull_all(p, layout, is_derivative);
}

#endif
