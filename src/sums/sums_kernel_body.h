/* Sums over pairs, for one set of formulas, precision, reduction and instruction set: compiled at
 * run time only. LAW_CUSTOM_BODY (write.c) is included twice: with SUMS_NUMBERS for
 *
 *   SUMS_IN_FLOAT      1: REAL is float
 *   SUMS_DIMENSIONS    1 to 3
 *   SUMS_MORE_AXES     axes beyond three, which are columns after those of formulas
 *   SUMS_ALL_PAIRS     1: candidates are read one after the other; 0: those within the cutoff
 *   SUMS_LISTED        1: the pairs are those of a list, or rows of one
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

/* sums_values(law, pair, value, factor): of value · factor; SUMS_DIVERGES(k), SUMS_IS_PRODUCT(k):
 * the factor is not 1. */
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

/* One value · factor a lane, where it counts. */
SIMD_INLINE void reduce(struct reduced *reduced, int k, VREAL value, VREAL factor, VMASK counts)
{
    VREAL *to = &reduced->value[k];
    if (SUMS_REDUCTION == sum_of_values && SUMS_IS_PRODUCT(k)) {
        *to = law_select(counts, law_fma(value, factor, *to), *to);
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

#if SUMS_ALL_PAIRS
#include "sums/all_kernel_body.h"
#else

#if !SUMS_LISTED

/* Within a cutoff, a block of candidates is first brought to single precision, in units of a
 * distance a little more than the cutoff and relative to one of the targets: all pairs, and few
 * others, are nearer than 1 there. Those are then judged with the arithmetic of cells/geometry.h.
 */

SIMD_INLINE void store_narrow(float *to, VREAL x)
{
#if SUMS_IN_FLOAT
    memcpy(to, &x, sizeof x);
#else
    typedef float half __attribute__((vector_size(SIMD_BYTES / 2)));
    const half narrow = __builtin_convertvector(x, half);
    memcpy(to, &narrow, sizeof narrow);
#endif
}

SIMD_INLINE VINDEX numbers_from(int64_t first)
{
    VINDEX number;
    for (int lane = 0; lane < LANES; lane++)
        number[lane] = (int32_t)first + lane;
    return number;
}

/* A range to the block, whose first `count` candidates are there. */
SIMD_INLINE void gather_range(const struct sums_candidates *candidates,
                              const struct sums_range *range, const VREAL origin[3], int moved,
                              int64_t count)
{
    struct sums_room *room = candidates->room;
    const VREAL scale = law_all((REAL)candidates->scale);
    for (int64_t p = range->begin; p < range->end; p += LANES, count += LANES) {
        const VINDEX number = numbers_from(p);
        memcpy(room->number + count, &number, sizeof number);
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            VREAL d = simd_load((const REAL *)candidates->position[c] + p) - origin[c];
            if (moved) {
                const VREAL t = law_all((REAL)range->translation[c]);
                memcpy((REAL *)(void *)room->translation[c] + count, &t, sizeof t);
                d = d + t;
            }
            store_narrow(room->position[c] + count, d * scale);
        }
    }
}

/* All candidates, and after them a vector of some that are far away. */
SIMD_INLINE int64_t gather_block(const struct sums_candidates *candidates, const VREAL origin[3],
                                 int moved)
{
    const vfloat away = simd_all(INFINITY);
    int64_t count = 0;
    for (int64_t k = 0; k < candidates->range_count; k++) {
        const struct sums_range *range = &candidates->range[k];
        gather_range(candidates, range, origin, moved, count);
        count += range->end - range->begin;
    }
    memcpy(candidates->room->position[0] + count, &away, sizeof away);
    return count;
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

/* Finds the candidates that may be pairs of a target. */
SIMD_INLINE int64_t find(struct sums_room *room, int64_t count, const vfloat at[3], int moved)
{
    const vfloat one = simd_all(1.0F);
    int32_t *found = room->found, *place = room->place;
    int64_t found_count = 0;
    vindex_float here;
    for (int lane = 0; lane < LANES_FLOAT; lane++)
        here[lane] = lane;
    for (int64_t p = 0; p < count; p += LANES_FLOAT) {
        vindex_float number;
        memcpy(&number, room->number + p, sizeof number);
        const vfloat x = simd_load(room->position[0] + p) - at[0];
        vfloat r2 = x * x;
        for (int c = 1; c < SUMS_DIMENSIONS; c++) {
            const vfloat d = simd_load(room->position[c] + p) - at[c];
            r2 = simd_fma(d, d, r2);
        }
        const uint32_t mask = lanes_below_float(r2, one);
        lanes_store_chosen_float(found + found_count, number, mask);
        if (moved)
            lanes_store_chosen_float(place + found_count, here, mask);
        found_count += __builtin_popcount(mask);
        here += LANES_FLOAT;
    }
    memset(found + found_count, 0, LANES * sizeof *found); /* the last vector reads these */
    if (moved)
        memset(place + found_count, 0, LANES * sizeof *place);
    return found_count;
}

#endif

/* The fields of the records whose numbers are given. */
SIMD_INLINE void gather_fields(const void *records, const int32_t *found, VREAL *field)
{
    const int32_t fields = sums_fields_of_record(SUMS_COLUMNS_J + SUMS_MORE_AXES);
    const REAL *from[LANES];
    SIMD_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = (const REAL *)records + (int64_t)found[lane] * fields;
    SIMD_UNROLL
    for (int32_t first = 0; first < fields; first += 4)
        simd_gather4(field + first, from, first);
}

/* Adds those of the found candidates that are pairs. */
SIMD_INLINE int64_t add_found(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates, int64_t count,
                              const struct target *target, int moved, struct sums_pair *pair,
                              struct reduced *reduced)
{
    const struct sums_room *room = candidates->room;
    VMASK pairs = {0};
    for (int64_t p = 0; p < count; p += LANES) {
        VREAL field[sums_most_columns + 4], d[3];
        VINDEX place;
        memcpy(&place, room->place + p, sizeof place);
        gather_fields(candidates->records, room->found + p, field);
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            d[c] = field[c] - target->at[c];
            if (moved)
                d[c] = d[c] +
                       OF_REAL(lanes_at)((const REAL *)(const void *)room->translation[c], place);
        }
        set_vector(pair, d);
        for (int c = 0; c < SUMS_MORE_AXES; c++) {
            const VREAL x = field[sums_field_of_column(SUMS_COLUMNS_J + c)];
            add_axis(pair, x - target->more[c]);
        }
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            pair->column[SUMS_COLUMNS_I + c] = field[sums_field_of_column(c)];
        const VMASK counts = first_lanes(count - p) & (VMASK)(pair->s2 < law_all(limit));
        pairs -= counts;
        add_pairs(law, pair, counts, reduced);
    }
    int64_t total = 0;
    for (int lane = 0; lane < LANES; lane++)
        total += pairs[lane];
    return total;
}

#if SUMS_LISTED

/* A target's pairs of a list from begin to end, or its pair with itself, as if they were found. */
SIMD_INLINE int64_t take_listed(const struct sums_candidates *candidates, int64_t begin,
                                int64_t end, int moved)
{
    struct sums_room *room = candidates->room;
    for (int64_t p = begin; p < end; p++)
        room->found[p - begin] = (int32_t)sums_list_source(candidates->list, p);
    memset(room->found + (end - begin), 0, LANES * sizeof *room->found);
    for (int c = 0; c < SUMS_DIMENSIONS && moved; c++) {
        REAL *to = (REAL *)(void *)room->translation[c];
        for (int64_t p = begin; p < end; p++)
            to[p - begin] = (REAL)sums_list_translation(candidates->list, p, SUMS_DIMENSIONS, c);
    }
    for (int32_t k = 0; k < end - begin + LANES && moved; k++)
        room->place[k] = k;
    return end - begin;
}

SIMD_INLINE int64_t take_self(const struct sums_candidates *candidates, int64_t slot, int moved)
{
    struct sums_room *room = candidates->room;
    memset(room->found, 0, (LANES + 1) * sizeof *room->found);
    room->found[0] = (int32_t)slot;
    for (int c = 0; c < SUMS_DIMENSIONS && moved; c++)
        ((REAL *)(void *)room->translation[c])[0] = 0;
    if (moved)
        memset(room->place, 0, (LANES + 1) * sizeof *room->place);
    return 1;
}

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    const struct sums_list *list = candidates->list;
    int64_t pairs = 0;
    for (int64_t slot = begin; slot < end; slot++) {
        const int64_t *row = &list->offsets[slot - list->first];
        struct reduced reduced;
        struct sums_pair pair;
        struct target target;
        begin_target(targets, slot, &target, &pair, &reduced);
        for (int64_t p = row[0]; p < row[1]; p += sums_most_candidates) {
            const int64_t left = row[1] - p;
            const int64_t count =
                take_listed(candidates, p,
                            p + (left < sums_most_candidates ? left : sums_most_candidates), moved);
            pairs += add_found(law, limit, candidates, count, &target, moved, &pair, &reduced);
        }
        if (list->includes_self)
            pairs += add_found(law, limit, candidates, take_self(candidates, slot, moved), &target,
                               moved, &pair, &reduced);
        join_target(targets, slot, &reduced);
    }
    return pairs;
}

#else

/* Finds the candidates of a target, but for itself. */
SIMD_INLINE int64_t find_others(struct sums_room *room, int64_t count, const vfloat at[3],
                                const struct selves *selves, int64_t slot, int moved)
{
    if (slot < selves->begin || slot >= selves->end)
        return find(room, count, at, moved);
    float *self = &room->position[0][selves->place + slot - selves->begin];
    const float kept = *self;
    *self = INFINITY;
    const int64_t found = find(room, count, at, moved);
    *self = kept;
    return found;
}

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    const struct selves selves = find_selves(candidates, begin, end, moved);
    const REAL scale = (REAL)candidates->scale;
    int64_t pairs = 0;
    VREAL origin[3];
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        origin[c] = law_all(((const REAL *)targets->position[c])[begin]);
    const int64_t count = gather_block(candidates, origin, moved);
    for (int64_t slot = begin; slot < end; slot++) {
        struct reduced reduced;
        struct sums_pair pair;
        struct target target;
        vfloat at[3];
        begin_target(targets, slot, &target, &pair, &reduced);
        for (int c = 0; c < SUMS_DIMENSIONS; c++)
            at[c] = simd_all((float)((target.at[c][0] - origin[c][0]) * scale));
        const int64_t found = find_others(candidates->room, count, at, &selves, slot, moved);
        pairs += add_found(law, limit, candidates, found, &target, moved, &pair, &reduced);
        join_target(targets, slot, &reduced);
    }
    return pairs;
}

#endif

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
