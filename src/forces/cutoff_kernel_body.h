/* Forces within a cutoff, for one real type. For a target the candidates that
 * are near enough are stored one after the other, with the arithmetic of cells/geometry.h, and then
 * summed, a pair a lane. */

#include "forces/shift_body.h"

/* What a pair has of its target. */
struct cutoff_target {
    VREAL weight, charge, softening2;
};

/* Sums of one target in the lanes of vectors. */
struct cutoff_sums {
    VREAL force[3], value, virial[9];
};

SIMD_INLINE VREAL cutoff_one(const void *column, long long slot, REAL otherwise)
{
    return simd_all(column ? ((const REAL *)column)[slot] : otherwise);
}

SIMD_INLINE VREAL cutoff_some(const void *column, const int *slot, REAL otherwise)
{
    OF_REAL(vindex) at;
    if (!column)
        return simd_all(otherwise);
    memcpy(&at, slot, sizeof at);
    return OF_REAL(lanes_at)((const REAL *)column, at);
}

/* The candidates begin … end − 1 within the cutoff of a place, stored from `count` on. */
SIMD_INLINE long long cutoff_find(const struct cutoff_candidates *candidates, const VREAL at[3],
                                  VREAL limit, int moved, long long begin, long long end,
                                  long long count)
{
    for (long long p = begin; p < end; p += REAL_LANES) {
        VREAL d[3];
        OF_REAL(vindex) slot;
        memcpy(&slot, candidates->slot + p, sizeof slot);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++) {
            d[c] = simd_load((const REAL *)candidates->position[c] + p) - at[c];
            if (moved)
                d[c] = d[c] + simd_load((const REAL *)candidates->translation[c] + p);
        }
        const VREAL r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        uint32_t mask = OF_REAL(lanes_below)(r2, limit);
        if (end - p < REAL_LANES)
            mask &= (1U << (end - p)) - 1;
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            OF_REAL(lanes_store_reals)((REAL *)candidates->d[c] + count, d[c], mask);
        OF_REAL(lanes_store_reals)((REAL *)candidates->r2 + count, r2, mask);
        OF_REAL(lanes_store_chosen)(candidates->found + count, slot, mask);
        count += __builtin_popcount(mask);
    }
    return count;
}

/* What completes the last vector: it is left out of the sums. */
SIMD_INLINE void cutoff_pad(const struct cutoff_candidates *candidates, VREAL limit,
                            long long count)
{
    for (int c = 0; c < 3; c++)
        simd_store((REAL *)candidates->d[c] + count, simd_all((REAL)0));
    simd_store((REAL *)candidates->r2 + count, limit);
    memset(candidates->found + count, 0, REAL_LANES * sizeof *candidates->found);
}

/* The first lanes, as many as there are pairs. */
SIMD_INLINE VMASK cutoff_first_lanes(long long count)
{
    VREAL number = simd_all((REAL)0);
    SIMD_UNROLL
    for (int lane = 0; lane < REAL_LANES; lane++)
        number[lane] = (REAL)lane;
    return number < simd_all((REAL)count);
}

SIMD_INLINE void cutoff_add(const struct cutoff_variant variant,
                            const struct cutoff_problem *problem,
                            const struct NAME(law_constants) * law,
                            const struct cutoff_candidates *candidates,
                            const struct cutoff_target *target, long long p, long long count,
                            struct cutoff_sums *sums)
{
    const struct law_form form = {variant.kind, variant.kind == law_constant
                                                    ? problem->weighting
                                                    : LAW_SUMS_WEIGHTING(variant.kind)};
    const int *slot = candidates->found + p;
    const VMASK counts = cutoff_first_lanes(count - p);
    const VREAL zero = simd_all((REAL)0);
    const VREAL r2 = simd_load((const REAL *)candidates->r2 + p);
    struct NAME(law_pair) pair = {.s2 = r2 + target->softening2};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        pair.d[c] = simd_load((const REAL *)candidates->d[c] + p);
    if (variant.everything && problem->source_half_softening2)
        pair.s2 = pair.s2 + cutoff_some(problem->source_half_softening2, slot, 0);
    if (form.weighting != law_unweighted || variant.kind == law_custom) {
        pair.w_i = target->weight;
        pair.w_j = cutoff_some(problem->source_weight, slot, 1);
    }
    if (variant.kind == law_custom) {
        pair.q_i = target->charge;
        pair.q_j = cutoff_some(problem->source_charge, slot, 1);
    }

    const int is_central = variant.kind != law_custom || problem->is_central;
    VREAL force[3] = {zero, zero, zero}, factor = zero, value = zero;
    if (variant.everything && !is_central) {
        NAME(law_force)(form, law, &pair, force);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            force[c] = law_select(counts, force[c], zero);
    } else {
        factor = NAME(law_factor)(form, law, &pair);
    }
    if (variant.everything)
        value = NAME(law_value)(form, law, &pair);
    if (variant.shifted) {
        VREAL less =
            simd_all((REAL)problem->slope_at_cutoff) * simd_unless_equal(r2, zero, simd_rsqrt(r2));
        if (form.weighting == law_product)
            less = less * pair.w_i * pair.w_j;
        factor = factor - simd_unless_equal(pair.s2, zero, less);
    }
    if (variant.everything && problem->shift != cutoff_shift_none)
        shift_pair(form, problem->shift, simd_all((REAL)problem->cutoff), law, &pair, r2, &factor,
                   &value);
    factor = law_select(counts, factor, zero);
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        if (!variant.everything) {
            sums->force[c] = simd_fma(factor, pair.d[c], sums->force[c]);
            continue;
        }
        if (is_central)
            force[c] = factor * pair.d[c];
        sums->force[c] = sums->force[c] + force[c];
    }
    if (!variant.everything)
        return;
    sums->value = sums->value + law_select(counts, value, zero);
    SIMD_UNROLL
    for (int k = 0; k < 9; k++)
        sums->virial[k] = simd_fma(pair.d[k / 3], force[k % 3], sums->virial[k]);
}

/* The lanes of a sum, in pairs. */
SIMD_INLINE double cutoff_sum_lanes(VREAL x)
{
    double lane[REAL_LANES];
    SIMD_UNROLL
    for (int k = 0; k < REAL_LANES; k++)
        lane[k] = (double)x[k];
    SIMD_UNROLL
    for (int half = REAL_LANES / 2; half > 0; half /= 2) {
        SIMD_UNROLL
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    }
    return lane[0];
}

/* The sums of a target, to those that it has. */
SIMD_INLINE void cutoff_store(const struct cutoff_variant variant,
                              const struct cutoff_problem *problem, long long slot,
                              const struct cutoff_sums *sums, double totals[cutoff_totals])
{
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        problem->force[c][slot] += cutoff_sum_lanes(sums->force[c]);
    if (!variant.everything || !problem->value)
        return;
    const REAL *weights = problem->total_weight;
    const double half = weights ? 0.5 * (double)weights[slot] : 0.5;
    const double value = cutoff_sum_lanes(sums->value);
    problem->value[slot] += value;
    totals[0] += half * value;
    for (int k = 0; k < 9; k++)
        totals[1 + k] -= half * cutoff_sum_lanes(sums->virial[k]);
}

SIMD_INLINE long long cutoff_find_others(const struct cutoff_problem *problem,
                                         const struct cutoff_candidates *candidates, int moved,
                                         long long slot)
{
    const VREAL limit = simd_all((REAL)problem->limit);
    VREAL at[3];
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        at[c] = cutoff_one(problem->target_position[c], slot, 0);
    const int is_there = slot >= candidates->self_begin && slot < candidates->self_end;
    const long long self =
        is_there ? candidates->self_at + slot - candidates->self_begin : candidates->count;
    long long count = cutoff_find(candidates, at, limit, moved, 0, self, 0);
    if (is_there)
        count = cutoff_find(candidates, at, limit, moved, self + 1, candidates->count, count);
    cutoff_pad(candidates, limit, count);
    return count;
}

/* The pairs of a target, stored, whatever the law: compiled once for all of them. */
static __attribute__((noinline)) long long
cutoff_pairs_of(const struct cutoff_problem *problem, const struct cutoff_candidates *candidates,
                long long slot)
{
    return candidates->moved ? cutoff_find_others(problem, candidates, 1, slot)
                             : cutoff_find_others(problem, candidates, 0, slot);
}

SIMD_INLINE void cutoff_sum(const struct cutoff_variant variant,
                            const struct cutoff_problem *problem,
                            const struct cutoff_candidates *candidates, long long begin,
                            long long end, double totals[cutoff_totals])
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    for (long long slot = begin; slot < end; slot++) {
        const struct cutoff_target target = {
            cutoff_one(problem->target_weight, slot, 1),
            cutoff_one(problem->target_charge, slot, 1),
            simd_all((REAL)problem->softening2) +
                cutoff_one(problem->target_half_softening2, slot, 0)};
        struct cutoff_sums sums = {0};
        const long long count = cutoff_pairs_of(problem, candidates, slot);
        for (long long p = 0; p < count; p += REAL_LANES)
            cutoff_add(variant, problem, &law, candidates, &target, p, count, &sums);
        cutoff_store(variant, problem, slot, &sums, totals);
    }
}

#define DEFINE_VARIANT(name, kind, everything, shifted)                                            \
    static __attribute__((noinline)) void name(                                                    \
        const struct cutoff_problem *problem, const struct cutoff_candidates *candidates,          \
        long long begin, long long end, double totals[cutoff_totals])                              \
    {                                                                                              \
        const struct cutoff_variant variant = {kind, everything, shifted};                         \
        cutoff_sum(variant, problem, candidates, begin, end, totals);                              \
    }
/* The force alone goes without what is rare. */
#define DEFINE_KERNEL(name, kind)                                                                  \
    DEFINE_VARIANT(name##_force, kind, 0, 0)                                                       \
    DEFINE_VARIANT(name##_shifted, kind, 0, (kind) != law_custom)                                  \
    DEFINE_VARIANT(name##_everything, kind, 1, 0)                                                  \
    static void name(const struct cutoff_problem *problem,                                         \
                     const struct cutoff_candidates *candidates, long long begin, long long end,   \
                     double totals[cutoff_totals])                                                 \
    {                                                                                              \
        const int is_shifted = problem->shift == cutoff_shift_force;                               \
        if (problem->value || !problem->is_central || problem->source_half_softening2 ||           \
            (is_shifted && (kind) == law_custom))                                                  \
            name##_everything(problem, candidates, begin, end, totals);                            \
        else if (is_shifted)                                                                       \
            name##_shifted(problem, candidates, begin, end, totals);                               \
        else                                                                                       \
            name##_force(problem, candidates, begin, end, totals);                                 \
    }

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) cutoff_kernel OF_REAL(cutoff_custom);
DEFINE_KERNEL(any_custom, law_custom)
void OF_REAL(cutoff_custom)(const struct cutoff_problem *problem,
                            const struct cutoff_candidates *candidates, long long begin,
                            long long end, double totals[cutoff_totals])
{
    any_custom(problem, candidates, begin, end, totals);
}
#else
#define DEFINE(kind) DEFINE_KERNEL(cutoff_##kind, law_##kind)
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#endif
#undef DEFINE_VARIANT
#undef DEFINE_KERNEL
