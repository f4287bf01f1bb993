/* Acceleration, jerk and the rate of the value by any law, for one precision
 * (law/real_law.h): a law's force and its rate in the one-sided loop, a vector of targets at a
 * time. The sources of a chunk are gathered in rows, which all vectors of a block read. */

#include "forces/law_pull_body.h"

enum { block_targets = kith_padding };

struct row {
    REAL x[3], v[3], weight, charge, half_softening2;
};

/* A row of a chunk: where it is, so that it is broadcast from there. */
struct source {
    const struct row *row;
    REAL index; /* from the first of a vector of targets; −1 if they are not the sources */
};

struct targets {
    struct place place;
    VREAL index; /* from the first */
};

struct chunk {
    long long first;
    int count;
    struct row source[chunk_sources];
};

/* Force, its rate, the value's rate. */
struct sums {
    VREAL value[law_jerk_values];
};

struct constants {
    const struct law_sums_problem *problem;
    struct NAME(law_constants) law;
    const struct chunk *chunk;
};

SIMD_INLINE REAL element(const void *column, long long j, REAL otherwise)
{
    return column ? ((const REAL *)column)[j] : otherwise;
}

static __attribute__((noinline)) void load_chunk(const struct law_sums_problem *problem,
                                                 long long first, struct chunk *chunk)
{
    const long long left = problem->source_count - first;
    chunk->first = first;
    chunk->count = left < chunk_sources ? (int)left : chunk_sources;
    for (int k = 0; k < chunk->count; k++) {
        struct row *source = &chunk->source[k];
        const long long j = first + k;
        for (int c = 0; c < 3; c++) {
            source->x[c] = element(problem->source_position[c], j, 0);
            source->v[c] = element(problem->source_velocity[c], j, 0);
        }
        source->weight = element(problem->source_weight, j, 1);
        source->charge = element(problem->source_charge, j, 1);
        source->half_softening2 =
            element(problem->source_half_softening2, j, (REAL)(problem->softening2 / 2));
    }
}

SIMD_INLINE struct place spread(const struct row *source)
{
    struct place place;
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        place.x[c] = simd_all(source->x[c]);
        place.v[c] = simd_all(source->v[c]);
    }
    place.weight = simd_all(source->weight);
    place.charge = simd_all(source->charge);
    place.half_softening2 = simd_all(source->half_softening2);
    return place;
}

SIMD_INLINE int32_t values(const struct variant variant)
{
    (void)variant;
    return law_jerk_values;
}

SIMD_INLINE bool are_valid(const struct variant variant, const struct sums *sums)
{
    (void)variant, (void)sums;
    return true;
}

SIMD_INLINE int64_t source_shift(const struct constants *constants)
{
    return constants->problem->source_shift;
}

SIMD_INLINE struct source load_source(const struct variant variant,
                                      const struct constants *constants, int64_t begin, int64_t j)
{
    (void)variant;
    return (struct source){&constants->chunk->source[j - constants->chunk->first],
                           constants->problem->self ? (REAL)(j - begin) : -1};
}

SIMD_INLINE struct targets load_targets(const struct variant variant,
                                        const struct constants *constants, int64_t begin, int32_t k)
{
    (void)variant;
    struct targets targets;
    load_place(constants->problem, begin + k * REAL_LANES, &targets.place);
    SIMD_UNROLL
    for (int32_t lane = 0; lane < REAL_LANES; lane++)
        targets.index[lane] = (REAL)(k * REAL_LANES + lane);
    return targets;
}

/* Leaves j = i out. */
SIMD_INLINE void add_pairs(const struct variant variant, const struct constants *constants,
                           const struct source *source, const struct targets *targets,
                           struct sums *sums)
{
    const struct law_pull_outputs outputs = {.rate = 1,
                                             .value_rate = constants->problem->value_rate != 0};
    const struct place place = spread(source->row);
    const VREAL index = simd_all(source->index);
    struct pull pull;
    pull_by(variant.form, outputs, &constants->law, &targets->place, &place, &pull);
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        sums->value[c] += simd_unless_equal(index, targets->index, pull.force[c]);
        sums->value[3 + c] += simd_unless_equal(index, targets->index, pull.rate[c]);
    }
    if (outputs.value_rate)
        sums->value[6] += simd_unless_equal(index, targets->index, pull.value_rate);
}

#include "forces/one_sided_loop_body.h"

/* The k-th vector of the block at begin. */
static __attribute__((noinline)) void store_totals(const struct law_sums_problem *problem,
                                                   long long begin, int k,
                                                   const struct totals *totals)
{
    const long long at = begin + k * REAL_LANES;
    VREAL sum[law_jerk_values];
    for (int v = 0; v < law_jerk_values; v++)
        for (int lane = 0; lane < REAL_LANES; lane++)
            sum[v][lane] = (REAL)totals->value[v][k * REAL_LANES + lane];
    for (int c = 0; c < 3; c++) {
        if (problem->acceleration[c])
            store_over_mass(problem, at, sum[c], problem->acceleration[c]);
        if (problem->jerk[c])
            store_over_mass(problem, at, sum[3 + c], problem->jerk[c]);
    }
    if (problem->value_rate)
        simd_store((REAL *)problem->value_rate + at, sum[6]);
}

SIMD_INLINE void compute(const struct law_form form, const struct law_sums_problem *problem,
                         long long begin, long long end)
{
    const struct variant variant = {1, true, form};
    const long long stride = kith_padded(problem->target_count);
    const bool goes_on = problem->totals && problem->source_count > 0;
    struct chunk chunk;
    const struct constants constants = {problem, NAME(law_load)(&problem->numbers), &chunk};
    for (long long block = begin; block < end; block += block_targets) {
        struct totals totals = {0};
        take_totals(problem->totals, law_jerk_values, stride, block, block_targets, &totals);
        for (long long first = 0; first < problem->source_count; first += chunk_sources) {
            load_chunk(problem, first, &chunk);
            for (int k = 0; k < block_targets / REAL_LANES; k++)
                add_chunk(variant, &constants, block, k, first, first + chunk.count, &totals);
        }
        if (goes_on) {
            keep_totals(problem->totals, law_jerk_values, stride, block, block_targets, &totals);
            continue;
        }
        for (int k = 0; k < block_targets / REAL_LANES; k++)
            store_totals(problem, block, k, &totals);
    }
}

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) law_sums_kernel OF_REAL(law_jerk_custom);
void OF_REAL(law_jerk_custom)(const struct law_sums_problem *problem, long long begin,
                              long long end)
{
    compute((struct law_form){law_custom, law_unweighted}, problem, begin, end);
}
#else
#define DEFINE(kind)                                                                               \
    static void jerk_##kind(const struct law_sums_problem *problem, long long begin,               \
                            long long end)                                                         \
    {                                                                                              \
        compute((struct law_form){law_##kind, LAW_SUMS_WEIGHTING(law_##kind)}, problem, begin,     \
                end);                                                                              \
    }
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#endif
