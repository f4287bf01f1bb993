/* The kernels for small systems of one instruction set and real type. */

#include "pairs/small_kernel.h"

#include <math.h>

#include "core/real.h"
#include "pairs/lanes.h"

enum { part_pairs = 64 };

/* Where no point is a partner, and its square is a float. */
static const float far_away = 1e18f;

/* The i and j of some targets' rows: these follow each other. */
static void write_indices(const struct pairs_small_system *system, int64_t begin, int64_t end,
                          const int32_t *found, const struct pairs_columns *columns)
{
    const int64_t *offsets = columns->offsets + system->targets.first;
    const int64_t at = offsets[begin], count = offsets[end] - at;
    const int64_t first_i = system->targets.first, first_j = system->points.first;
    if (columns->j && columns->narrow) {
        int32_t *restrict to = (int32_t *)columns->j + at;
        for (int64_t p = 0; p < count; p++)
            to[p] = found[p] + (int32_t)first_j;
    } else if (columns->j) {
        int64_t *restrict to = (int64_t *)columns->j + at;
        for (int64_t p = 0; p < count; p++)
            to[p] = found[p] + first_j;
    }
    if (!columns->i)
        return;
    for (int64_t i = begin; i < end; i++)
        for (int64_t p = offsets[i]; p < offsets[i + 1]; p++)
            if (columns->narrow)
                ((int32_t *)columns->i)[p] = (int32_t)(first_i + i);
            else
                ((int64_t *)columns->i)[p] = first_i + i;
}

#define ROOT        OF_REAL(ROOT)
#define ROOT_double sqrt
#define ROOT_float  sqrtf
#define SIGN        OF_REAL(SIGN)
#define SIGN_double INT64_MIN
#define SIGN_float  INT32_MIN

/* Wraps a coordinate along a periodic axis of a box, as pairs_wrap does. False if it is too far. */
SIMD_INLINE bool wrap_along(const struct pairs_lattice *box, int k, double *x, int32_t *n)
{
    const double inverse = box->inverse[k][k], period = box->basis[k][k];
    const double first = floor(*x * inverse);
    *x = *x - first * period;
    const double second = floor(*x * inverse);
    *x = *x - second * period;
    if (!(fabs(first) < PAIRS_MOST_CELLS_AWAY))
        return false;
    *n = (int32_t)first + (int32_t)second;
    return true;
}

SIMD_INLINE bool wrap_rows(kith_array rows, double per_unit, const struct pairs_lattice *box,
                           const struct pairs_small_set *set, struct pairs_small_bounds *bounds,
                           int dimensions)
{
    const int64_t row_stride = rows.strides[0], column_stride = rows.strides[1];
    const REAL *at = (const REAL *)rows.data + set->first * row_stride;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t row = 0; row < set->count; row++, at += row_stride) {
        double sum = 0;
        for (int k = 0; k < dimensions; k++) {
            double x = (double)at[k * column_stride] * per_unit;
            int32_t n = 0;
            sum += x;
            if (box->periodic[k] && !wrap_along(box, k, &x, &n))
                return false;
            const REAL rounded = (REAL)x;
            low[k] = rounded < low[k] ? rounded : low[k];
            high[k] = rounded > high[k] ? rounded : high[k];
            ((REAL *)set->position[k])[row] = rounded;
            if (set->wraps)
                set->wraps[3 * row + k] = n;
        }
        if (!isfinite(sum))
            return false;
    }
    for (int k = 0; k < dimensions; k++) {
        bounds->low[k] = fmin(bounds->low[k], low[k]);
        bounds->high[k] = fmax(bounds->high[k], high[k]);
    }
    return true;
}

static bool wrap(kith_array rows, double per_unit, const struct pairs_lattice *box,
                 const struct pairs_small_set *set, struct pairs_small_bounds *bounds)
{
    return rows.shape[1] == 3 ? wrap_rows(rows, per_unit, box, set, bounds, 3)
                              : wrap_rows(rows, per_unit, box, set, bounds, 2);
}

static void center(const struct pairs_small_set *set, int32_t dimensions, const double middle[3])
{
    for (int32_t k = 0; k < dimensions; k++) {
        const REAL *restrict from = set->position[k];
        float *restrict to = set->near[k];
        for (int64_t row = 0; row < set->count; row++)
            to[row] = (float)((double)from[row] - middle[k]);
        for (int64_t row = set->count; row < set->count + pairs_small_behind; row++)
            to[row] = far_away;
    }
}

/* The difference at the nearest image: what is added along a periodic axis, or 0. */
SIMD_INLINE REAL translation(REAL difference, REAL period)
{
    const REAL size = difference < 0 ? -difference : difference;
    if (!(period - size < size))
        return 0;
    return difference > 0 ? -period : period;
}

/* Whether target i and point j are a pair (geometry.h). */
static bool is_pair(const struct pairs_small_system *system, int64_t i, int64_t j)
{
    REAL r2 = 0;
    for (int32_t k = 0; k < system->dimensions; k++) {
        REAL d = ((const REAL *)system->points.position[k])[j] -
                 ((const REAL *)system->targets.position[k])[i];
        d = d + translation(d, (REAL)system->period[k]);
        r2 = k == 0 ? d * d : r2 + d * d;
    }
    return r2 < (REAL)system->limit;
}

/* Some pairs of a row, before they are stored. */
struct part {
    REAL d[3][part_pairs + REAL_LANES], moved[3][part_pairs + REAL_LANES],
        r2[part_pairs + REAL_LANES];
};

SIMD_INLINE void measure_part(const struct pairs_small_system *system, int64_t i,
                              const int32_t *found, int64_t count, struct part *part,
                              int32_t dimensions, bool periodic)
{
    for (int64_t p = 0; p < count; p += REAL_LANES) {
        int32_t numbers[REAL_LANES] = {0};
        const int64_t left = count - p < REAL_LANES ? count - p : REAL_LANES;
        memcpy(numbers, found + p, (size_t)left * sizeof *numbers);
        OF_REAL(vindex) at;
        memcpy(&at, numbers, sizeof at);
        VREAL r2 = {0};
        for (int32_t k = 0; k < dimensions; k++) {
            const REAL own = ((const REAL *)system->targets.position[k])[i];
            VREAL d = OF_REAL(lanes_at)(system->points.position[k], at) - simd_all(own);
            if (periodic) {
                const VREAL period = simd_all((REAL)system->period[k]);
                const VREAL size = (VREAL)((VMASK)d & ~SIGN);
                const VMASK other = (VMASK)(period - size < size);
                const VMASK opposite = ~(VMASK)d & SIGN;
                const VREAL moved = (VREAL)(((VMASK)period | opposite) & other);
                d = d + moved;
                simd_store(part->moved[k] + p, moved);
            }
            simd_store(part->d[k] + p, d);
            r2 = k == 0 ? d * d : r2 + d * d;
        }
        simd_store(part->r2 + p, r2);
    }
}

/* S = T − n_j + n_i, where T is of the sign of what was added, or of the opposite one. */
static void put_shifts(const struct pairs_small_system *system, int64_t i, const int32_t *found,
                       int64_t count, const struct part *part, int32_t *to)
{
    const int32_t dimensions = system->dimensions;
    const int32_t *of_points = system->points.wraps, *of_targets = system->targets.wraps;
    for (int32_t k = 0; k < dimensions; k++) {
        const int32_t forward = system->lattice->basis[k][k] > 0 ? 1 : -1;
        const int32_t own = of_targets ? of_targets[3 * i + k] : 0;
        for (int64_t p = 0; p < count; p++) {
            const REAL moved = system->periodic ? part->moved[k][p] : 0;
            const int32_t image = ((moved > 0) - (moved < 0)) * forward;
            to[p * dimensions + k] = image + own - (of_points ? of_points[3 * found[p] + k] : 0);
        }
    }
}

SIMD_INLINE void put_part(const struct pairs_small_system *system, int64_t i, const int32_t *found,
                          int64_t count, int64_t begin, const struct part *part,
                          const struct pairs_columns *columns, int32_t dimensions)
{
    const REAL unit = (REAL)columns->unit;
    REAL *restrict vectors = columns->vectors, *restrict distances = columns->distances;
    if (columns->shifts)
        put_shifts(system, i, found, count, part, columns->shifts + begin * dimensions);
    for (int64_t p = 0; vectors && p < count; p++)
        for (int32_t k = 0; k < dimensions; k++)
            vectors[(begin + p) * dimensions + k] = part->d[k][p] * unit;
    for (int64_t p = 0; distances && p < count; p++)
        distances[begin + p] = ROOT(part->r2[p]) * unit;
}

SIMD_INLINE void put_row(const struct pairs_small_system *system, int64_t i, const int32_t *found,
                         int64_t count, int64_t begin, const struct pairs_columns *columns,
                         int32_t dimensions, bool periodic)
{
    struct part part;
    for (int64_t p = 0; p < count; p += part_pairs) {
        const int64_t pairs = count - p < part_pairs ? count - p : part_pairs;
        measure_part(system, i, found + p, pairs, &part, dimensions, periodic);
        put_part(system, i, found + p, pairs, begin + p, &part, columns, dimensions);
    }
}

static void write(const struct pairs_small_system *system, int64_t begin, int64_t end,
                  const int32_t *found, const struct pairs_columns *columns)
{
    const int64_t *offsets = columns->offsets + system->targets.first;
    write_indices(system, begin, end, found, columns);
    if (!columns->shifts && !columns->vectors && !columns->distances)
        return;
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = offsets[i], count = offsets[i + 1] - at;
        const int32_t *row = found + (at - offsets[begin]);
        if (system->dimensions == 3 && system->periodic)
            put_row(system, i, row, count, at, columns, 3, true);
        else if (system->dimensions == 3)
            put_row(system, i, row, count, at, columns, 3, false);
        else if (system->periodic)
            put_row(system, i, row, count, at, columns, 2, true);
        else
            put_row(system, i, row, count, at, columns, 2, false);
    }
}

/* The screen, and what is in its registers. */
struct screen {
    const float *near[3];
    vfloat period[3], inside, outside;
    vindex_float lane_numbers;
};

static struct screen screen_of(const struct pairs_small_system *system)
{
    struct screen screen = {.inside = simd_all(system->inside),
                            .outside = simd_all(system->outside)};
    for (int k = 0; k < 3; k++) {
        screen.near[k] = system->points.near[k];
        screen.period[k] = simd_all((float)system->period[k]);
    }
    for (int k = 0; k < LANES_FLOAT; k++)
        screen.lane_numbers[k] = k;
    return screen;
}

/* Along a periodic axis the nearer of two images. */
SIMD_INLINE vfloat screened_r2(const struct screen *screen, const vfloat own[3], int64_t p,
                               int32_t dimensions, bool periodic)
{
    vfloat r2 = {0};
    for (int32_t k = 0; k < dimensions; k++) {
        vfloat d = simd_load(screen->near[k] + p) - own[k];
        if (periodic) {
            d = (vfloat)((vint32)d & INT32_MAX);
            d = simd_least(d, screen->period[k] - d);
        }
        r2 = k == 0 ? d * d : simd_fma(d, d, r2);
    }
    return r2;
}

/* Which of the lanes in doubt are pairs. */
static uint32_t judge(const struct pairs_small_system *system, int64_t i, int64_t p, uint32_t doubt)
{
    uint32_t pairs = 0;
    for (; doubt; doubt &= doubt - 1) {
        const int lane = __builtin_ctz(doubt);
        pairs |= (is_pair(system, i, p + lane) ? 1U : 0U) << lane;
    }
    return pairs;
}

/* A target is no partner of its own, and in a half list none comes before it: of the vector that it
 * is in, some lanes are left out, and the vectors before may be. */
SIMD_INLINE int64_t find_row(const struct pairs_small_system *system, const struct screen *screen,
                             int64_t i, int32_t *found, int32_t dimensions, bool periodic)
{
    const int64_t own_vector = system->two_sets ? -1 : i / LANES_FLOAT * LANES_FLOAT;
    const uint32_t own_lane = 1U << (i % LANES_FLOAT);
    const uint32_t admitted = system->half ? ~(2 * own_lane - 1) : ~own_lane;
    vfloat own[3] = {{0}};
    for (int32_t k = 0; k < dimensions; k++)
        own[k] = simd_all(system->targets.near[k][i]);
    int64_t count = 0;
    for (int64_t p = system->half ? own_vector : 0; p < system->points.count; p += LANES_FLOAT) {
        const vfloat r2 = screened_r2(screen, own, p, dimensions, periodic);
        uint32_t pairs = lanes_below_float(r2, screen->inside);
        const uint32_t near = lanes_below_float(r2, screen->outside);
        if (near != pairs)
            pairs |= judge(system, i, p, near & ~pairs);
        pairs &= p == own_vector ? admitted : ~0U;
        if (found)
            lanes_store_chosen_float(found + count, (int32_t)p + screen->lane_numbers, pairs);
        count += __builtin_popcount(pairs);
    }
    return count;
}

SIMD_INLINE int64_t find_rows(const struct pairs_small_system *system, int64_t begin, int64_t end,
                              int32_t *found, int64_t *counts, int32_t dimensions, bool periodic)
{
    const struct screen screen = screen_of(system);
    int64_t all = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t count = found
                                  ? find_row(system, &screen, i, found + all, dimensions, periodic)
                                  : find_row(system, &screen, i, NULL, dimensions, periodic);
        counts[i - begin] = count;
        all += count;
    }
    return all;
}

static int64_t find(const struct pairs_small_system *system, int64_t begin, int64_t end,
                    int32_t *found, int64_t *counts)
{
    if (system->dimensions == 3)
        return system->periodic ? find_rows(system, begin, end, found, counts, 3, true)
                                : find_rows(system, begin, end, found, counts, 3, false);
    return system->periodic ? find_rows(system, begin, end, found, counts, 2, true)
                            : find_rows(system, begin, end, found, counts, 2, false);
}

const struct pairs_small_kernels KITH_REAL_SYMBOL(pairs_small) = {wrap, center, find, write};
