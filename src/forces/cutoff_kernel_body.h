/* Forces within a cutoff, for one precision (law/for_each_real.h). For a target the candidates that
 * are near enough are stored one after the other, with the arithmetic of cells/geometry.h, and then
 * summed, a pair a lane. */

enum { NAME(lanes) = SIMD_BYTES / sizeof(REAL) };

#include "forces/shift_body.h"

/* What a pair has of its target. */
struct NAME(cutoff_target) {
    VREAL weight, charge, softening2;
};

/* Sums of one target in the lanes of vectors. */
struct NAME(cutoff_sums) {
    VREAL force[3], value, virial[9];
};

SIMD_INLINE VREAL NAME(cutoff_one)(const void *column, long long slot, REAL otherwise)
{
    return simd_all(column ? ((const REAL *)column)[slot] : otherwise);
}

SIMD_INLINE VREAL NAME(cutoff_some)(const void *column, const int *slot, REAL otherwise)
{
    NAME(vindex) at;
    if (!column)
        return simd_all(otherwise);
    memcpy(&at, slot, sizeof at);
    return NAME(lanes_at)((const REAL *)column, at);
}

/* The candidates begin … end − 1 within the cutoff of a place, stored from `count` on. */
SIMD_INLINE long long NAME(cutoff_find)(const struct cutoff_candidates *candidates,
                                        const VREAL at[3], VREAL limit, int moved, long long begin,
                                        long long end, long long count)
{
    for (long long p = begin; p < end; p += NAME(lanes)) {
        VREAL d[3];
        NAME(vindex) slot;
        memcpy(&slot, candidates->slot + p, sizeof slot);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++) {
            d[c] = simd_load((const REAL *)candidates->position[c] + p) - at[c];
            if (moved)
                d[c] = d[c] + simd_load((const REAL *)candidates->translation[c] + p);
        }
        const VREAL r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        uint32_t mask = NAME(lanes_below)(r2, limit);
        if (end - p < NAME(lanes))
            mask &= (1U << (end - p)) - 1;
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            NAME(lanes_store_reals)((REAL *)candidates->d[c] + count, d[c], mask);
        NAME(lanes_store_reals)((REAL *)candidates->r2 + count, r2, mask);
        NAME(lanes_store_chosen)(candidates->found + count, slot, mask);
        count += __builtin_popcount(mask);
    }
    return count;
}

/* What completes the last vector: it is left out of the sums. */
SIMD_INLINE void NAME(cutoff_pad)(const struct cutoff_candidates *candidates, VREAL limit,
                                  long long count)
{
    for (int c = 0; c < 3; c++)
        simd_store((REAL *)candidates->d[c] + count, simd_all((REAL)0));
    simd_store((REAL *)candidates->r2 + count, limit);
    memset(candidates->found + count, 0, NAME(lanes) * sizeof *candidates->found);
}

/* The first lanes, as many as there are pairs. */
SIMD_INLINE VMASK NAME(cutoff_first_lanes)(long long count)
{
    VREAL number = simd_all((REAL)0);
    SIMD_UNROLL
    for (int lane = 0; lane < NAME(lanes); lane++)
        number[lane] = (REAL)lane;
    return number < simd_all((REAL)count);
}

SIMD_INLINE void NAME(cutoff_add)(const struct cutoff_variant variant,
                                  const struct cutoff_problem *problem,
                                  const struct NAME(law_constants) * law,
                                  const struct cutoff_candidates *candidates,
                                  const struct NAME(cutoff_target) * target, long long p,
                                  long long count, struct NAME(cutoff_sums) * sums)
{
    const struct law_form form = {variant.kind, variant.kind == law_constant
                                                    ? problem->weighting
                                                    : LAW_SUMS_WEIGHTING(variant.kind)};
    const int *slot = candidates->found + p;
    const VMASK counts = NAME(cutoff_first_lanes)(count - p);
    const VREAL zero = simd_all((REAL)0);
    const VREAL r2 = simd_load((const REAL *)candidates->r2 + p);
    struct NAME(law_pair) pair = {.s2 = r2 + target->softening2};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        pair.d[c] = simd_load((const REAL *)candidates->d[c] + p);
    if (variant.everything && problem->source_half_softening2)
        pair.s2 = pair.s2 + NAME(cutoff_some)(problem->source_half_softening2, slot, 0);
    if (form.weighting != law_unweighted || variant.kind == law_custom) {
        pair.w_i = target->weight;
        pair.w_j = NAME(cutoff_some)(problem->source_weight, slot, 1);
    }
    if (variant.kind == law_custom) {
        pair.q_i = target->charge;
        pair.q_j = NAME(cutoff_some)(problem->source_charge, slot, 1);
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
        NAME(shift_pair)
    (form, problem->shift, simd_all((REAL)problem->cutoff), law, &pair, r2, &factor, &value);
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
SIMD_INLINE double NAME(cutoff_sum_lanes)(VREAL x)
{
    double lane[NAME(lanes)];
    SIMD_UNROLL
    for (int k = 0; k < NAME(lanes); k++)
        lane[k] = (double)x[k];
    SIMD_UNROLL
    for (int half = NAME(lanes) / 2; half > 0; half /= 2) {
        SIMD_UNROLL
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    }
    return lane[0];
}

/* The sums of a target, to those that it has. */
SIMD_INLINE void NAME(cutoff_store)(const struct cutoff_variant variant,
                                    const struct cutoff_problem *problem, long long slot,
                                    const struct NAME(cutoff_sums) * sums,
                                    double totals[cutoff_totals])
{
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        problem->force[c][slot] += NAME(cutoff_sum_lanes)(sums->force[c]);
    if (!variant.everything || !problem->value)
        return;
    const REAL *weights = problem->total_weight;
    const double half = weights ? 0.5 * (double)weights[slot] : 0.5;
    const double value = NAME(cutoff_sum_lanes)(sums->value);
    problem->value[slot] += value;
    totals[0] += half * value;
    for (int k = 0; k < 9; k++)
        totals[1 + k] -= half * NAME(cutoff_sum_lanes)(sums->virial[k]);
}

SIMD_INLINE long long NAME(cutoff_find_others)(const struct cutoff_problem *problem,
                                               const struct cutoff_candidates *candidates,
                                               int moved, long long slot)
{
    const VREAL limit = simd_all((REAL)problem->limit);
    VREAL at[3];
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        at[c] = NAME(cutoff_one)(problem->target_position[c], slot, 0);
    const int is_there = slot >= candidates->self_begin && slot < candidates->self_end;
    const long long self =
        is_there ? candidates->self_at + slot - candidates->self_begin : candidates->count;
    long long count = NAME(cutoff_find)(candidates, at, limit, moved, 0, self, 0);
    if (is_there)
        count = NAME(cutoff_find)(candidates, at, limit, moved, self + 1, candidates->count, count);
    NAME(cutoff_pad)(candidates, limit, count);
    return count;
}

/* The pairs of a target, stored, whatever the law: compiled once for all of them. */
static __attribute__((noinline)) long long
NAME(cutoff_pairs_of)(const struct cutoff_problem *problem,
                      const struct cutoff_candidates *candidates, long long slot)
{
    return candidates->moved ? NAME(cutoff_find_others)(problem, candidates, 1, slot)
                             : NAME(cutoff_find_others)(problem, candidates, 0, slot);
}

SIMD_INLINE void NAME(cutoff_sum)(const struct cutoff_variant variant,
                                  const struct cutoff_problem *problem,
                                  const struct cutoff_candidates *candidates, long long begin,
                                  long long end, double totals[cutoff_totals])
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    for (long long slot = begin; slot < end; slot++) {
        const struct NAME(cutoff_target)
            target = {NAME(cutoff_one)(problem->target_weight, slot, 1),
                      NAME(cutoff_one)(problem->target_charge, slot, 1),
                      simd_all((REAL)problem->softening2) +
                          NAME(cutoff_one)(problem->target_half_softening2, slot, 0)};
        struct NAME(cutoff_sums) sums = {0};
        const long long count = NAME(cutoff_pairs_of)(problem, candidates, slot);
        for (long long p = 0; p < count; p += NAME(lanes))
            NAME(cutoff_add)(variant, problem, &law, candidates, &target, p, count, &sums);
        NAME(cutoff_store)(variant, problem, slot, &sums, totals);
    }
}

#define DEFINE_VARIANT(name, kind, everything, shifted)                                            \
    static __attribute__((noinline)) void NAME(name)(                                              \
        const struct cutoff_problem *problem, const struct cutoff_candidates *candidates,          \
        long long begin, long long end, double totals[cutoff_totals])                              \
    {                                                                                              \
        const struct cutoff_variant variant = {kind, everything, shifted};                         \
        NAME(cutoff_sum)(variant, problem, candidates, begin, end, totals);                        \
    }
/* The force alone goes without what is rare. */
#define DEFINE_KERNEL(linkage, name, kind)                                                         \
    DEFINE_VARIANT(name##_force, kind, 0, 0)                                                       \
    DEFINE_VARIANT(name##_shifted, kind, 0, (kind) != law_custom)                                  \
    DEFINE_VARIANT(name##_everything, kind, 1, 0)                                                  \
    linkage void NAME(name)(const struct cutoff_problem *problem,                                  \
                            const struct cutoff_candidates *candidates, long long begin,           \
                            long long end, double totals[cutoff_totals])                           \
    {                                                                                              \
        const int is_shifted = problem->shift == cutoff_shift_force;                               \
        if (problem->value || !problem->is_central || problem->source_half_softening2 ||           \
            (is_shifted && (kind) == law_custom))                                                  \
            NAME(name##_everything)(problem, candidates, begin, end, totals);                      \
        else if (is_shifted)                                                                       \
            NAME(name##_shifted)(problem, candidates, begin, end, totals);                         \
        else                                                                                       \
            NAME(name##_force)(problem, candidates, begin, end, totals);                           \
    }

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) cutoff_kernel NAME(cutoff_custom);
DEFINE_KERNEL(, cutoff_custom, law_custom)
#else
#define DEFINE(kind) DEFINE_KERNEL(static, cutoff_##kind, law_##kind)
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#endif
#undef DEFINE_VARIANT
#undef DEFINE_KERNEL
