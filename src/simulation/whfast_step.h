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

/* Vectors of planets that drift together: each part of a drift is done for all before the next, so
 * that a processor sees several at a time in the instructions that it can reorder. */
enum { vectors_together = 8 };

SIMD_INLINE void drift_planets(struct whfast_planets *p, const struct whfast_layout layout,
                               double h)
{
    const int64_t slots = layout.slots;
    for (int64_t begin = 0; begin < slots; begin += vectors_together) {
        struct whfast_start start[vectors_together];
        struct whfast_functions at[vectors_together];
        const int64_t left = slots - begin;
        const int64_t count = left < vectors_together ? left : vectors_together;
        for (int64_t k = 0; k < count; k++) {
            vdouble q[3], v[3];
            load_three(p->q, slots, begin + k, q);
            load_three(p->v, slots, begin + k, v);
            start[k] = whfast_begin(p->mu[begin + k], simd_all(h), q, v);
        }
        for (int64_t k = 0; k < count; k++)
            at[k] = whfast_solve(&start[k].orbit, start[k].guess);
        for (int64_t k = 0; k < count; k++) {
            vdouble q[3], v[3], lost_q[3], lost_v[3];
            load_three(p->q, slots, begin + k, q);
            load_three(p->v, slots, begin + k, v);
            load_three(p->lost_q, slots, begin + k, lost_q);
            load_three(p->lost_v, slots, begin + k, lost_v);
            whfast_end(&start[k], &at[k], q, v, lost_q, lost_v);
            store_three(q, slots, begin + k, p->q);
            store_three(v, slots, begin + k, p->v);
            store_three(lost_q, slots, begin + k, p->lost_q);
            store_three(lost_v, slots, begin + k, p->lost_v);
        }
    }
}

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
        if (is_jacobi) {
            for (int64_t k = 0; k < slots; k++)
                p->terms[k] = p->share[k] * q[k];
            whfast_sums_before(layout, p->terms, x);
        }
        for (int64_t k = 0; k < slots; k++)
            x[k] = is_jacobi ? q[k] + x[k] : q[k];
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
        const vdouble own_weight = whfast_weigh(is_derivative, at, change, own);
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            at[c] = p->x[c * slots + k];
            change[c] = is_derivative ? p->dx[c * slots + k] : at[c];
        }
        const vdouble weight = whfast_weigh(is_derivative, at, change, of_star);
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
    if (layout.is_systems)
        whfast_pull_systems(p, slots, is_derivative);
    else
        whfast_pull_one(p, layout, is_derivative);
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
static __attribute__((noinline)) void drift_any(struct whfast_planets *p, double h)
{
    if (p->layout.is_systems)
        drift_planets(p, (struct whfast_layout){true, p->layout.slots}, h);
    else
        drift_planets(p, (struct whfast_layout){false, p->layout.slots}, h);
}

static __attribute__((noinline)) void interact_any(struct whfast_planets *p, double h)
{
    if (p->layout.is_systems)
        interact(p, (struct whfast_layout){true, p->layout.slots}, p->is_jacobi, h);
    else
        interact(p, (struct whfast_layout){false, p->layout.slots}, p->is_jacobi, h);
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

static __attribute__((noinline)) void interact_twice(struct whfast_planets *p, bool is_lazy,
                                                     double h)
{
    const int64_t slots = p->layout.slots;
    if (p->layout.is_systems)
        accelerate_twice(p, (struct whfast_layout){true, slots}, is_lazy, h * h / 12);
    else
        accelerate_twice(p, (struct whfast_layout){false, slots}, is_lazy, h * h / 12);
    kick_planets(p, p->layout, h);
}

/* The composition of Wisdom, Holman & Touma 1996 for the kernel, without its outer drifts. */
static void compose(struct whfast_planets *p, double h)
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

/* Steps between two first drifts. */
static void step_any(struct whfast_planets *p, enum whfast_kernel kernel, double h, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        if (kernel == whfast_composition)
            compose(p, h);
        else if (kernel == whfast_default)
            interact_any(p, h);
        else
            interact_twice(p, kernel == whfast_lazy, h);
        drift_any(p, h);
        drift_center(p, h);
    }
}

/* Of one or two vectors of planets, in registers but for what is loaded by lanes. */
enum { most_vectors = 2 };
SIMD_INLINE void step_vectors(struct whfast_planets *planets, const int64_t slots,
                              const bool is_jacobi, double h, int64_t steps)
{
    const struct whfast_layout layout = {false, slots};
    const size_t bytes = (size_t)(3 * slots) * sizeof(vdouble);
    vdouble q[3 * most_vectors], v[3 * most_vectors];
    vdouble lost_q[3 * most_vectors], lost_v[3 * most_vectors];
    vdouble x[3 * most_vectors], a[3 * most_vectors];
    vdouble pull[3 * most_vectors], terms[3 * most_vectors];
    struct whfast_planets here = *planets, *p = &here;
    memcpy(q, p->q, bytes);
    memcpy(v, p->v, bytes);
    memcpy(lost_q, p->lost_q, bytes);
    memcpy(lost_v, p->lost_v, bytes);
    p->q = q;
    p->v = v;
    p->lost_q = lost_q;
    p->lost_v = lost_v;
    p->x = x;
    p->a = a;
    p->pull = pull;
    p->terms = terms;
    for (int64_t step = 0; step < steps; step++) {
        interact(p, layout, is_jacobi, h);
        drift_planets(p, layout, h);
        drift_center(p, h);
    }
    memcpy(planets->q, q, bytes);
    memcpy(planets->v, v, bytes);
    memcpy(planets->lost_q, lost_q, bytes);
    memcpy(planets->lost_v, lost_v, bytes);
    memcpy(planets->center, p->center, sizeof p->center);
    memcpy(planets->lost_center, p->lost_center, sizeof p->lost_center);
}

static void step_jacobi(struct whfast_planets *p, double h, int64_t steps)
{
    if (p->layout.slots == 1)
        step_vectors(p, 1, true, h, steps);
    else
        step_vectors(p, 2, true, h, steps);
}

static void step_heliocentric(struct whfast_planets *p, double h, int64_t steps)
{
    if (p->layout.slots == 1)
        step_vectors(p, 1, false, h, steps);
    else
        step_vectors(p, 2, false, h, steps);
}

static void step_planets(struct whfast_planets *p, enum whfast_kernel kernel, double h,
                         int64_t steps)
{
    if (p->layout.is_systems || p->layout.slots > most_vectors || kernel != whfast_default)
        step_any(p, kernel, h, steps);
    else if (p->is_jacobi)
        step_jacobi(p, h, steps);
    else
        step_heliocentric(p, h, steps);
}

/* A(a) B(b) A(−2a) B(−b) A(a), which to first order in B is a multiple of sinh of A. */
static void correct_once(struct whfast_planets *p, double a, double b)
{
    drift_any(p, a);
    interact_any(p, b);
    drift_any(p, -2 * a);
    interact_any(p, -b);
    drift_any(p, a);
}

static void correct(struct whfast_planets *p, const struct whfast_corrector *corrector, double h)
{
    for (int32_t k = 0; k < corrector->pairs; k++) {
        const double a = h * whfast_corrector_time * (k + 1), b = h * corrector->b[k];
        correct_once(p, a, -b);
        correct_once(p, -a, b);
    }
}

static void correct_back(struct whfast_planets *p, const struct whfast_corrector *corrector,
                         double h)
{
    for (int32_t k = corrector->pairs - 1; k >= 0; k--) {
        const double a = h * whfast_corrector_time * (k + 1), b = h * corrector->b[k];
        correct_once(p, a, b);
        correct_once(p, -a, -b);
    }
}

#endif
