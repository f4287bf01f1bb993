/* Acceleration, jerk and the rate of the value by any law, for one precision
 * (law/for_each_real.h). A vector of targets sits in registers, a target a lane, and every source
 * is broadcast to it. */

#include "forces/law_pull_body.h"

enum { NAME(vectors) = kith_padding / NAME(lanes) };

/* A source, in a row of memory. */
struct NAME(source) {
    REAL x[3], v[3], weight, charge, half_softening2;
};

struct NAME(chunk) {
    long long first;
    int count;
    struct NAME(source) source[chunk_sources];
};

/* The sums of a vector of targets: force, its rate, the value's rate. */
struct NAME(totals) {
    double value[law_jerk_values][NAME(lanes)];
};

SIMD_INLINE REAL NAME(element)(const void *column, long long j, REAL otherwise)
{
    return column ? ((const REAL *)column)[j] : otherwise;
}

static __attribute__((noinline)) void NAME(load_chunk)(const struct law_sums_problem *problem,
                                                       long long first, struct NAME(chunk) * chunk)
{
    const long long left = problem->source_count - first;
    chunk->first = first;
    chunk->count = left < chunk_sources ? (int)left : chunk_sources;
    for (int k = 0; k < chunk->count; k++) {
        struct NAME(source) *source = &chunk->source[k];
        const long long j = first + k;
        for (int c = 0; c < 3; c++) {
            source->x[c] = NAME(element)(problem->source_position[c], j, 0);
            source->v[c] = NAME(element)(problem->source_velocity[c], j, 0);
        }
        source->weight = NAME(element)(problem->source_weight, j, 1);
        source->charge = NAME(element)(problem->source_charge, j, 1);
        source->half_softening2 =
            NAME(element)(problem->source_half_softening2, j, (REAL)(problem->softening2 / 2));
    }
}

SIMD_INLINE struct NAME(place) NAME(spread)(const struct NAME(source) * source)
{
    struct NAME(place) place;
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

/* Not part of a law's loop over pairs, so that it is compiled once for all laws. */
static __attribute__((noinline)) void NAME(add_sums)(const struct NAME(pull) * sum,
                                                     struct NAME(totals) * totals)
{
    for (int lane = 0; lane < NAME(lanes); lane++) {
        for (int c = 0; c < 3; c++) {
            totals->value[c][lane] += (double)sum->force[c][lane];
            totals->value[3 + c][lane] += (double)sum->rate[c][lane];
        }
        totals->value[6][lane] += (double)sum->value_rate[lane];
    }
}

/* Adds what the sources of a chunk do to the vector of targets at begin, without j = i. */
SIMD_INLINE void NAME(add_chunk)(const struct law_form form, const struct law_sums_problem *problem,
                                 const struct NAME(law_constants) * law,
                                 const struct NAME(chunk) * chunk, long long begin,
                                 struct NAME(totals) * totals)
{
    struct NAME(place) targets;
    struct NAME(pull) sum = {0};
    /* Which source of the chunk a target is. An integer, exact where it is one of them. */
    VREAL self = {0};
    const struct law_pull_outputs outputs = {.rate = 1, .value_rate = problem->value_rate != 0};
    NAME(load_place)(problem, begin, &targets);
    SIMD_UNROLL
    for (int lane = 0; lane < NAME(lanes); lane++)
        self[lane] = problem->self ? (REAL)(begin + lane - chunk->first) : -1;
    for (int k = 0; k < chunk->count; k++) {
        const struct NAME(place) source = NAME(spread)(&chunk->source[k]);
        const VREAL index = simd_all((REAL)k);
        struct NAME(pull) pull;
        NAME(pull_by)(form, outputs, law, &targets, &source, &pull);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++) {
            sum.force[c] += simd_unless_equal(index, self, pull.force[c]);
            sum.rate[c] += simd_unless_equal(index, self, pull.rate[c]);
        }
        if (outputs.value_rate)
            sum.value_rate += simd_unless_equal(index, self, pull.value_rate);
    }
    const struct NAME(pull) found = sum; /* sum stays in registers */
    NAME(add_sums)(&found, totals);
}

static __attribute__((noinline)) void NAME(store_totals)(const struct law_sums_problem *problem,
                                                         long long begin,
                                                         const struct NAME(totals) * totals)
{
    for (int c = 0; c < 3; c++) {
        VREAL force = {0}, rate = {0};
        for (int lane = 0; lane < NAME(lanes); lane++) {
            force[lane] = (REAL)totals->value[c][lane];
            rate[lane] = (REAL)totals->value[3 + c][lane];
        }
        if (problem->acceleration[c])
            NAME(store_over_mass)(problem, begin, force, problem->acceleration[c]);
        if (problem->jerk[c])
            NAME(store_over_mass)(problem, begin, rate, problem->jerk[c]);
    }
    if (problem->value_rate) {
        VREAL rate = {0};
        for (int lane = 0; lane < NAME(lanes); lane++)
            rate[lane] = (REAL)totals->value[6][lane];
        simd_store((REAL *)problem->value_rate + begin, rate);
    }
}

SIMD_INLINE void NAME(compute)(const struct law_form form, const struct law_sums_problem *problem,
                               long long begin, long long end)
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    struct NAME(chunk) chunk;
    for (long long block = begin; block < end; block += kith_padding) {
        struct NAME(totals) totals[NAME(vectors)] = {0};
        for (long long first = 0; first < problem->source_count; first += chunk_sources) {
            NAME(load_chunk)(problem, first, &chunk);
            for (int k = 0; k < NAME(vectors); k++)
                NAME(add_chunk)
            (form, problem, &law, &chunk, block + k * NAME(lanes), &totals[k]);
        }
        for (int k = 0; k < NAME(vectors); k++)
            NAME(store_totals)(problem, block + k * NAME(lanes), &totals[k]);
    }
}

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) law_sums_kernel NAME(law_jerk_custom);
void NAME(law_jerk_custom)(const struct law_sums_problem *problem, long long begin, long long end)
{
    NAME(compute)((struct law_form){law_custom, law_unweighted}, problem, begin, end);
}
#else
#define DEFINE(kind)                                                                               \
    static void NAME(jerk_##kind)(const struct law_sums_problem *problem, long long begin,         \
                                  long long end)                                                   \
    {                                                                                              \
        NAME(compute)                                                                              \
        ((struct law_form){law_##kind, LAW_SUMS_WEIGHTING(law_##kind)}, problem, begin, end);      \
    }
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#endif
