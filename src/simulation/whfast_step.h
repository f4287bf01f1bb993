#ifndef SIMULATION_WHFAST_STEP_H
#define SIMULATION_WHFAST_STEP_H

/* Steps of whfast in the planets' coordinates: drifts A, kicks B, kernels and correctors
 * (simulation/whfast.h). Included by whfast_kernel.c for each instruction set. */

#include "simulation/whfast_planets.h"

SIMD_INLINE void load_three(const vdouble *vectors, int64_t slots, int64_t k, vdouble to[3])
{
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++)
        to[c] = vectors[c * slots + k];
}

SIMD_INLINE void store_three(const vdouble from[3], int64_t slots, int64_t k, vdouble *vectors)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++)
        vectors[c * slots + k] = from[c];
}

#if SIMD_IS_SCALAR
/* Planets of a thread that drift together, so that their instructions do not wait. */
enum { vectors_together = 2 };

/* A for a time h of the planets from begin on, from these positions and velocities. */
SIMD_INLINE void drift_some(struct whfast_planets *p, const struct whfast_layout layout,
                            int64_t begin, vdouble (*from_q)[3], vdouble (*from_v)[3], double h)
{
    const int64_t slots = layout.slots;
    struct whfast_gauss gauss[vectors_together];
    vint64 is_found[vectors_together], all = -1;
    SIMD_UNROLL
    for (int64_t k = 0; k < vectors_together && begin + k < slots; k++) {
        gauss[k] = whfast_try(p->mu[begin + k], h, from_q[k], from_v[k], &is_found[k]);
        all &= is_found[k];
    }
    if (__builtin_expect(all == 0, 0)) {
        SIMD_UNROLL
        for (int64_t k = 0; k < vectors_together && begin + k < slots; k++)
            if (!is_found[k])
                gauss[k] = whfast_drift_rest(p->mu[begin + k], h, from_q[k], from_v[k]);
    }
    SIMD_UNROLL
    for (int64_t k = 0; k < vectors_together && begin + k < slots; k++) {
        vdouble q[3], v[3], lost_q[3], lost_v[3];
        load_three(p->q, slots, begin + k, q);
        load_three(p->v, slots, begin + k, v);
        load_three(p->lost_q, slots, begin + k, lost_q);
        load_three(p->lost_v, slots, begin + k, lost_v);
        whfast_move(&gauss[k], from_q[k], from_v[k], q, v, lost_q, lost_v);
        store_three(q, slots, begin + k, p->q);
        store_three(v, slots, begin + k, p->v);
        store_three(lost_q, slots, begin + k, p->lost_q);
        store_three(lost_v, slots, begin + k, p->lost_v);
    }
}

SIMD_INLINE void drift_planets(struct whfast_planets *p, const struct whfast_layout layout,
                               double h)
{
    const int64_t slots = layout.slots;
    SIMD_UNROLL
    for (int64_t begin = 0; begin < slots; begin += vectors_together) {
        vdouble from_q[vectors_together][3], from_v[vectors_together][3];
        SIMD_UNROLL
        for (int64_t k = 0; k < vectors_together && begin + k < slots; k++) {
            load_three(p->q, slots, begin + k, from_q[k]);
            load_three(p->v, slots, begin + k, from_v[k]);
        }
        drift_some(p, layout, begin, from_q, from_v, h);
    }
}

/* The star's jump by way[c] and A for a time h, after a kick that is in lost_v: their changes are
 * added to q and v at once. */
SIMD_INLINE void jump_and_drift(struct whfast_planets *p, const struct whfast_layout layout,
                                const bool is_jacobi, const vdouble way[3], double h)
{
    const int64_t slots = layout.slots;
    SIMD_UNROLL
    for (int64_t begin = 0; begin < slots; begin += vectors_together) {
        vdouble from_q[vectors_together][3], from_v[vectors_together][3];
        SIMD_UNROLL
        for (int64_t k = 0; k < vectors_together && begin + k < slots; k++)
            SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            const int64_t i = c * slots + begin + k;
            if (!is_jacobi)
                p->lost_q[i] = simd_fma(way[c], p->kick[begin + k], p->lost_q[i]);
            from_q[k][c] = is_jacobi ? p->q[i] : p->q[i] + p->lost_q[i];
            from_v[k][c] = p->v[i] + p->lost_v[i];
        }
        drift_some(p, layout, begin, from_q, from_v, h);
    }
}
#else
/* What is added at the start of a drift: a kick by p->a for its time, and a jump by way[c]. */
struct whfast_push {
    bool has_kick, has_jump;
    vdouble way[3];
};

/* Loads a planet with what is to be added to it: q and v, what is lost of them, and their sums. */
SIMD_INLINE void load_pushed(const struct whfast_planets *p, int64_t slots, int64_t k,
                             const struct whfast_push *push, vdouble q[3], vdouble v[3],
                             vdouble lost_q[3], vdouble lost_v[3], vdouble from_q[3],
                             vdouble from_v[3])
{
    load_three(p->q, slots, k, q);
    load_three(p->v, slots, k, v);
    load_three(p->lost_q, slots, k, lost_q);
    load_three(p->lost_v, slots, k, lost_v);
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        from_q[c] = push->has_jump ? q[c] + lost_q[c] : q[c];
        from_v[c] = push->has_kick ? v[c] + lost_v[c] : v[c];
    }
}

/* A for a time h after a push, whose changes are added to q and v at once. */
SIMD_INLINE void drift_pushed(struct whfast_planets *p, const struct whfast_layout layout,
                              const struct whfast_push *push, double h)
{
    const int64_t slots = layout.slots;
    for (int64_t begin = 0; begin < slots; begin += whfast_together) {
        struct whfast_start start[whfast_together];
        struct whfast_functions at[whfast_together];
        vdouble q[3], v[3], lost_q[3], lost_v[3], from_q[3], from_v[3];
        const int64_t left = slots - begin;
        const int64_t count = left < whfast_together ? left : whfast_together;
        for (int64_t k = 0; k < count; k++) {
            SIMD_UNROLL
            for (int32_t c = 0; c < 3; c++) {
                const int64_t i = c * slots + begin + k;
                if (push->has_kick)
                    p->lost_v[i] = simd_fma(simd_all(h), p->a[i], p->lost_v[i]);
                if (push->has_jump)
                    p->lost_q[i] = simd_fma(push->way[c], p->kick[begin + k], p->lost_q[i]);
            }
            load_pushed(p, slots, begin + k, push, q, v, lost_q, lost_v, from_q, from_v);
            start[k] = whfast_begin(p->mu[begin + k], simd_all(h), from_q, from_v);
        }
        whfast_solve_some(start, count, at);
        for (int64_t k = 0; k < count; k++) {
            load_pushed(p, slots, begin + k, push, q, v, lost_q, lost_v, from_q, from_v);
            whfast_move(&start[k], &at[k], from_q, from_v, q, v, lost_q, lost_v);
            store_three(q, slots, begin + k, p->q);
            store_three(v, slots, begin + k, p->v);
            store_three(lost_q, slots, begin + k, p->lost_q);
            store_three(lost_v, slots, begin + k, p->lost_v);
        }
    }
}

SIMD_INLINE void drift_planets(struct whfast_planets *p, const struct whfast_layout layout,
                               double h)
{
    const struct whfast_push none = {.has_kick = false};
    drift_pushed(p, layout, &none, h);
}

/* The kick by p->a, the star's jump by way[c], and A for a time h. */
SIMD_INLINE void kick_and_drift(struct whfast_planets *p, const struct whfast_layout layout,
                                const bool is_jacobi, const vdouble way[3], double h)
{
    const struct whfast_push push = {true, !is_jacobi, {way[0], way[1], way[2]}};
    drift_pushed(p, layout, &push, h);
}
#endif

SIMD_INLINE void drift_center(struct whfast_planets *p, double h)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        const vdouble way = simd_fma(p->center_velocity[c], simd_all(h), p->lost_center[c]);
        p->center[c] = whfast_add(p->center[c], way, &p->lost_center[c]);
    }
}

/* to = from relative to the star, of vectors in the planets' coordinates. */
SIMD_INLINE void place_planets(const struct whfast_planets *p, const struct whfast_layout layout,
                               const bool is_jacobi, const vdouble *from, vdouble *to)
{
    const int64_t slots = layout.slots;
    for (int32_t c = 0; c < 3; c++) {
        const vdouble *q = from + c * slots;
        vdouble *x = to + c * slots;
        if (is_jacobi)
            whfast_place(layout, p->share, q, x);
        for (int64_t k = 0; !is_jacobi && k < slots; k++)
            x[k] = q[k];
    }
}

/* terms = m (G m_0 x / |x|³ − pull), or its derivative, and a = the same without the sums. */
SIMD_INLINE void pull_of_star(const struct whfast_planets *p, const struct whfast_layout layout,
                              const bool is_derivative, const vdouble *q, const vdouble *dq)
{
    const int64_t slots = layout.slots;
    for (int64_t k = 0; k < slots; k++) {
        vdouble at[3], change[3], own[3], of_star[3];
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            at[c] = q[c * slots + k];
            change[c] = is_derivative ? dq[c * slots + k] : at[c];
        }
        const vdouble own_weight = whfast_weigh(is_derivative, S2_FLOOR_DOUBLE, at, change, own);
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            at[c] = p->x[c * slots + k];
            change[c] = is_derivative ? p->dx[c * slots + k] : at[c];
        }
        const vdouble weight = whfast_weigh(is_derivative, S2_FLOOR_DOUBLE, at, change, of_star);
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            const vdouble pull = p->pull[c * slots + k], star = weight * of_star[c];
            p->terms[c * slots + k] = p->mass[k] * simd_fma(p->star_gm, star, -pull);
            p->a[c * slots + k] = simd_fma(
                p->mu[k], simd_fma(-p->ratio[k], star, own_weight * own[c]), p->kick[k] * pull);
        }
    }
}

/* a = accelerations of B at q, or their derivative along dq.
 *
 * In Jacobi coordinates that of planet i, with x relative to the star and P_i the pull of the other
 * planets, is
 *
 *     G η_i (q_i / |q_i|³ − (m_0/η_{i−1}) x_i / |x_i|³) + (η_i/η_{i−1}) P_i
 *       − (1/η_{i−1}) Σ_{k>i} m_k (G m_0 x_k / |x_k|³ − P_k),
 *
 * which is 0 to the last bit for a lone planet. */
SIMD_INLINE void accelerate(struct whfast_planets *p, const struct whfast_layout layout,
                            const bool is_jacobi, const bool is_derivative, const vdouble *q,
                            const vdouble *dq)
{
    const int64_t slots = layout.slots;
    place_planets(p, layout, is_jacobi, q, p->x);
    if (is_derivative)
        place_planets(p, layout, is_jacobi, dq, p->dx);
    whfast_pull(p, layout, is_derivative);
    if (!is_jacobi) {
        for (int32_t c = 0; c < 3; c++)
            for (int64_t k = 0; k < slots; k++)
                p->a[c * slots + k] = p->kick[k] * p->pull[c * slots + k];
        return;
    }
    pull_of_star(p, layout, is_derivative, q, dq);
    for (int32_t c = 0; c < 3; c++) {
        whfast_sums_after(layout, p->terms + c * slots, p->x + c * slots);
        for (int64_t k = 0; k < slots; k++)
            p->a[c * slots + k] =
                simd_fma(-p->inverse[k], p->x[c * slots + k], p->a[c * slots + k]);
    }
}

/* v += h a */
SIMD_INLINE void kick_planets(struct whfast_planets *p, const struct whfast_layout layout, double h)
{
    for (int64_t k = 0; k < 3 * layout.slots; k++) {
        const vdouble change = simd_fma(simd_all(h), p->a[k], p->lost_v[k]);
        p->v[k] = whfast_add(p->v[k], change, &p->lost_v[k]);
    }
}

/* The star moves with the planets' momentum: q += h Σ_j (m_j / m_0) v_j. */
SIMD_INLINE void jump_planets(struct whfast_planets *p, const struct whfast_layout layout,
                              const vdouble speed[3], double h)
{
    const int64_t slots = layout.slots;
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        const vdouble way = simd_all(h) * speed[c];
        for (int64_t k = 0; k < slots; k++) {
            vdouble *q = &p->q[c * slots + k], *lost = &p->lost_q[c * slots + k];
            *q = whfast_add(*q, simd_fma(way, p->kick[k], *lost), lost);
        }
    }
}

/* B for a time h. Kicks do not change the planets' momentum, and the jump, which is the same for
 * all, does not change their pull: the two are independent of each other. */
SIMD_INLINE void interact(struct whfast_planets *p, const struct whfast_layout layout,
                          const bool is_jacobi, double h)
{
    accelerate(p, layout, is_jacobi, false, p->q, p->q);
    if (!is_jacobi) {
        vdouble speed[3];
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            speed[c] = whfast_sum(layout, p->jump, p->v + c * layout.slots);
        jump_planets(p, layout, speed, h);
    }
    kick_planets(p, layout, h);
}

/* The same, of any size and coordinates. */
SIMD_OUTLINE void drift_any(struct whfast_planets *p, double h)
{
    if (p->layout.is_systems)
        drift_planets(p, whfast_layout_as(p->layout, true), h);
    else
        drift_planets(p, whfast_layout_as(p->layout, false), h);
}

SIMD_OUTLINE void interact_any(struct whfast_planets *p, double h)
{
    if (p->layout.is_systems)
        interact(p, whfast_layout_as(p->layout, true), p->is_jacobi, h);
    else
        interact(p, whfast_layout_as(p->layout, false), p->is_jacobi, h);
}

/* a = accelerations at a(q) instead of q, with the derivative of them times weight added (lazy: by
 * a shift of q). Of Jacobi coordinates alone, as are correctors. */
SIMD_INLINE void accelerate_twice(struct whfast_planets *p, const struct whfast_layout layout,
                                  bool is_lazy, double weight)
{
    const int64_t numbers = 3 * layout.slots;
    vdouble *shifted = p->saved, *first = p->saved + numbers;
    accelerate(p, layout, true, false, p->q, p->q);
    for (int64_t k = 0; k < numbers; k++) {
        first[k] = p->a[k];
        shifted[k] = simd_fma(simd_all(weight), first[k], p->q[k]);
    }
    if (is_lazy) {
        accelerate(p, layout, true, false, shifted, shifted);
        return;
    }
    accelerate(p, layout, true, true, p->q, first);
    for (int64_t k = 0; k < numbers; k++)
        p->a[k] = simd_fma(simd_all(weight), p->a[k], first[k]);
}

/* The composition of Wisdom, Holman & Touma 1996 for the kernel, without its outer drifts. */
SIMD_OUTLINE void compose(struct whfast_planets *p, double h)
{
    interact_any(p, -h / 6);
    drift_any(p, -h / 4);
    interact_any(p, h / 6);
    drift_any(p, h / 8);
    interact_any(p, h);
    drift_any(p, -h / 8);
    interact_any(p, -h / 6);
    drift_any(p, h / 4);
    interact_any(p, h / 6);
}

/* a = accelerations of a kick for a time h. */
SIMD_INLINE void accelerate_as(struct whfast_planets *p, const struct whfast_layout layout,
                               const enum whfast_kernel kernel, const bool is_jacobi, double h)
{
    if (kernel == whfast_default)
        accelerate(p, layout, is_jacobi, false, p->q, p->q);
    else
        accelerate_twice(p, layout, kernel == whfast_lazy, h * h / 12);
}

#if SIMD_IS_SCALAR
/* Adds a kick for a time h to what is lost of velocities. */
SIMD_INLINE void add_kick(struct whfast_planets *p, const struct whfast_layout layout,
                          const enum whfast_kernel kernel, const bool is_jacobi, double h)
{
    const int64_t numbers = 3 * layout.slots;
#if defined(__CUDACC__)
    if (!is_jacobi) {
        whfast_add_pull(p, layout, p->q, NULL, h, p->lost_v);
        if (p->planets < layout.slots * layout.lanes) {
            SIMD_UNROLL
            for (int64_t k = 0; k < numbers; k++)
                p->lost_v[k] = p->kick[k % layout.slots] > 0 ? p->lost_v[k] : 0;
        }
        return;
    }
#endif
    accelerate_as(p, layout, kernel, is_jacobi, h);
    SIMD_UNROLL
    for (int64_t k = 0; k < numbers; k++)
        p->lost_v[k] = simd_fma(h, p->a[k], p->lost_v[k]);
}
#endif

/* B and A for a time h. */
SIMD_INLINE void step_at_once(struct whfast_planets *p, const struct whfast_layout layout,
                              const enum whfast_kernel kernel, const bool is_jacobi, double h)
{
    vdouble way[3] = {simd_all(0.0), simd_all(0.0), simd_all(0.0)};
#if SIMD_IS_SCALAR
    add_kick(p, layout, kernel, is_jacobi, h);
#else
    accelerate_as(p, layout, kernel, is_jacobi, h);
#endif
    SIMD_UNROLL
    for (int32_t c = 0; !is_jacobi && c < 3; c++)
        way[c] = simd_all(h) * whfast_sum(layout, p->jump, p->v + c * layout.slots);
#if SIMD_IS_SCALAR
    jump_and_drift(p, layout, is_jacobi, way, h);
#else
    kick_and_drift(p, layout, is_jacobi, way, h);
#endif
}

#if !SIMD_IS_SCALAR
/* The same, of any size and coordinates. */
SIMD_OUTLINE void step_at_once_any(struct whfast_planets *p, enum whfast_kernel kernel, double h)
{
    if (p->layout.is_systems)
        step_at_once(p, whfast_layout_as(p->layout, true), kernel, p->is_jacobi, h);
    else
        step_at_once(p, whfast_layout_as(p->layout, false), kernel, p->is_jacobi, h);
}
#endif

/* Steps between two first drifts. */
SIMD_OUTLINE void step_any(struct whfast_planets *p, enum whfast_kernel kernel, double h,
                           int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        if (kernel == whfast_composition) {
            compose(p, h);
            drift_any(p, h);
        } else {
#if SIMD_IS_SCALAR
            step_at_once(p, p->layout, kernel, p->is_jacobi, h);
#else
            step_at_once_any(p, kernel, h);
#endif
        }
        drift_center(p, h);
    }
}

#endif
