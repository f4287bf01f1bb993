/* Sums over pairs, for one set of formulas, precision, reduction and instruction set: compiled at
 * run time only. LAW_CUSTOM_BODY (write.c) is included twice: with SUMS_NUMBERS for
 *
 *   SUMS_IN_FLOAT      1: REAL is float
 *   SUMS_DIMENSIONS    2 or 3
 *   SUMS_ALL_PAIRS     1: candidates are read one after the other; 0: those within the cutoff
 *   SUMS_PERIODIC      1: candidates may have translations
 *   SUMS_OUTPUTS       their number
 *   SUMS_COLUMNS_I, _J the number of columns that formulas use, of targets and of sources
 *   SUMS_REDUCTION     a kith_sums_reduction
 *
 * and without for sums_load_i, sums_load_j and sums_values. */

#include <math.h>

#include "core/floors.h"
#define LAW_MEETS_SUBNORMAL
#include "core/simd_gather.h"
#include "law/law_math_simd.h"
#include "pairs/lanes.h"
#include "sums/sums_kernel.h"

#define SUMS_NUMBERS
#include LAW_CUSTOM_BODY
#undef SUMS_NUMBERS

#if SUMS_IN_FLOAT
#define REAL          float
#define VREAL         vfloat
#define VMASK         vint32
#define VINDEX        vindex_float
#define WHOLE         int32_t
#define LANES         LANES_FLOAT
#define OF_REAL(name) name##_float
#define S2_FLOOR      S2_FLOOR_FLOAT
#else
#define REAL          double
#define VREAL         vdouble
#define VMASK         vint64
#define VINDEX        vindex_double
#define WHOLE         int64_t
#define LANES         LANES_DOUBLE
#define OF_REAL(name) name##_double
#define S2_FLOOR      S2_FLOOR_DOUBLE
#endif

enum { most_columns = SUMS_COLUMNS_I + SUMS_COLUMNS_J + 1 };

/* As a formula sees a pair: columns by the index that write.c gave them, targets' first. */
struct sums_pair {
    VREAL s2, d[3], column[most_columns];
};

struct sums_constants {
    REAL c[law_constant_count];
};

/* sums_values(law, pair, value) and SUMS_DIVERGES(k). */
#include LAW_CUSTOM_BODY

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

/* One value a lane, where it counts. */
SIMD_INLINE void reduce(struct reduced *reduced, int k, VREAL value, VMASK counts)
{
    VREAL *to = &reduced->value[k];
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
    VREAL value[SUMS_OUTPUTS];
    sums_values(law, pair, value);
    SIMD_UNROLL
    for (int k = 0; k < SUMS_OUTPUTS; k++)
        reduce(reduced, k, value[k],
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

SIMD_INLINE void set_vector(struct sums_pair *pair, const VREAL d[3])
{
    pair->s2 = d[0] * d[0];
    for (int c = 0; c < 3; c++) {
        pair->d[c] = c < SUMS_DIMENSIONS ? d[c] : law_all((REAL)0);
        if (c > 0 && c < SUMS_DIMENSIONS)
            pair->s2 = pair->s2 + d[c] * d[c];
    }
}

#if SUMS_ALL_PAIRS

/* Every candidate from begin to end. */
SIMD_INLINE void add_range(const struct sums_constants *law,
                           const struct sums_candidates *candidates, struct sums_pair *pair,
                           const VREAL at[3], int64_t begin, int64_t end, struct reduced *reduced)
{
    for (int64_t p = begin; p < end; p += LANES) {
        VREAL d[3];
        for (int c = 0; c < SUMS_DIMENSIONS; c++)
            d[c] = simd_load((const REAL *)candidates->position[c] + p) - at[c];
        set_vector(pair, d);
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            pair->column[SUMS_COLUMNS_I + c] = simd_load((const REAL *)candidates->column[c] + p);
        add_pairs(law, pair, first_lanes(end - p), reduced);
    }
}

SIMD_INLINE int64_t add_candidates(const struct sums_constants *law, REAL limit,
                                   const struct sums_candidates *candidates, struct sums_pair *pair,
                                   const VREAL at[3], int64_t self, int moved,
                                   struct reduced *reduced)
{
    const int64_t count = candidates->count;
    add_range(law, candidates, pair, at, 0, self < 0 ? count : self, reduced);
    if (self >= 0)
        add_range(law, candidates, pair, at, self + 1, count, reduced);
    return count - (self >= 0);
}

#else

/* The candidates from begin to end that are within the cutoff, by the numbers of their records, to
 * found. The arithmetic is that of cells/geometry.h. */
SIMD_INLINE int64_t find_in_range(const struct sums_candidates *candidates, const VREAL at[3],
                                  VREAL limit, int moved, int64_t begin, int64_t end,
                                  int32_t *found)
{
    int64_t count = 0;
    for (int64_t p = begin; p < end; p += LANES) {
        VINDEX number;
        memcpy(&number, candidates->number + p, sizeof number);
        VREAL r2 = law_all((REAL)0);
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            VREAL d = simd_load((const REAL *)candidates->position[c] + p) - at[c];
            if (moved)
                d = d + simd_load((const REAL *)candidates->translation[c] + p);
            r2 = c == 0 ? d * d : r2 + d * d;
        }
        uint32_t mask = OF_REAL(lanes_below)(r2, limit);
        if (end - p < LANES)
            mask &= (1U << (end - p)) - 1;
        OF_REAL(lanes_store_chosen)(found + count, number, mask);
        count += __builtin_popcount(mask);
    }
    return count;
}

/* The fields of the records whose numbers are given. */
SIMD_INLINE void gather(const struct sums_candidates *candidates, const int32_t *found,
                        VREAL *field)
{
    const int32_t fields = sums_fields_of_record(SUMS_COLUMNS_J, SUMS_PERIODIC);
    const REAL *from[LANES];
    SIMD_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = (const REAL *)candidates->records + (int64_t)found[lane] * fields;
    SIMD_UNROLL
    for (int32_t first = 0; first < fields; first += 4)
        simd_gather4(field + first, from, first);
}

SIMD_INLINE int64_t add_candidates(const struct sums_constants *law, REAL limit,
                                   const struct sums_candidates *candidates, struct sums_pair *pair,
                                   const VREAL at[3], int64_t self, int moved,
                                   struct reduced *reduced)
{
    int32_t *found = candidates->found;
    int64_t count = find_in_range(candidates, at, law_all(limit), moved, 0,
                                  self < 0 ? candidates->count : self, found);
    if (self >= 0)
        count += find_in_range(candidates, at, law_all(limit), moved, self + 1, candidates->count,
                               found + count);
    memset(found + count, 0, LANES * sizeof *found); /* the last vector reads record 0 */
    for (int64_t p = 0; p < count; p += LANES) {
        VREAL field[sums_most_columns + 8], d[3];
        gather(candidates, found + p, field);
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            d[c] = field[c] - at[c];
            if (moved)
                d[c] = d[c] + field[sums_field_of_translation(c)];
        }
        set_vector(pair, d);
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            pair->column[SUMS_COLUMNS_I + c] = field[sums_field_of_column(c, SUMS_PERIODIC)];
        add_pairs(law, pair, first_lanes(count - p), reduced);
    }
    return count;
}

#endif

/* The lanes of a sum, in pairs. */
SIMD_INLINE double sum_lanes(VREAL x)
{
    double lane[LANES];
    SIMD_UNROLL
    for (int k = 0; k < LANES; k++)
        lane[k] = (double)x[k];
    SIMD_UNROLL
    for (int half = LANES / 2; half > 0; half /= 2) {
        SIMD_UNROLL
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    }
    return lane[0];
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

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    int64_t pairs = 0;
    for (int64_t slot = begin; slot < end; slot++) {
        struct reduced reduced;
        struct sums_pair pair;
        VREAL at[3];
        for (int c = 0; c < SUMS_DIMENSIONS; c++)
            at[c] = law_all(((const REAL *)targets->position[c])[slot]);
        for (int c = 0; c < SUMS_COLUMNS_I; c++)
            pair.column[c] = law_all(((const REAL *)targets->column[c])[slot]);
        for (int k = 0; k < SUMS_OUTPUTS; k++) {
            reduced.value[k] = nothing();
            reduced.rest[k] = law_all((REAL)0);
        }
        const int is_there = slot >= candidates->self_begin && slot < candidates->self_end;
        const int64_t self =
            is_there ? candidates->self_at + slot - candidates->self_begin : (int64_t)-1;
        pairs += add_candidates(law, limit, candidates, &pair, at, self, moved, &reduced);
        for (int k = 0; k < SUMS_OUTPUTS; k++)
            join(targets, slot * SUMS_OUTPUTS + k, reduced.value[k], reduced.rest[k]);
    }
    return pairs;
}

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
