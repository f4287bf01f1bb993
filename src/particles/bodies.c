#include "particles/bodies.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"

const struct bodies_column bodies_columns[bodies_column_count] = {
    {"position", 0, true, true, offsetof(kith_bodies, position), sizeof(double)},
    {"velocity", KITH_VELOCITY, true, true, offsetof(kith_bodies, velocity), sizeof(double)},
    {"mass", KITH_MASS, true, false, offsetof(kith_bodies, mass), sizeof(double)},
    {"charge", KITH_CHARGE, true, false, offsetof(kith_bodies, charge), sizeof(double)},
    {"softening", KITH_SOFTENING, true, false, offsetof(kith_bodies, softening), sizeof(double)},
    {"radius", KITH_RADIUS, true, false, offsetof(kith_bodies, radius), sizeof(double)},
    {"epsilon", KITH_EPSILON, true, false, offsetof(kith_bodies, epsilon), sizeof(double)},
    {"sigma", KITH_SIGMA, true, false, offsetof(kith_bodies, sigma), sizeof(double)},
    {"id", KITH_ID, false, false, offsetof(kith_bodies, id), sizeof(int64_t)},
    {"name", KITH_NAME, false, false, offsetof(kith_bodies, name), sizeof(kith_name)},
};

/* The columns' pointers have different types: they are copied as bytes. */
void *bodies_column(const kith_bodies *bodies, const struct bodies_column *column)
{
    void *memory = NULL;
    memcpy(&memory, (const char *)bodies + column->offset, sizeof memory);
    return memory;
}

void bodies_set_column(kith_bodies *bodies, const struct bodies_column *column, void *memory)
{
    memcpy((char *)bodies + column->offset, &memory, sizeof memory);
}

int64_t bodies_row_bytes(const kith_bodies *bodies, const struct bodies_column *column)
{
    return column->is_vector ? bodies->dimensions * column->bytes : column->bytes;
}

kith_status kith_bodies_add_columns(kith_bodies *bodies, unsigned wanted)
{
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    for (int32_t k = 0; k < bodies_column_count; k++) {
        const struct bodies_column *column = &bodies_columns[k];
        if (!(wanted & column->flag) || bodies_column(bodies, column))
            continue;
        void *memory = NULL;
        KITH_TRY(
            kith_allocate(bodies->count, bodies_row_bytes(bodies, column), column->name, &memory));
        bodies_set_column(bodies, column, memory);
    }
    return KITH_OK;
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

static kith_status resize_column(kith_bodies *bodies, const struct bodies_column *column,
                                 int64_t count)
{
    void *memory = bodies_column(bodies, column);
    if (!memory)
        return KITH_OK;
    KITH_TRY(resize_memory(bodies, column->name, bodies_row_bytes(bodies, column), count, &memory));
    bodies_set_column(bodies, column, memory);
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
    for (int32_t k = 0; k < bodies_column_count && count != bodies->count; k++)
        KITH_TRY(resize_column(bodies, &bodies_columns[k], count));
    for (int32_t k = 0; k < bodies->other_count && count != bodies->count; k++)
        KITH_TRY(resize_other(bodies, &bodies->other[k], count));
    bodies->count = count;
    return KITH_OK;
}

void kith_bodies_free(kith_bodies *bodies)
{
    for (int32_t k = 0; bodies && k < bodies_column_count; k++)
        free(bodies_column(bodies, &bodies_columns[k]));
    for (int32_t k = 0; bodies && k < bodies->other_count; k++)
        free(bodies->other[k].values);
    free(bodies);
}

unsigned kith_bodies_columns(const kith_bodies *bodies)
{
    unsigned flags = 0;
    for (int32_t k = 0; k < bodies_column_count; k++)
        if (bodies_column(bodies, &bodies_columns[k]))
            flags |= bodies_columns[k].flag;
    return flags;
}

kith_status bodies_make_like(const kith_bodies *like, int64_t count, kith_bodies **bodies)
{
    KITH_TRY(kith_bodies_create(count, like->dimensions, kith_bodies_columns(like), bodies));
    bodies_take_frame(like, *bodies);
    return KITH_OK;
}

kith_status bodies_copy(const kith_bodies *bodies, kith_bodies **copy)
{
    KITH_TRY(bodies_make_like(bodies, bodies->count, copy));
    bodies_put_rows(bodies, 0, *copy);
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
    for (int32_t k = 0; k < bodies_column_count; k++) {
        char *memory = bodies_column(bodies, &bodies_columns[k]);
        if (memory)
            bodies_set_column(&rows, &bodies_columns[k],
                              memory + first * bodies_row_bytes(bodies, &bodies_columns[k]));
    }
    return rows;
}

void bodies_put_rows(const kith_bodies *bodies, int64_t first, kith_bodies *rows)
{
    for (int32_t k = 0; k < bodies_column_count; k++) {
        const int64_t bytes = bodies_row_bytes(bodies, &bodies_columns[k]);
        const char *from = bodies_column(bodies, &bodies_columns[k]);
        void *to = bodies_column(rows, &bodies_columns[k]);
        if (from && to && rows->count > 0)
            memcpy(to, from + first * bytes, (size_t)(rows->count * bytes));
    }
}
