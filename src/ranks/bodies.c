/* Bodies and other memory that one rank has read and all need. */

#include "ranks/bodies.h"

#include <stddef.h>
#include <string.h>

#include "core/memory.h"

kith_status ranks_share_memory(kith_context *context, const char *what, int64_t bytes, void *memory)
{
    kith_status status = KITH_OK;
    if (!context->ranks)
        return KITH_OK;
    if (!ranks_are_first(context))
        status = kith_allocate(bytes, 1, what, memory);
    KITH_TRY(ranks_agree(context, status));
    ranks_broadcast(context, *(void **)memory, bytes);
    return KITH_OK;
}

/* Every column besides the positions, and its bytes for a body; of a vector for a dimension. */
static const struct column {
    size_t member, bytes;
    unsigned bit;
    bool is_vector;
} each_column[] = {
    {offsetof(kith_bodies, velocity), sizeof(double), KITH_VELOCITY, true},
    {offsetof(kith_bodies, mass), sizeof(double), KITH_MASS, false},
    {offsetof(kith_bodies, charge), sizeof(double), KITH_CHARGE, false},
    {offsetof(kith_bodies, softening), sizeof(double), KITH_SOFTENING, false},
    {offsetof(kith_bodies, radius), sizeof(double), KITH_RADIUS, false},
    {offsetof(kith_bodies, epsilon), sizeof(double), KITH_EPSILON, false},
    {offsetof(kith_bodies, sigma), sizeof(double), KITH_SIGMA, false},
    {offsetof(kith_bodies, id), sizeof(int64_t), KITH_ID, false},
    {offsetof(kith_bodies, name), sizeof(kith_name), KITH_NAME, false},
};
enum { column_count = sizeof each_column / sizeof each_column[0] };

/* NULL: not given. */
static void *column_at(const kith_bodies *bodies, const struct column *column)
{
    void *values = NULL;
    memcpy(&values, (const char *)bodies + column->member, sizeof values);
    return values;
}

static unsigned columns_of(const kith_bodies *bodies)
{
    unsigned bits = 0;
    for (int k = 0; k < column_count; k++)
        bits |= column_at(bodies, &each_column[k]) ? each_column[k].bit : 0u;
    return bits;
}

/* Elsewhere: empty ones of the same shape, whose columns are still to come. */
static kith_status make_alike(const kith_bodies *shape, unsigned columns, kith_bodies **bodies)
{
    KITH_TRY(kith_bodies_create(shape->count, shape->dimensions, columns, bodies));
    kith_bodies *made = *bodies;
    made->time = shape->time;
    made->has_cell = shape->has_cell;
    made->units = shape->units;
    for (int32_t k = 0; k < 9; k++)
        made->cell[k] = shape->cell[k];
    for (int32_t k = 0; k < 3; k++)
        made->periodic[k] = shape->periodic[k];
    return KITH_OK;
}

static void broadcast_columns(const kith_context *context, kith_bodies *bodies)
{
    const int64_t n = bodies->count, vectors = n * bodies->dimensions;
    ranks_broadcast(context, bodies->position, vectors * (int64_t)sizeof *bodies->position);
    for (int k = 0; k < column_count; k++) {
        void *values = column_at(bodies, &each_column[k]);
        const int64_t numbers = each_column[k].is_vector ? vectors : n;
        if (values)
            ranks_broadcast(context, values, numbers * (int64_t)each_column[k].bytes);
    }
}

kith_status ranks_share_bodies(kith_context *context, kith_status status, kith_bodies **bodies)
{
    struct {
        kith_bodies shape; /* whose pointers mean nothing elsewhere */
        unsigned columns;
        bool are_there;
    } sent = {.are_there = *bodies != NULL};
    KITH_TRY(ranks_agree(context, status));
    if (!context->ranks)
        return KITH_OK;
    if (*bodies) {
        sent.shape = **bodies;
        sent.columns = columns_of(*bodies);
    }
    ranks_broadcast(context, &sent, sizeof sent);
    if (!sent.are_there)
        return KITH_OK;
    if (!ranks_are_first(context))
        status = make_alike(&sent.shape, sent.columns, bodies);
    KITH_TRY(ranks_agree(context, status));
    if (*bodies)
        broadcast_columns(context, *bodies);
    return KITH_OK;
}
