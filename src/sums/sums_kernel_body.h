/* Sums over pairs, for one set of formulas, precision, reduction and instruction set
 * (formulas_kernel_body.h): compiled at run time only. */

#include "sums/formulas_kernel_body.h"

#include "core/simd_gather.h"
#include "sums/sums_kernel.h"

enum { sum_of_values, least_value, greatest_value, count_of_values, log_of_exponentials };

/* The results of a target in the lanes of vectors (reduction.h). */
struct reduced {
    VREAL value[SUMS_OUTPUTS], rest[SUMS_OUTPUTS];
};

SIMD_INLINE VREAL nothing(void)
{
    if (SUMS_REDUCTION == least_value)
        return law_all((REAL)INFINITY);
    if (SUMS_REDUCTION == greatest_value || SUMS_REDUCTION == log_of_exponentials)
        return law_all(-(REAL)INFINITY);
    return law_all((REAL)0);
}

SIMD_INLINE VREAL greater_of(VREAL a, VREAL b)
{
    return law_select((b > a) | (b != b), b, a);
}

SIMD_INLINE VREAL origin_of(VREAL greatest)
{
    const VREAL infinite = law_all((REAL)INFINITY);
    return law_select((greatest == infinite) | (greatest == -infinite), law_all((REAL)0), greatest);
}

/* One value · factor a lane, where it counts. */
SIMD_INLINE void reduce(struct reduced *reduced, int k, VREAL value, VREAL factor, VMASK counts)
{
    VREAL *to = &reduced->value[k];
    if (SUMS_REDUCTION == sum_of_values && SUMS_IS_PRODUCT(k)) {
        *to = simd_fma_where(counts, value, factor, *to);
        return;
    }
    value = SUMS_IS_PRODUCT(k) ? value * factor : value;
    if (SUMS_REDUCTION == count_of_values)
        value = law_select(value != law_all((REAL)0), law_all((REAL)1), law_all((REAL)0));
    value = law_select(counts, value, nothing());
    if (SUMS_REDUCTION == least_value) {
        *to = law_select((value < *to) | (value != value), value, *to);
    } else if (SUMS_REDUCTION == greatest_value) {
        *to = greater_of(*to, value);
    } else if (SUMS_REDUCTION == log_of_exponentials) {
        const VREAL greatest = greater_of(*to, value), origin = origin_of(greatest);
        reduced->rest[k] =
            law_fma(reduced->rest[k], law_exp(*to - origin), law_exp(value - origin));
        *to = greatest;
    } else {
        *to += value;
    }
}

SIMD_INLINE void add_pairs(const struct sums_constants *law, const struct sums_pair *pair,
                           VMASK counts, struct reduced *reduced)
{
    VREAL value[SUMS_OUTPUTS], factor[SUMS_OUTPUTS];
    sums_values(law, pair, value, factor);
    SIMD_UNROLL
    for (int k = 0; k < SUMS_OUTPUTS; k++)
        reduce(reduced, k, value[k], factor[k],
               SUMS_DIVERGES(k) ? counts & (VMASK)(pair->s2 != law_all((REAL)0)) : counts);
}

/* The first `count` lanes. */
SIMD_INLINE VMASK first_lanes(int64_t count)
{
    VMASK number;
    for (int lane = 0; lane < LANES; lane++)
        number[lane] = lane;
    return number < (VMASK){0} + (WHOLE)(count < LANES ? count : LANES);
}

/* The lane of this number; none if it has none. */
SIMD_INLINE VMASK only_lane(int64_t number)
{
    const int64_t most = number < 0 || number >= LANES ? -1 : number;
    VMASK lanes;
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = lane;
    return lanes == (VMASK){0} + (WHOLE)most;
}

SIMD_INLINE void set_vector(struct sums_pair *pair, const VREAL d[3])
{
    pair->s2 = d[0] * d[0];
    for (int c = 0; c < 3; c++) {
        pair->d[c] = c < SUMS_DIMENSIONS ? d[c] : law_all((REAL)0);
        if (c > 0 && c < SUMS_DIMENSIONS) /* within a cutoff rounded as cells/geometry.h has it */
            pair->s2 = SUMS_ALL_PAIRS ? law_fma(d[c], d[c], pair->s2) : pair->s2 + d[c] * d[c];
    }
}

/* d along an axis from the fourth on. */
SIMD_INLINE void add_axis(struct sums_pair *pair, VREAL d)
{
    pair->s2 = pair->s2 + d * d;
}

/* A target, in all lanes. */
struct target {
    int64_t slot;
    VREAL at[3], more[SUMS_MORE_AXES + 1];
};

/* The lanes of a sum in double precision, the one half added to the other until one is left. */
SIMD_INLINE double sum_lanes(VREAL x)
{
#if SUMS_IN_FLOAT && defined(__AVX512F__) && !defined(SIMD_GENERIC)
    const vdouble sum = _mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)) +
                        _mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
#elif SUMS_IN_FLOAT
    typedef float half __attribute__((vector_size(SIMD_BYTES / 2)));
    half low, high;
    memcpy(&low, &x, sizeof low);
    memcpy(&high, (const char *)&x + sizeof low, sizeof high);
    const vdouble sum =
        __builtin_convertvector(low, vdouble) + __builtin_convertvector(high, vdouble);
#else
    const vdouble sum = x;
#endif
#if defined(__AVX512F__) && !defined(SIMD_GENERIC)
    const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256((__m512d)sum),
                                       _mm512_extractf64x4_pd((__m512d)sum, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return two[0] + two[1];
#else
    double lane[LANES_DOUBLE];
    memcpy(lane, &sum, sizeof lane);
    SIMD_UNROLL
    for (int left = LANES_DOUBLE / 2; left > 0; left /= 2) {
        SIMD_UNROLL
        for (int k = 0; k < left; k++)
            lane[k] += lane[k + left];
    }
    return lane[0];
#endif
}

/* Joins one number with a result. */
SIMD_INLINE double join_one(double a, double b)
{
    if (SUMS_REDUCTION == least_value)
        return b < a || b != b ? b : a;
    return b > a || b != b ? b : a;
}

SIMD_INLINE void join(const struct sums_targets *targets, int64_t at, VREAL value, VREAL rest)
{
    double *to = &targets->value[at];
    if (SUMS_REDUCTION == sum_of_values || SUMS_REDUCTION == count_of_values) {
        *to += sum_lanes(value);
        return;
    }
    double joined = *to;
    for (int lane = 0; lane < LANES; lane++)
        joined = join_one(joined, (double)value[lane]);
    if (SUMS_REDUCTION == log_of_exponentials) {
        const double origin = isinf(joined) ? 0 : joined;
        const double before = targets->rest[at];
        targets->rest[at] = (before > 0 ? before * exp(*to - origin) : before) +
                            sum_lanes(rest * law_exp(value - law_all((REAL)origin)));
    }
    *to = joined;
}

SIMD_INLINE void begin_target(const struct sums_targets *targets, int64_t slot,
                              struct target *target, struct sums_pair *pair,
                              struct reduced *reduced)
{
    target->slot = slot;
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        target->at[c] = law_all(((const REAL *)targets->position[c])[slot]);
    for (int c = 0; c < SUMS_MORE_AXES; c++)
        target->more[c] = law_all(((const REAL *)targets->column[SUMS_COLUMNS_I + c])[slot]);
    for (int c = 0; c < SUMS_COLUMNS_I; c++)
        pair->column[c] = law_all(((const REAL *)targets->column[c])[slot]);
    for (int k = 0; k < SUMS_OUTPUTS; k++) {
        reduced->value[k] = nothing();
        reduced->rest[k] = law_all((REAL)0);
    }
}

SIMD_INLINE void join_target(const struct sums_targets *targets, int64_t slot,
                             const struct reduced *reduced)
{
    for (int k = 0; k < SUMS_OUTPUTS; k++)
        join(targets, slot * SUMS_OUTPUTS + k, reduced->value[k], reduced->rest[k]);
}

/* How many pairs there were, of which each lane has its own. */
SIMD_INLINE int64_t count_lanes(VMASK pairs)
{
    int64_t total = 0;
    for (int lane = 0; lane < LANES; lane++)
        total += pairs[lane];
    return total;
}

/* Targets begin … end − 1 are the candidates from `place` on, at no translation. */
struct selves {
    int64_t begin, end, place;
};

SIMD_INLINE struct selves find_selves(const struct sums_candidates *candidates, int64_t begin,
                                      int64_t end, int moved)
{
    int64_t place = 0;
    for (int64_t k = 0; k < candidates->range_count && candidates->leaves_out_self; k++) {
        const struct sums_range *range = &candidates->range[k];
        const double *t = range->translation;
        const int64_t first = begin > range->begin ? begin : range->begin;
        const int64_t last = end < range->end ? end : range->end;
        if (first < last && !(moved && (t[0] != 0 || t[1] != 0 || t[2] != 0)))
            return (struct selves){first, last, place + first - range->begin};
        place += range->end - range->begin;
    }
    return (struct selves){0, 0, 0};
}

#if SUMS_ALL_PAIRS
#include "sums/all_kernel_body.h"
#elif SUMS_FLAT
#include "sums/flat_kernel_body.h"
#else
#include "sums/near_kernel_body.h"
#endif

__attribute__((visibility("default"))) sums_kernel sums_of_block;
int64_t sums_of_block(const struct law_numbers *numbers, double limit,
                      const struct sums_candidates *candidates, const struct sums_targets *targets,
                      int64_t begin, int64_t end)
{
    struct sums_constants law;
    for (int k = 0; k < law_constant_count; k++)
        law.c[k] = (REAL)numbers->c[k];
    if (SUMS_PERIODIC && candidates->moved)
        return sum_block(&law, (REAL)limit, candidates, targets, begin, end, 1);
    return sum_block(&law, (REAL)limit, candidates, targets, begin, end, 0);
}
