/* Small systems in their own precision, for REAL; included by small_kernel.c. */

/* Wraps a coordinate along a periodic axis of a box, as pairs_wrap does. False if it is too far. */
SIMD_INLINE bool NAME(wrap_along)(const struct pairs_lattice *box, int k, double *x, int32_t *n)
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

SIMD_INLINE bool NAME(wrap_rows)(kith_array rows, double per_unit, const struct pairs_lattice *box,
                                 const struct pairs_small_set *set,
                                 struct pairs_small_bounds *bounds, int dimensions)
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
            if (box->periodic[k] && !NAME(wrap_along)(box, k, &x, &n))
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

static bool NAME(wrap)(kith_array rows, double per_unit, const struct pairs_lattice *box,
                       const struct pairs_small_set *set, struct pairs_small_bounds *bounds)
{
    return rows.shape[1] == 3 ? NAME(wrap_rows)(rows, per_unit, box, set, bounds, 3)
                              : NAME(wrap_rows)(rows, per_unit, box, set, bounds, 2);
}

static void NAME(center)(const struct pairs_small_set *set, int32_t dimensions,
                         const double middle[3])
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
SIMD_INLINE REAL NAME(translation)(REAL difference, REAL period)
{
    const REAL size = difference < 0 ? -difference : difference;
    if (!(period - size < size))
        return 0;
    return difference > 0 ? -period : period;
}

/* Whether target i and point j are a pair (geometry.h). */
static bool NAME(is_pair)(const struct pairs_small_system *system, int64_t i, int64_t j)
{
    REAL r2 = 0;
    for (int32_t k = 0; k < system->dimensions; k++) {
        REAL d = ((const REAL *)system->points.position[k])[j] -
                 ((const REAL *)system->targets.position[k])[i];
        d = d + NAME(translation)(d, (REAL)system->period[k]);
        r2 = k == 0 ? d * d : r2 + d * d;
    }
    return r2 < (REAL)system->limit;
}

/* Some pairs of a row, before they are stored. */
struct NAME(part) {
    REAL d[3][part_pairs + LANES], moved[3][part_pairs + LANES], r2[part_pairs + LANES];
};

SIMD_INLINE void NAME(measure_part)(const struct pairs_small_system *system, int64_t i,
                                    const int32_t *found, int64_t count, struct NAME(part) * part,
                                    int32_t dimensions, bool periodic)
{
    for (int64_t p = 0; p < count; p += LANES) {
        int32_t numbers[LANES] = {0};
        const int64_t left = count - p < LANES ? count - p : LANES;
        memcpy(numbers, found + p, (size_t)left * sizeof *numbers);
        VINDEX at;
        memcpy(&at, numbers, sizeof at);
        VREAL r2 = {0};
        for (int32_t k = 0; k < dimensions; k++) {
            const REAL own = ((const REAL *)system->targets.position[k])[i];
            VREAL d = NAME(lanes_at)(system->points.position[k], at) - simd_all(own);
            if (periodic) {
                const VREAL period = simd_all((REAL)system->period[k]);
                const VREAL size = (VREAL)((VINT)d & ~SIGN_BIT);
                const VINT other = (VINT)(period - size < size);
                const VINT opposite = ~(VINT)d & SIGN_BIT;
                const VREAL moved = (VREAL)(((VINT)period | opposite) & other);
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
static void NAME(put_shifts)(const struct pairs_small_system *system, int64_t i,
                             const int32_t *found, int64_t count, const struct NAME(part) * part,
                             int32_t *to)
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

SIMD_INLINE void NAME(put_part)(const struct pairs_small_system *system, int64_t i,
                                const int32_t *found, int64_t count, int64_t begin,
                                const struct NAME(part) * part, const struct pairs_columns *columns,
                                int32_t dimensions)
{
    const REAL unit = (REAL)columns->unit;
    REAL *restrict vectors = columns->vectors, *restrict distances = columns->distances;
    if (columns->shifts)
        NAME(put_shifts)(system, i, found, count, part, columns->shifts + begin * dimensions);
    for (int64_t p = 0; vectors && p < count; p++)
        for (int32_t k = 0; k < dimensions; k++)
            vectors[(begin + p) * dimensions + k] = part->d[k][p] * unit;
    for (int64_t p = 0; distances && p < count; p++)
        distances[begin + p] = ROOT(part->r2[p]) * unit;
}

SIMD_INLINE void NAME(put_row)(const struct pairs_small_system *system, int64_t i,
                               const int32_t *found, int64_t count, int64_t begin,
                               const struct pairs_columns *columns, int32_t dimensions,
                               bool periodic)
{
    struct NAME(part) part;
    for (int64_t p = 0; p < count; p += part_pairs) {
        const int64_t pairs = count - p < part_pairs ? count - p : part_pairs;
        NAME(measure_part)(system, i, found + p, pairs, &part, dimensions, periodic);
        NAME(put_part)(system, i, found + p, pairs, begin + p, &part, columns, dimensions);
    }
}

static void NAME(write)(const struct pairs_small_system *system, int64_t begin, int64_t end,
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
            NAME(put_row)(system, i, row, count, at, columns, 3, true);
        else if (system->dimensions == 3)
            NAME(put_row)(system, i, row, count, at, columns, 3, false);
        else if (system->periodic)
            NAME(put_row)(system, i, row, count, at, columns, 2, true);
        else
            NAME(put_row)(system, i, row, count, at, columns, 2, false);
    }
}
