/* Bodies and other memory that pass between rank 0 and the others. */

#include "ranks/bodies.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ranks/partition.h"

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

enum { tag_of_rows = 4 };

/* A piece of memory, to another rank or from there. */
static void send_piece(const struct ranks *ranks, int32_t to, const void *memory, int64_t bytes)
{
    ranks->library->post_send(ranks->state, 0, to, tag_of_rows, memory, bytes);
    ranks->library->wait(ranks->state, 0);
}

static void receive_piece(const struct ranks *ranks, int32_t from, void *memory, int64_t bytes)
{
    ranks->library->post_receive(ranks->state, 0, from, tag_of_rows, memory, bytes);
    ranks->library->wait(ranks->state, 0);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

kith_status ranks_collect(kith_context *context, int64_t all, const void *own, int64_t row_bytes,
                          ranks_take_memory *take, void *argument)
{
    const struct ranks *ranks = context->ranks;
    void *piece = NULL;
    const kith_status status =
        ranks_agree(context, kith_allocate(ranks_rows_at_once, row_bytes, "rows of ranks", &piece));
    kith_status taken = KITH_OK;
    for (int32_t k = 0; k < ranks->size && status == KITH_OK; k++) {
        const int64_t first = ranks_first(all, ranks->size, k);
        const int64_t end = ranks_first(all, ranks->size, k + 1);
        for (int64_t at = first; at < end; at += ranks_rows_at_once) {
            const int64_t rows = least(end - at, ranks_rows_at_once);
            const char *mine = (const char *)own + (at - first) * row_bytes;
            if (k > 0 && k == ranks->rank)
                send_piece(ranks, 0, mine, rows * row_bytes);
            if (ranks->rank > 0)
                continue;
            if (k > 0)
                receive_piece(ranks, k, piece, rows * row_bytes);
            if (taken == KITH_OK)
                taken = take(argument, at, rows, k > 0 ? piece : mine);
        }
    }
    free(piece);
    return status == KITH_OK ? ranks_agree(context, taken) : status;
}

/* Some rows of bodies, in the memory of all. */
static kith_bodies rows_of(const kith_bodies *bodies, int64_t first, int64_t count)
{
    kith_bodies rows = *bodies;
    rows.count = count;
    rows.position += first * bodies->dimensions;
    for (int k = 0; k < column_count; k++) {
        const int64_t numbers = each_column[k].is_vector ? first * bodies->dimensions : first;
        char *column = column_at(bodies, &each_column[k]);
        if (column)
            column += numbers * (int64_t)each_column[k].bytes;
        memcpy((char *)&rows + each_column[k].member, &column, sizeof column);
    }
    return rows;
}

/* Each column of a piece, sent to another rank or received from there. */
static void pass_columns(const struct ranks *ranks, int32_t other, bool sends,
                         const kith_bodies *rows)
{
    const int64_t vectors = rows->count * rows->dimensions;
    for (int k = -1; k < column_count; k++) {
        const int64_t numbers = k < 0 || each_column[k].is_vector ? vectors : rows->count;
        const int64_t bytes = k < 0 ? (int64_t)sizeof(double) : (int64_t)each_column[k].bytes;
        void *column = k < 0 ? rows->position : column_at(rows, &each_column[k]);
        if (!column)
            continue;
        if (sends)
            send_piece(ranks, other, column, numbers * bytes);
        else
            receive_piece(ranks, other, column, numbers * bytes);
    }
}

kith_status ranks_collect_bodies(kith_context *context, int64_t all, const kith_bodies *own,
                                 ranks_take_rows *take, void *argument)
{
    const struct ranks *ranks = context->ranks;
    kith_bodies *piece = NULL;
    kith_bodies shape = *own;
    shape.count = ranks_rows_at_once;
    const kith_status status = ranks_agree(context, make_alike(&shape, columns_of(own), &piece));
    kith_status taken = KITH_OK;
    for (int32_t k = 0; k < ranks->size && status == KITH_OK && piece; k++) {
        const int64_t first = ranks_first(all, ranks->size, k);
        const int64_t end = ranks_first(all, ranks->size, k + 1);
        for (int64_t at = first; at < end; at += ranks_rows_at_once) {
            const int64_t rows = least(end - at, ranks_rows_at_once);
            const bool is_mine = k == ranks->rank;
            const kith_bodies some =
                is_mine ? rows_of(own, at - first, rows) : rows_of(piece, 0, rows);
            if (k > 0 && (is_mine || ranks->rank == 0))
                pass_columns(ranks, is_mine ? 0 : k, is_mine, &some);
            if (taken == KITH_OK && ranks->rank == 0)
                taken = take(argument, at, &some);
        }
    }
    kith_bodies_free(piece);
    return status == KITH_OK ? ranks_agree(context, taken) : status;
}

void ranks_rows(const kith_context *context, int64_t all, int64_t *first, int64_t *count)
{
    const struct ranks *ranks = context->ranks;
    *first = ranks ? ranks_first(all, ranks->size, ranks->rank) : 0;
    *count = ranks ? ranks_first(all, ranks->size, ranks->rank + 1) - *first : all;
}

kith_status ranks_deal(kith_context *context, int64_t all, void *own, int64_t row_bytes,
                       ranks_give_memory *give, void *argument)
{
    const struct ranks *ranks = context->ranks;
    void *piece = NULL;
    const kith_status status =
        ranks_agree(context, kith_allocate(ranks_rows_at_once, row_bytes, "rows of ranks", &piece));
    kith_status given = KITH_OK;
    for (int32_t k = 0; k < ranks->size && status == KITH_OK; k++) {
        const int64_t first = ranks_first(all, ranks->size, k);
        const int64_t end = ranks_first(all, ranks->size, k + 1);
        for (int64_t at = first; at < end; at += ranks_rows_at_once) {
            const int64_t rows = least(end - at, ranks_rows_at_once);
            void *to = k == ranks->rank ? (char *)own + (at - first) * row_bytes : piece;
            if (ranks->rank == 0 && given == KITH_OK)
                given = give(argument, at, rows, to);
            if (k > 0 && ranks->rank == 0)
                send_piece(ranks, k, to, rows * row_bytes);
            if (k > 0 && ranks->rank == k)
                receive_piece(ranks, 0, to, rows * row_bytes);
        }
    }
    free(piece);
    return status == KITH_OK ? ranks_agree(context, given) : status;
}

static kith_status deal_rows(kith_context *context, int64_t all, const kith_bodies *own,
                             kith_bodies *piece, ranks_give_rows *give, void *argument)
{
    const struct ranks *ranks = context->ranks;
    kith_status given = KITH_OK;
    for (int32_t k = 0; k < ranks->size; k++) {
        const int64_t first = ranks_first(all, ranks->size, k);
        const int64_t end = ranks_first(all, ranks->size, k + 1);
        for (int64_t at = first; at < end; at += ranks_rows_at_once) {
            const int64_t rows = least(end - at, ranks_rows_at_once);
            const bool is_mine = k == ranks->rank;
            kith_bodies some = is_mine ? rows_of(own, at - first, rows) : rows_of(piece, 0, rows);
            if (ranks->rank == 0 && given == KITH_OK)
                given = give(argument, &some);
            if (k > 0 && (is_mine || ranks->rank == 0))
                pass_columns(ranks, is_mine ? 0 : k, !is_mine, &some);
        }
    }
    return ranks_agree(context, given);
}

kith_status ranks_deal_bodies(kith_context *context, kith_status status, const kith_bodies *like,
                              int64_t count, ranks_give_rows *give, void *argument, int64_t *all,
                              kith_bodies **own)
{
    struct {
        kith_bodies shape; /* whose pointers mean nothing elsewhere */
        unsigned columns;
    } sent = {.columns = 0};
    kith_bodies *piece = NULL;
    int64_t first = 0;
    *own = NULL;
    KITH_TRY(ranks_agree(context, status));
    if (ranks_are_first(context)) {
        sent.shape = *like;
        sent.shape.count = count;
        sent.columns = columns_of(like);
    }
    ranks_broadcast(context, &sent, sizeof sent);
    *all = sent.shape.count;
    ranks_rows(context, *all, &first, &count);
    sent.shape.count = count > 0 ? count : 1; /* without rows there would be no columns */
    status = make_alike(&sent.shape, sent.columns, own);
    if (status == KITH_OK)
        (*own)->count = count;
    sent.shape.count = ranks_rows_at_once;
    if (status == KITH_OK)
        status = make_alike(&sent.shape, sent.columns, &piece);
    status = ranks_agree(context, status);
    if (status == KITH_OK && piece)
        status = deal_rows(context, *all, *own, piece, give, argument);
    kith_bodies_free(piece);
    if (status != KITH_OK) {
        kith_bodies_free(*own);
        *own = NULL;
    }
    return status;
}

kith_status ranks_unite_bodies(kith_context *context, int64_t all, const kith_bodies *own,
                               kith_bodies **united)
{
    kith_bodies shape = *own;
    int64_t first = 0, count = 0;
    shape.count = all;
    KITH_TRY(ranks_agree(context, make_alike(&shape, columns_of(own), united)));
    ranks_rows(context, all, &first, &count);
    for (int k = -1; k < column_count; k++) {
        const bool is_vector = k < 0 || each_column[k].is_vector;
        const int64_t bytes = (k < 0 ? (int64_t)sizeof(double) : (int64_t)each_column[k].bytes) *
                              (is_vector ? own->dimensions : 1);
        char *to = k < 0 ? (char *)(*united)->position : column_at(*united, &each_column[k]);
        const void *from = k < 0 ? own->position : column_at(own, &each_column[k]);
        if (!to)
            continue;
        if (count > 0)
            memcpy(to + first * bytes, from, (size_t)(count * bytes));
        ranks_gather(context, to, bytes, all, 1);
    }
    return KITH_OK;
}
