/* Laws in the symmetric loop, for one precision (law/real_law.h): of laws whose V(i, j) is
 * V(j, i), so that F_ji is −F_ij.
 *
 *     field += F_ij, potential += V(i, j) */

#include "law/law_parts_body.h"

struct constants {
    struct NAME(law_constants) law;
    REAL softening2;
};

/* The sums of a source over the targets in its lane, or of a vector of targets. */
struct lane_sums {
    VREAL field[3], potential;
};

/* A vector of targets, or a source in all lanes. The outer parts are the targets'
 * (law_parts_body.h).
 */
struct bodies {
    VREAL x[3], weight, charge, softening2, outer_factor, outer_value;
};

SIMD_INLINE VREAL elements(const void *column, int64_t i, REAL otherwise)
{
    return column ? simd_load((const REAL *)column + i) : simd_all(otherwise);
}

SIMD_INLINE VREAL element(const void *column, int64_t j, REAL otherwise)
{
    return simd_all(column ? ((const REAL *)column)[j] : otherwise);
}

/* Whether what a pair is multiplied by depends on the targets. */
SIMD_INLINE bool has_outer(const struct variant variant)
{
    return variant.form.kind == law_custom || variant.form.weighting == law_product;
}

SIMD_INLINE struct bodies load_targets(const struct variant variant,
                                       const struct constants *constants,
                                       const struct symmetric_bodies *targets, int64_t i)
{
    struct bodies loaded = {0};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        loaded.x[c] = elements(targets->position[c], i, 0);
    loaded.weight = elements(targets->weight, i, 1);
    if (variant.form.kind == law_custom)
        loaded.charge = elements(targets->charge, i, 1);
    if (variant.careful)
        loaded.softening2 = elements(targets->half_softening2, i, 0);
    const struct NAME(law_pair) target = {.w_i = loaded.weight, .q_i = loaded.charge};
    if (variant.central)
        loaded.outer_factor = NAME(law_outer_of_factor)(variant.form, &constants->law, &target);
    loaded.outer_value = NAME(law_outer_of_value)(variant.form, &constants->law, &target);
    return loaded;
}

SIMD_INLINE struct bodies load_source(const struct variant variant,
                                      const struct constants *constants,
                                      const struct symmetric_bodies *sources, int64_t j)
{
    struct bodies loaded = {0};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        loaded.x[c] = element(sources->position[c], j, 0);
    if (variant.form.weighting != law_unweighted || variant.form.kind == law_custom)
        loaded.weight = element(sources->weight, j, 1);
    if (variant.form.kind == law_custom)
        loaded.charge = element(sources->charge, j, 1);
    loaded.softening2 = simd_all(constants->softening2);
    if (variant.careful)
        loaded.softening2 += element(sources->half_softening2, j, 0);
    return loaded;
}

/* The force on the targets and the value of the pairs of a source with them. */
SIMD_INLINE void evaluate(const struct variant variant, const struct constants *constants,
                          const struct NAME(law_pair) * pair, const struct bodies *targets,
                          VREAL force[3], VREAL *value)
{
    const struct NAME(law_constants) *law = &constants->law;
    VREAL factor = {0};
    if (variant.fields && !variant.central)
        NAME(law_force)(variant.form, law, pair, force);
    if (variant.fields && variant.central) {
        factor = NAME(law_inner_factor)(variant.form, law, pair);
        if (variant.careful)
            factor = simd_unless_equal(pair->s2, simd_all((REAL)0), factor);
    }
    if (variant.potential) {
        *value = variant.fields && variant.central
                     ? NAME(law_inner_value_of)(variant.form, law, pair, factor)
                     : NAME(law_inner_value)(variant.form, law, pair);
        if (has_outer(variant))
            *value *= targets->outer_value;
    }
    if (variant.fields && variant.central) {
        if (has_outer(variant))
            factor *= targets->outer_factor;
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            force[c] = factor * pair->d[c];
    }
}

/* Adds the pairs of a source with a vector of targets to the sums of both. */
SIMD_INLINE void add_pairs(const struct variant variant, const struct constants *constants,
                           const struct bodies *source, const struct bodies *targets,
                           struct lane_sums *of_targets, struct lane_sums *of_source)
{
    struct NAME(law_pair) pair = {.s2 = source->softening2, .w_i = simd_all((REAL)1)};
    if (variant.careful)
        pair.s2 += targets->softening2;
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        pair.d[c] = source->x[c] - targets->x[c];
        pair.s2 = simd_fma(pair.d[c], pair.d[c], pair.s2);
    }
    if (variant.form.weighting == law_sum || variant.form.kind == law_custom)
        pair.w_i = targets->weight;
    pair.w_j = source->weight;
    pair.q_i = targets->charge;
    pair.q_j = source->charge;

    VREAL force[3] = {{0}}, value = {0};
    evaluate(variant, constants, &pair, targets, force, &value);
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++) {
        of_targets->field[c] += force[c];
        of_source->field[c] -= force[c];
    }
    if (variant.potential) {
        of_targets->potential += value;
        of_source->potential += value;
    }
}

SIMD_INLINE void launder(const struct variant variant, struct bodies *bodies)
{
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        SIMD_LAUNDER(bodies->x[c]);
    if (variant.form.weighting != law_unweighted) {
        SIMD_LAUNDER(bodies->weight);
        SIMD_LAUNDER(bodies->outer_factor);
    }
}

#include "forces/symmetric_loop_body.h"

/* Whether the x components of forces are finite, of a multiple of 64 of them. NaN times 0 is NaN,
 * and so is infinity times 0. */
static bool are_finite(const REAL *force, int64_t count)
{
    VREAL all = {0};
    bool are_finite = true;
    for (int64_t i = 0; i < count; i += REAL_LANES)
        all += simd_load(force + i) * 0;
    for (int lane = 0; lane < REAL_LANES; lane++)
        are_finite = are_finite && all[lane] == 0;
    return are_finite;
}

typedef void meet_by(const struct constants *constants, const struct symmetric_meeting *meeting);

/* Most meetings have no two particles at the same position and need not look for them: a force that
 * is not a finite number shows those that have, and then the meeting is repeated. Softenings of
 * bodies and forces that are not central are rare, and all is summed, requested or not. */
static void meet_by_law(meet_by *const by[3], meet_by *careful,
                        const struct symmetric_meeting *meeting)
{
    const struct constants constants = {.law = NAME(law_load)(meeting->numbers),
                                        .softening2 = (REAL)meeting->softening2};
    const REAL *force = (const REAL *)meeting->of_targets.field[0];
    const enum law_sums sums = !meeting->of_targets.potential ? law_sums_force
                               : !force                       ? law_sums_value
                                                              : law_sums_both;
    const bool is_rare = meeting->targets.half_softening2 || !meeting->is_central;
    if (!is_rare)
        by[sums](&constants, meeting);
    if (is_rare || (force && !are_finite(force, meeting->targets.count)))
        careful(&constants, meeting);
}

#define DEFINE_MEET(name, ...)                                                                     \
    static __attribute__((noinline)) void name(const struct constants *constants,                  \
                                               const struct symmetric_meeting *meeting)            \
    {                                                                                              \
        const struct variant variant = {__VA_ARGS__};                                              \
        meet(variant, constants, meeting);                                                         \
    }
#define DEFINE_LOOPS(name, kind, weighting)                                                        \
    DEFINE_MEET(force_##name, symmetric_vectors, 3, false, false, {kind, weighting}, false, true)  \
    DEFINE_MEET(value_##name, symmetric_vectors, 0, false, true, {kind, weighting}, false, true)   \
    DEFINE_MEET(both_##name, symmetric_vectors, 3, false, true, {kind, weighting}, false, true)    \
    DEFINE_MEET(careful_##name, 1, 3, false, true, {kind, weighting}, true, true)
#define LOOPS(name)                                                                                \
    (meet_by *const[])                                                                             \
    {                                                                                              \
        force_##name, value_##name, both_##name                                                    \
    }

#ifdef LAW_CUSTOM_BODY
DEFINE_LOOPS(custom, law_custom, law_unweighted)
DEFINE_MEET(any_custom, 1, 3, false, true, {law_custom, law_unweighted}, true, false)

__attribute__((visibility("default"))) forces_symmetric_kernel OF_REAL(symmetric_custom);
void OF_REAL(symmetric_custom)(const struct symmetric_meeting *meeting)
{
    meet_by_law(LOOPS(custom), meeting->is_central ? careful_custom : any_custom, meeting);
}
#else
#define DEFINE_KERNEL(name, kind, weighting)                                                       \
    DEFINE_LOOPS(name, kind, weighting)                                                            \
    static void meet_##name(const struct symmetric_meeting *meeting)                               \
    {                                                                                              \
        meet_by_law(LOOPS(name), careful_##name, meeting);                                         \
    }
DEFINE_KERNEL(constant_of_sums, law_constant, law_sum)

/* The constant is the only kind that the table has with several weightings. */
#define TABLE_WEIGHTING(kind) ((kind) == law_constant ? law_product : LAW_SUMS_WEIGHTING(kind))
#define DEFINE(kind)                                                                               \
    DEFINE_KERNEL(kind, law_##kind, TABLE_WEIGHTING(law_##kind))                                   \
    static void symmetric_##kind(const struct symmetric_meeting *meeting)                          \
    {                                                                                              \
        if (law_##kind == law_constant && meeting->weighting == law_sum)                           \
            meet_constant_of_sums(meeting);                                                        \
        else                                                                                       \
            meet_##kind(meeting);                                                                  \
    }
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#undef TABLE_WEIGHTING
#undef DEFINE_KERNEL
#endif
#undef DEFINE_MEET
#undef DEFINE_LOOPS
#undef LOOPS
