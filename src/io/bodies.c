#include "io/bodies.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "io/units.h"

enum column_kind { real_scalar, real_vector, other };

static const struct column {
    const char *name;
    unsigned flag; /* 0: every set of bodies has it */
    enum column_kind kind;
    size_t offset; /* of the pointer in kith_bodies */
    int64_t bytes; /* of one element */
} columns[] = {
    {"position", 0, real_vector, offsetof(kith_bodies, position), sizeof(double)},
    {"velocity", KITH_VELOCITY, real_vector, offsetof(kith_bodies, velocity), sizeof(double)},
    {"mass", KITH_MASS, real_scalar, offsetof(kith_bodies, mass), sizeof(double)},
    {"charge", KITH_CHARGE, real_scalar, offsetof(kith_bodies, charge), sizeof(double)},
    {"softening", KITH_SOFTENING, real_scalar, offsetof(kith_bodies, softening), sizeof(double)},
    {"radius", KITH_RADIUS, real_scalar, offsetof(kith_bodies, radius), sizeof(double)},
    {"epsilon", KITH_EPSILON, real_scalar, offsetof(kith_bodies, epsilon), sizeof(double)},
    {"sigma", KITH_SIGMA, real_scalar, offsetof(kith_bodies, sigma), sizeof(double)},
    {"id", KITH_ID, other, offsetof(kith_bodies, id), sizeof(int64_t)},
    {"name", KITH_NAME, other, offsetof(kith_bodies, name), sizeof(kith_name)},
};

enum { column_count = sizeof columns / sizeof columns[0] };

/* The columns' pointers have different types: they are copied as bytes. */
static void *get_column(const kith_bodies *bodies, const struct column *column)
{
    void *memory = NULL;
    memcpy(&memory, (const char *)bodies + column->offset, sizeof memory);
    return memory;
}

static void set_column(kith_bodies *bodies, const struct column *column, void *memory)
{
    memcpy((char *)bodies + column->offset, &memory, sizeof memory);
}

static int64_t bytes_of_row(const kith_bodies *bodies, const struct column *column)
{
    return column->kind == real_vector ? bodies->dimensions * column->bytes : column->bytes;
}

kith_status kith_bodies_add_columns(kith_bodies *bodies, unsigned wanted)
{
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    for (int32_t k = 0; k < column_count; k++) {
        const struct column *column = &columns[k];
        if (!(wanted & column->flag) || get_column(bodies, column))
            continue;
        void *memory = NULL;
        KITH_TRY(kith_allocate(bodies->count, bytes_of_row(bodies, column), column->name, &memory));
        set_column(bodies, column, memory);
    }
    return KITH_OK;
}

int32_t bodies_find_name(const char *const *names, const char *name)
{
    for (int32_t k = 0; names && k < KITH_MAX_OTHER_COLUMNS && names[k]; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

kith_status kith_bodies_add_other(kith_bodies *bodies, const char *name)
{
    kith_other_column *column = &bodies->other[bodies->other_count];
    KITH_TRY(kith_allocate(bodies->count, sizeof(double), name, &column->values));
    snprintf(column->name, KITH_NAME_BYTES, "%s", name);
    bodies->other_count++;
    return KITH_OK;
}

kith_status kith_bodies_create(int64_t count, int32_t dimensions, unsigned wanted,
                               kith_bodies **bodies)
{
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    *bodies = NULL;
    if (count < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "count is %lld; give a number of bodies ≥ 0",
                         (long long)count);
    if (dimensions != 2 && dimensions != 3)
        return kith_fail(KITH_INVALID_ARGUMENT, "dimensions is %d; give 2 or 3", (int)dimensions);

    kith_bodies *created = NULL;
    KITH_TRY(kith_allocate(1, sizeof *created, "bodies", &created));
    created->count = count;
    created->dimensions = dimensions;
    kith_status status =
        kith_allocate(count, dimensions * (int64_t)sizeof(double), "position", &created->position);
    if (status == KITH_OK)
        status = kith_bodies_add_columns(created, wanted);
    if (status != KITH_OK) {
        kith_bodies_free(created);
        return status;
    }
    *bodies = created;
    return KITH_OK;
}

/* The same numbers in memory for another count of rows. */
static kith_status resize_memory(const kith_bodies *bodies, const char *name, int64_t row,
                                 int64_t count, void **memory)
{
    void *resized = NULL;
    KITH_TRY(kith_allocate(count, row, name, &resized));
    const int64_t kept = count < bodies->count ? count : bodies->count;
    if (kept > 0)
        memcpy(resized, *memory, (size_t)(kept * row));
    free(*memory);
    *memory = resized;
    return KITH_OK;
}

static kith_status resize_column(kith_bodies *bodies, const struct column *column, int64_t count)
{
    void *memory = get_column(bodies, column);
    if (!memory)
        return KITH_OK;
    KITH_TRY(resize_memory(bodies, column->name, bytes_of_row(bodies, column), count, &memory));
    set_column(bodies, column, memory);
    return KITH_OK;
}

static kith_status resize_other(kith_bodies *bodies, kith_other_column *column, int64_t count)
{
    void *memory = column->values;
    KITH_TRY(resize_memory(bodies, column->name, sizeof(double), count, &memory));
    column->values = memory;
    return KITH_OK;
}

kith_status kith_bodies_resize(kith_bodies *bodies, int64_t count)
{
    for (int32_t k = 0; k < column_count && count != bodies->count; k++)
        KITH_TRY(resize_column(bodies, &columns[k], count));
    for (int32_t k = 0; k < bodies->other_count && count != bodies->count; k++)
        KITH_TRY(resize_other(bodies, &bodies->other[k], count));
    bodies->count = count;
    return KITH_OK;
}

void kith_bodies_free(kith_bodies *bodies)
{
    for (int32_t k = 0; bodies && k < column_count; k++)
        free(get_column(bodies, &columns[k]));
    for (int32_t k = 0; bodies && k < bodies->other_count; k++)
        free(bodies->other[k].values);
    free(bodies);
}

unsigned kith_bodies_columns(const kith_bodies *bodies)
{
    unsigned flags = 0;
    for (int32_t k = 0; k < column_count; k++)
        if (get_column(bodies, &columns[k]))
            flags |= columns[k].flag;
    return flags;
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
        for (int32_t k = 0; k < column_count; k++)
            move_row(get_column(bodies, &columns[k]), bytes_of_row(bodies, &columns[k]), row, left);
        for (int32_t k = 0; k < bodies->other_count; k++)
            move_row((char *)bodies->other[k].values, sizeof(double), row, left);
        left++;
    }
    return kith_bodies_resize(bodies, left);
}

kith_status bodies_copy(const kith_bodies *bodies, kith_bodies **copy)
{
    KITH_TRY(
        kith_bodies_create(bodies->count, bodies->dimensions, kith_bodies_columns(bodies), copy));
    for (int32_t k = 0; k < column_count && bodies->count > 0; k++)
        if (get_column(bodies, &columns[k]))
            memcpy(get_column(*copy, &columns[k]), get_column(bodies, &columns[k]),
                   (size_t)(bodies->count * bytes_of_row(bodies, &columns[k])));
    bodies_take_frame(bodies, *copy);
    return KITH_OK;
}

void bodies_take_frame(const kith_bodies *from, kith_bodies *to)
{
    to->time = from->time;
    to->has_cell = from->has_cell;
    memcpy(to->cell, from->cell, sizeof from->cell);
    memcpy(to->periodic, from->periodic, sizeof from->periodic);
    to->units = from->units;
}

kith_bodies bodies_rows(const kith_bodies *bodies, int64_t first, int64_t count)
{
    kith_bodies rows = *bodies;
    rows.count = count;
    rows.other_count = 0;
    for (int32_t k = 0; k < column_count; k++) {
        char *memory = get_column(bodies, &columns[k]);
        if (memory)
            set_column(&rows, &columns[k], memory + first * bytes_of_row(bodies, &columns[k]));
    }
    return rows;
}

void bodies_put_rows(const kith_bodies *bodies, int64_t first, kith_bodies *rows)
{
    for (int32_t k = 0; k < column_count; k++) {
        const int64_t bytes = bytes_of_row(bodies, &columns[k]);
        const char *from = get_column(bodies, &columns[k]);
        void *to = get_column(rows, &columns[k]);
        if (from && to && rows->count > 0)
            memcpy(to, from + first * bytes, (size_t)(rows->count * bytes));
    }
}

static kith_status check_column(const kith_bodies *bodies, const struct column *column,
                                bool of_left)
{
    const double *value = get_column(bodies, column);
    const int32_t width = column->kind == real_vector ? bodies->dimensions : 1;
    for (int64_t k = 0; value && k < bodies->count * width; k++)
        if (!isfinite(value[k]) && !(of_left && bodies_is_removed(bodies, k / width)))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s of body %lld (from 0) is %g; every number must be finite",
                             column->name, (long long)(k / width), value[k]);
    return KITH_OK;
}

static kith_status check_least(const char *name, const char *what, const double *numbers,
                               int64_t count)
{
    for (int64_t i = 0; numbers && i < count; i++)
        if (numbers[i] < 0)
            return kith_fail(KITH_INVALID_ARGUMENT, "%s of body %lld (from 0) is %g; give %s ≥ 0",
                             name, (long long)i, numbers[i], what);
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

static kith_status check(const kith_bodies *bodies, bool of_left)
{
    KITH_TRY(check_shape(bodies));
    for (int32_t k = 0; k < column_count; k++)
        if (columns[k].kind != other)
            KITH_TRY(check_column(bodies, &columns[k], of_left));
    KITH_TRY(check_least("softening", "a length", bodies->softening, bodies->count));
    KITH_TRY(check_least("radius", "a length", bodies->radius, bodies->count));
    KITH_TRY(check_least("epsilon", "an energy", bodies->epsilon, bodies->count));
    KITH_TRY(check_least("sigma", "a length", bodies->sigma, bodies->count));
    if (!isfinite(bodies->time))
        return kith_fail(KITH_INVALID_ARGUMENT, "time is %g; give a finite number", bodies->time);
    KITH_TRY(units_check(&bodies->units));
    return check_cell(bodies);
}

kith_status kith_bodies_check(const kith_bodies *bodies)
{
    return check(bodies, false);
}

kith_status bodies_check_left(const kith_bodies *bodies)
{
    return check(bodies, true);
}
