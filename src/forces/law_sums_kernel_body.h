/* Sums over pairs by any law, for one precision (law/real_law.h): laws in the one-sided loop.
 */

#include "law/law_parts_body.h"

enum { block_targets = one_sided_vectors * REAL_LANES };
_Static_assert(chunk_sources % block_targets == 0, "the targets of a block are in one chunk");

struct source {
    REAL x[3], weight, charge, half_softening2;
    REAL index; /* from the block's first target; −1 if the targets are not the sources */
};

/* A vector of targets. weight and charge are those of a custom law, whose formula may hold them
 * anywhere; weights of others are taken out of the sum. */
struct targets {
    VREAL x[3], weight, charge;
    VREAL softening2; /* ε², or the target's half of it */
    VREAL index;      /* from the block's first */
};

struct sums {
    VREAL value[law_sums_values];
};

struct constants {
    const struct law_sums_problem *problem;
    struct NAME(law_constants) law;
};

SIMD_INLINE int32_t values(const struct variant variant)
{
    (void)variant;
    return law_sums_values;
}

SIMD_INLINE REAL element(const void *column, long long j, REAL otherwise)
{
    return column ? ((const REAL *)column)[j] : otherwise;
}

SIMD_INLINE VREAL elements(const void *column, long long i, REAL otherwise)
{
    return column ? simd_load((const REAL *)column + i) : simd_all(otherwise);
}

SIMD_INLINE int64_t source_shift(const struct constants *constants)
{
    return constants->problem->source_shift;
}

SIMD_INLINE struct source load_source(const struct variant variant,
                                      const struct constants *constants, int64_t begin, int64_t j)
{
    const struct law_sums_problem *problem = constants->problem;
    struct source source = {.index = problem->self ? (REAL)(j - begin) : -1};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        source.x[c] = element(problem->source_position[c], j, 0);
    if (variant.form.weighting != law_unweighted || variant.form.kind == law_custom)
        source.weight = element(problem->source_weight, j, 1);
    if (variant.form.kind == law_custom)
        source.charge = element(problem->source_charge, j, 1);
    if (variant.per_body)
        source.half_softening2 = element(problem->source_half_softening2, j, 0);
    return source;
}

/* The k-th vector from begin on. */
SIMD_INLINE struct targets load_targets(const struct variant variant,
                                        const struct constants *constants, int64_t begin, int32_t k)
{
    const struct law_sums_problem *problem = constants->problem;
    const int64_t i = begin + k * REAL_LANES;
    struct targets targets = {.softening2 = simd_all((REAL)problem->softening2)};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        targets.x[c] = elements(problem->target_position[c], i, 0);
    targets.weight = simd_all((REAL)1);
    if (variant.form.weighting == law_sum || variant.form.kind == law_custom)
        targets.weight = elements(problem->target_weight, i, 1);
    if (variant.form.kind == law_custom)
        targets.charge = elements(problem->target_charge, i, 1);
    if (variant.per_body)
        targets.softening2 += elements(problem->target_half_softening2, i, 0);
    SIMD_UNROLL
    for (int lane = 0; lane < REAL_LANES; lane++)
        targets.index[lane] = (REAL)(k * REAL_LANES + lane);
    return targets;
}

/* Adds the pairs of a source with a vector of targets. Without softening a central force of j = i
 * is 0 by itself; else that pair must be left out, as its value may be large: omits_self.
 * may_touch: pairs may be at the same position; if they are and that is not said, central forces
 * become 0 or not a number. */
SIMD_INLINE void add_pairs(const struct variant variant, const struct constants *constants,
                           const struct source *source, const struct targets *targets,
                           struct sums *sums)
{
    const struct NAME(law_constants) *law = &constants->law;
    struct NAME(law_pair) pair = {.s2 = targets->softening2};
    if (variant.per_body)
        pair.s2 = pair.s2 + source->half_softening2;
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        pair.d[c] = source->x[c] - targets->x[c];
        pair.s2 = simd_fma(pair.d[c], pair.d[c], pair.s2);
    }
    pair.w_i = simd_all((REAL)1);
    if (variant.form.weighting == law_sum || variant.form.kind == law_custom)
        pair.w_i = targets->weight;
    if (variant.form.weighting != law_unweighted || variant.form.kind == law_custom)
        pair.w_j = simd_all(source->weight);
    if (variant.form.kind == law_custom) {
        pair.q_i = targets->charge;
        pair.q_j = simd_all(source->charge);
    }

    VREAL value = {0};
    if (variant.sums != law_sums_value && variant.central) {
        VREAL factor = NAME(law_inner_factor)(variant.form, law, &pair);
        if (variant.may_touch)
            factor = simd_unless_equal(pair.s2, simd_all((REAL)0), factor);
        if (variant.sums == law_sums_both)
            value = NAME(law_inner_value_of)(variant.form, law, &pair, factor);
        if (variant.omits_self)
            factor = simd_unless_equal(targets->index, simd_all(source->index), factor);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            sums->value[c] = simd_fma(factor, pair.d[c], sums->value[c]);
    } else if (variant.sums != law_sums_value) {
        VREAL force[3];
        NAME(law_force)(variant.form, law, &pair, force);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            sums->value[c] =
                sums->value[c] +
                (variant.omits_self
                     ? simd_unless_equal(targets->index, simd_all(source->index), force[c])
                     : force[c]);
    }
    if (variant.sums == law_sums_value || !variant.central)
        value = NAME(law_inner_value)(variant.form, law, &pair);
    if (variant.sums != law_sums_force) {
        if (variant.omits_self)
            value = simd_unless_equal(targets->index, simd_all(source->index), value);
        sums->value[3] = sums->value[3] + value;
    }
}

/* Whether the sums of a block are finite. NaN times 0 is NaN, and so is infinity times 0. */
static __attribute__((noinline)) bool are_numbers(const struct sums *sums)
{
    VREAL all = {0};
    bool are_numbers = true;
    for (int k = 0; k < one_sided_vectors; k++)
        for (int v = 0; v < law_sums_values; v++)
            all += sums[k].value[v] * 0;
    for (int lane = 0; lane < REAL_LANES; lane++)
        are_numbers = are_numbers && all[lane] == 0;
    return are_numbers;
}

/* Most chunks have no two particles at the same position and need not look for them (may_touch): a
 * force that is not a finite number shows those that have. */
SIMD_INLINE bool are_valid(const struct variant variant, const struct sums *sums)
{
    return variant.may_touch || variant.sums == law_sums_value || are_numbers(sums);
}

#include "forces/one_sided_loop_body.h"

/* For what is rare, a vector of targets after the other: less code. Leaves j = i out. */
SIMD_INLINE bool add_chunk_by_vector(const struct variant variant,
                                     const struct constants *constants, int64_t begin,
                                     int64_t first, int64_t last, struct totals *totals)
{
    for (int k = 0; k < one_sided_vectors; k++)
        add_chunk(variant, constants, begin, k, first, last, totals);
    return true;
}

#include "forces/law_sums_store_body.h"

typedef bool (*add_kernel)(const struct constants *constants, int64_t begin, int64_t first,
                           int64_t last, struct totals *totals);

/* The loops over pairs of a law. The code around them is compiled once for all laws: it takes as
 * long to compile as the loops. */
struct loops {
    struct law_form form;
    int central;
    add_kernel add[3];        /* by enum law_sums */
    add_kernel add_touching;  /* forces, where pairs may be at the same position */
    add_kernel add_by_vector; /* all values, without j = i, with softenings of bodies */
};

/* The end of the chunk of sources that begins at first: at a multiple of chunk_sources, so that
 * tiles of sources have the same chunks as all of them. The sources that are the targets of a block
 * that needs care, from own on, are a chunk of their own. */
static int64_t chunk_end(const struct law_sums_problem *problem, int64_t first, bool needs_care,
                         int64_t own)
{
    int64_t last = first - first % chunk_sources + chunk_sources;
    if (needs_care && first == own)
        last = own + block_targets;
    else if (needs_care && first < own && own < last)
        last = own;
    return last < problem->source_count ? last : problem->source_count;
}

/* All sources on one block of targets. Where a pair i = j must be left out, where every body has
 * its own softening, where the force is not central and where particles are at the same position
 * the chunk goes by vectors, and all is summed. */
static void compute_block(const struct loops *loops, const enum law_sums sums, const bool is_rare,
                          const struct constants *constants, int64_t begin)
{
    const struct law_sums_problem *problem = constants->problem;
    const bool needs_care = problem->self && (sums != law_sums_force || problem->softening2 > 0);
    const int64_t stride = kith_padded(problem->target_count);
    const int64_t own = begin - problem->source_shift;
    struct totals totals = {0};
    take_totals(problem->totals, law_sums_values, stride, begin, block_targets, &totals);
    for (int64_t first = 0, last = 0; first < problem->source_count; first = last) {
        last = chunk_end(problem, first, needs_care, own);
        const bool has_self = problem->self && first < own + block_targets && own < last;
        add_kernel add = loops->add[sums];
        if (is_rare || (needs_care && first == own))
            add = loops->add_by_vector;
        else if (sums == law_sums_force && has_self)
            add = loops->add_touching;
        if (!add(constants, begin, first, last, &totals))
            loops->add_by_vector(constants, begin, first, last, &totals);
    }
    if (problem->totals && problem->source_count > 0)
        keep_totals(problem->totals, law_sums_values, stride, begin, block_targets, &totals);
    else
        store_block(loops->form, loops->central, problem, &constants->law, begin, &totals);
}

static void compute(const struct loops *loops, const struct law_sums_problem *problem,
                    long long begin, long long end)
{
    const struct constants constants = {problem, NAME(law_load)(&problem->numbers)};
    const bool is_rare = problem->target_half_softening2 || !loops->central;
    enum law_sums sums = law_sums_both;
    if (!is_rare && !problem->value)
        sums = law_sums_force;
    else if (!is_rare && !problem->acceleration[0])
        sums = law_sums_value;
    for (int64_t i = begin; i < end; i += block_targets)
        compute_block(loops, sums, is_rare, &constants, i);
}

#define DEFINE_ADD(name, ...)                                                                      \
    static __attribute__((noinline)) bool name(const struct constants *constants, int64_t begin,   \
                                               int64_t first, int64_t last, struct totals *totals) \
    {                                                                                              \
        const struct variant variant = {one_sided_vectors, true, false, __VA_ARGS__};              \
        return add_chunk(variant, constants, begin, 0, first, last, totals);                       \
    }
#define DEFINE_ADD_BY_VECTOR(name, ...)                                                            \
    static __attribute__((noinline)) bool name(const struct constants *constants, int64_t begin,   \
                                               int64_t first, int64_t last, struct totals *totals) \
    {                                                                                              \
        const struct variant variant = {1, true, true, true, __VA_ARGS__};                         \
        return add_chunk_by_vector(variant, constants, begin, first, last, totals);                \
    }
#define DEFINE_LOOPS(name, kind, weighting, touching)                                              \
    DEFINE_ADD(force_##name, touching, {kind, weighting}, law_sums_force, 0, 1)                    \
    DEFINE_ADD(value_##name, touching, {kind, weighting}, law_sums_value, 0, 1)                    \
    DEFINE_ADD(both_##name, touching, {kind, weighting}, law_sums_both, 0, 1)                      \
    DEFINE_ADD_BY_VECTOR(rare_##name, {kind, weighting}, law_sums_both, 1, 1)
#define LOOPS(name, kind, weighting, touching)                                                     \
    {                                                                                              \
        {kind, weighting}, 1, {force_##name, value_##name, both_##name}, touching, rare_##name     \
    }

#ifdef LAW_CUSTOM_BODY
DEFINE_LOOPS(custom, law_custom, law_unweighted, false)
DEFINE_ADD(touching_custom, true, {law_custom, law_unweighted}, law_sums_force, 0, 1)
DEFINE_ADD_BY_VECTOR(any_custom, {law_custom, law_unweighted}, law_sums_both, 1, 0)

__attribute__((visibility("default"))) law_sums_kernel OF_REAL(law_sums_custom);
void OF_REAL(law_sums_custom)(const struct law_sums_problem *problem, long long begin,
                              long long end)
{
    static const struct loops central = LOOPS(custom, law_custom, law_unweighted, touching_custom);
    static const struct loops other = {.form = {law_custom, law_unweighted},
                                       .add_by_vector = any_custom};
    compute(problem->is_central ? &central : &other, problem, begin, end);
}
#else

DEFINE_ADD(touching_inverse, true, {law_inverse, law_product}, law_sums_force, 0, 1)

/* For laws other than 1/s the test for coincident pairs is a small part, and each variant takes
 * time to compile. */
#define DEFINE_ALL_LOOPS(name, kind, weighting)                                                    \
    DEFINE_LOOPS(name, kind, weighting, kind != law_inverse)                                       \
    static const struct loops loops_##name =                                                       \
        LOOPS(name, kind, weighting, kind == law_inverse ? touching_inverse : force_##name);
DEFINE_ALL_LOOPS(constant_of_sums, law_constant, law_sum)

/* The constant is the only kind that the table has with several weightings. */
#define TABLE_WEIGHTING(kind) ((kind) == law_constant ? law_product : LAW_SUMS_WEIGHTING(kind))
#define DEFINE(kind)                                                                               \
    DEFINE_ALL_LOOPS(kind, law_##kind, TABLE_WEIGHTING(law_##kind))                                \
    static void sums_##kind(const struct law_sums_problem *problem, long long begin,               \
                            long long end)                                                         \
    {                                                                                              \
        compute(law_##kind == law_constant && problem->weighting == law_sum                        \
                    ? &loops_constant_of_sums                                                      \
                    : &loops_##kind,                                                               \
                problem, begin, end);                                                              \
    }
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#undef TABLE_WEIGHTING
#undef DEFINE_ALL_LOOPS
#endif
#undef DEFINE_ADD
#undef DEFINE_ADD_BY_VECTOR
#undef DEFINE_LOOPS
#undef LOOPS
