#include "io/bodies.h"

#include <math.h>
#include <string.h>

#include "io/units.h"

int32_t bodies_find_name(const char *const *names, const char *name)
{
    for (int32_t k = 0; names && k < KITH_MAX_OTHER_COLUMNS && names[k]; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

bool bodies_is_removed(const kith_bodies *bodies, int64_t row)
{
    for (int32_t k = 0; k < bodies->dimensions; k++)
        if (!isnan(bodies->position[row * bodies->dimensions + k]))
            return false;
    return true;
}

static void move_row(char *memory, int64_t bytes, int64_t from, int64_t to)
{
    if (memory && from != to)
        memcpy(memory + to * bytes, memory + from * bytes, (size_t)bytes);
}

kith_status bodies_drop_removed(kith_bodies *bodies)
{
    int64_t left = 0;
    for (int64_t row = 0; row < bodies->count; row++) {
        if (bodies_is_removed(bodies, row))
            continue;
        for (int32_t k = 0; k < bodies_column_count; k++)
            move_row(bodies_column(bodies, &bodies_columns[k]),
                     bodies_row_bytes(bodies, &bodies_columns[k]), row, left);
        for (int32_t k = 0; k < bodies->other_count; k++)
            move_row((char *)bodies->other[k].values, sizeof(double), row, left);
        left++;
    }
    return kith_bodies_resize(bodies, left);
}

static kith_status check_column(const kith_bodies *bodies, const struct bodies_column *column,
                                int64_t first, bool of_left)
{
    const double *value = bodies_column(bodies, column);
    const int32_t width = column->is_vector ? bodies->dimensions : 1;
    for (int64_t k = 0; value && k < bodies->count * width; k++)
        if (!isfinite(value[k]) && !(of_left && bodies_is_removed(bodies, k / width)))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s of body %lld (from 0) is %g; every number must be finite",
                             column->name, (long long)(first + k / width), value[k]);
    return KITH_OK;
}

static kith_status check_least(const char *name, const char *what, const kith_bodies *bodies,
                               const double *numbers, int64_t first)
{
    for (int64_t i = 0; numbers && i < bodies->count; i++)
        if (numbers[i] < 0)
            return kith_fail(KITH_INVALID_ARGUMENT, "%s of body %lld (from 0) is %g; give %s ≥ 0",
                             name, (long long)(first + i), numbers[i], what);
    return KITH_OK;
}

static kith_status check_cell(const kith_bodies *bodies)
{
    for (int32_t k = 0; bodies->has_cell && k < 9; k++)
        if (!isfinite(bodies->cell[k]))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "component %d of cell vector %d (from 0) is %g; give a finite number",
                             (int)k % 3, (int)k / 3, bodies->cell[k]);
    return KITH_OK;
}

/* Bodies may be filled in by hand: every room relies on these. */
static kith_status check_shape(const kith_bodies *bodies)
{
    if (!bodies)
        return kith_fail(KITH_INVALID_ARGUMENT, "bodies is NULL; give bodies");
    if (bodies->count < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "count is %lld; give a number of bodies ≥ 0",
                         (long long)bodies->count);
    if (bodies->dimensions != 2 && bodies->dimensions != 3)
        return kith_fail(KITH_INVALID_ARGUMENT, "dimensions is %d; give 2 or 3",
                         (int)bodies->dimensions);
    if (!bodies->position && bodies->count > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "position is NULL, but there are %lld bodies",
                         (long long)bodies->count);
    return KITH_OK;
}

static kith_status check(const kith_bodies *bodies, int64_t first, bool of_left)
{
    KITH_TRY(check_shape(bodies));
    for (int32_t k = 0; k < bodies_column_count; k++)
        if (bodies_columns[k].is_real)
            KITH_TRY(check_column(bodies, &bodies_columns[k], first, of_left));
    KITH_TRY(check_least("softening", "a length", bodies, bodies->softening, first));
    KITH_TRY(check_least("radius", "a length", bodies, bodies->radius, first));
    KITH_TRY(check_least("epsilon", "an energy", bodies, bodies->epsilon, first));
    KITH_TRY(check_least("sigma", "a length", bodies, bodies->sigma, first));
    if (!isfinite(bodies->time))
        return kith_fail(KITH_INVALID_ARGUMENT, "time is %g; give a finite number", bodies->time);
    KITH_TRY(units_check(&bodies->units));
    return check_cell(bodies);
}

kith_status kith_bodies_check(const kith_bodies *bodies)
{
    return check(bodies, 0, false);
}

kith_status bodies_check_left(const kith_bodies *bodies)
{
    return check(bodies, 0, true);
}

kith_status bodies_check_rows(const kith_bodies *rows, int64_t first)
{
    return check(rows, first, false);
}
