/* Bodies and other memory that one rank has read and all need. */

#include "ranks/bodies.h"

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

static unsigned columns_of(const kith_bodies *bodies)
{
    return (bodies->velocity ? KITH_VELOCITY : 0u) | (bodies->mass ? KITH_MASS : 0u) |
           (bodies->charge ? KITH_CHARGE : 0u) | (bodies->softening ? KITH_SOFTENING : 0u) |
           (bodies->id ? KITH_ID : 0u) | (bodies->name ? KITH_NAME : 0u);
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
    const int64_t n = bodies->count, vectors = n * bodies->dimensions, real = sizeof(double);
    const struct {
        void *column;
        int64_t bytes;
    } columns[] = {
        {bodies->position, vectors * real},
        {bodies->velocity, vectors * real},
        {bodies->mass, n * real},
        {bodies->charge, n * real},
        {bodies->softening, n * real},
        {bodies->id, n * (int64_t)sizeof *bodies->id},
        {bodies->name, n * (int64_t)sizeof *bodies->name},
    };
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        if (columns[k].column)
            ranks_broadcast(context, columns[k].column, columns[k].bytes);
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
