/* Bodies and other memory that pass between rank 0 and the others. */

#include "ranks/bodies.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "particles/bodies.h"
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

static void broadcast_columns(const kith_context *context, kith_bodies *bodies)
{
    for (int k = 0; k < bodies_column_count; k++) {
        void *values = bodies_column(bodies, &bodies_columns[k]);
        const int64_t bytes = bodies_row_bytes(bodies, &bodies_columns[k]);
        if (values)
            ranks_broadcast(context, values, bodies->count * bytes);
    }
}

/* Elsewhere: empty ones of the shape of rank 0's, whose columns are still to come. */
static kith_status make_alike(const kith_bodies *shape, unsigned columns, kith_bodies **bodies)
{
    KITH_TRY(kith_bodies_create(shape->count, shape->dimensions, columns, bodies));
    bodies_take_frame(shape, *bodies);
    return KITH_OK;
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
        sent.columns = kith_bodies_columns(*bodies);
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

/* Rows that pass through rank 0: each column's memory, NULL where absent, and bytes of a row. */
struct rows {
    struct {
        char *memory;
        int64_t bytes;
    } column[bodies_column_count];
};

static struct rows rows_of_memory(const void *memory, int64_t row_bytes)
{
    struct rows rows = {.column[0].bytes = row_bytes};
    memcpy(&rows.column[0].memory, &memory, sizeof memory); /* may be read alone */
    return rows;
}

static struct rows rows_of_bodies(const kith_bodies *bodies)
{
    struct rows rows;
    for (int k = 0; k < bodies_column_count; k++) {
        rows.column[k].memory = bodies_column(bodies, &bodies_columns[k]);
        rows.column[k].bytes = bodies_row_bytes(bodies, &bodies_columns[k]);
    }
    return rows;
}

static struct rows rows_from(const struct rows *rows, int64_t first)
{
    struct rows from = *rows;
    for (int k = 0; k < bodies_column_count; k++)
        if (from.column[k].memory)
            from.column[k].memory += first * from.column[k].bytes;
    return from;
}

/* Rows of all ranks that are sent to rank 0, or by it. */
struct passage {
    int64_t all;
    bool collects; /* or deals */
    struct rows own, piece;
    kith_status (*use)(const struct passage *passage, int64_t first, int64_t count,
                       const struct rows *rows); /* by rank 0: takes them, or fills them in */
    const kith_bodies *shape;                    /* of bodies */
    union {
        ranks_take_memory *take_memory;
        ranks_give_memory *give_memory;
        ranks_take_rows *take_rows;
        ranks_give_rows *give_rows;
    } function;
    void *argument;
};

/* Each column of some rows, to another rank or from there. */
static void pass(const struct ranks *ranks, int32_t other, bool sends, const struct rows *rows,
                 int64_t count)
{
    for (int k = 0; k < bodies_column_count; k++) {
        const int64_t bytes = count * rows->column[k].bytes;
        char *memory = rows->column[k].memory;
        if (!memory)
            continue;
        if (sends)
            ranks->library->post_send(ranks->state, 0, other, tag_of_rows, memory, bytes);
        else
            ranks->library->post_receive(ranks->state, 0, other, tag_of_rows, memory, bytes);
        ranks->library->wait(ranks->state, 0);
    }
}

/* Collective: all rows, piece by piece in their order. */
static kith_status pass_pieces(kith_context *context, const struct passage *passage)
{
    const struct ranks *ranks = context->ranks;
    const bool is_first = ranks->rank == 0;
    kith_status used = KITH_OK;
    for (int32_t k = 0; k < ranks->size; k++) {
        const bool is_mine = k == ranks->rank;
        const int64_t first = ranks_first(passage->all, ranks->size, k);
        const int64_t end = ranks_first(passage->all, ranks->size, k + 1);
        for (int64_t at = first; at < end && (is_mine || is_first); at += ranks_rows_at_once) {
            const int64_t count = end - at < ranks_rows_at_once ? end - at : ranks_rows_at_once;
            const struct rows rows =
                is_mine ? rows_from(&passage->own, at - first) : passage->piece;
            if (is_first && !passage->collects && used == KITH_OK)
                used = passage->use(passage, at, count, &rows);
            if (k > 0)
                pass(ranks, is_mine ? 0 : k, is_mine == passage->collects, &rows, count);
            if (is_first && passage->collects && used == KITH_OK)
                used = passage->use(passage, at, count, &rows);
        }
    }
    return ranks_agree(context, used);
}

/* With memory for a piece. */
static kith_status pass_memory(kith_context *context, struct passage *passage)
{
    const int64_t row_bytes = passage->own.column[0].bytes;
    void *piece = NULL;
    kith_status status = kith_allocate(ranks_rows_at_once, row_bytes, "rows of ranks", &piece);
    status = ranks_agree(context, status);
    passage->piece = rows_of_memory(piece, row_bytes);
    if (status == KITH_OK)
        status = pass_pieces(context, passage);
    free(piece);
    return status;
}

static kith_status pass_bodies(kith_context *context, struct passage *passage)
{
    kith_bodies *piece = NULL;
    kith_status status = bodies_make_like(passage->shape, ranks_rows_at_once, &piece);
    status = ranks_agree(context, status);
    if (status == KITH_OK && piece) {
        passage->piece = rows_of_bodies(piece);
        status = pass_pieces(context, passage);
    }
    kith_bodies_free(piece);
    return status;
}

static kith_bodies bodies_of_rows(const struct passage *passage, int64_t count,
                                  const struct rows *rows)
{
    kith_bodies bodies = *passage->shape;
    bodies.count = count;
    bodies.other_count = 0;
    for (int k = 0; k < bodies_column_count; k++)
        bodies_set_column(&bodies, &bodies_columns[k], rows->column[k].memory);
    return bodies;
}

static kith_status take_memory(const struct passage *passage, int64_t first, int64_t count,
                               const struct rows *rows)
{
    return passage->function.take_memory(passage->argument, first, count, rows->column[0].memory);
}

static kith_status give_memory(const struct passage *passage, int64_t first, int64_t count,
                               const struct rows *rows)
{
    return passage->function.give_memory(passage->argument, first, count, rows->column[0].memory);
}

static kith_status take_bodies(const struct passage *passage, int64_t first, int64_t count,
                               const struct rows *rows)
{
    const kith_bodies bodies = bodies_of_rows(passage, count, rows);
    return passage->function.take_rows(passage->argument, first, &bodies);
}

static kith_status give_bodies(const struct passage *passage, int64_t first, int64_t count,
                               const struct rows *rows)
{
    kith_bodies bodies = bodies_of_rows(passage, count, rows);
    (void)first;
    return passage->function.give_rows(passage->argument, &bodies);
}

kith_status ranks_collect(kith_context *context, int64_t all, const void *own, int64_t row_bytes,
                          ranks_take_memory *take, void *argument)
{
    struct passage passage = {.all = all,
                              .collects = true,
                              .own = rows_of_memory(own, row_bytes),
                              .use = take_memory,
                              .function.take_memory = take,
                              .argument = argument};
    return pass_memory(context, &passage);
}

kith_status ranks_deal(kith_context *context, int64_t all, void *own, int64_t row_bytes,
                       ranks_give_memory *give, void *argument)
{
    struct passage passage = {.all = all,
                              .own = rows_of_memory(own, row_bytes),
                              .use = give_memory,
                              .function.give_memory = give,
                              .argument = argument};
    return pass_memory(context, &passage);
}

kith_status ranks_collect_bodies(kith_context *context, int64_t all, const kith_bodies *own,
                                 ranks_take_rows *take, void *argument)
{
    struct passage passage = {.all = all,
                              .collects = true,
                              .own = rows_of_bodies(own),
                              .use = take_bodies,
                              .shape = own,
                              .function.take_rows = take,
                              .argument = argument};
    return pass_bodies(context, &passage);
}

void ranks_rows(const kith_context *context, int64_t all, int64_t *first, int64_t *count)
{
    const struct ranks *ranks = context->ranks;
    *first = ranks ? ranks_first(all, ranks->size, ranks->rank) : 0;
    *count = ranks ? ranks_first(all, ranks->size, ranks->rank + 1) - *first : all;
}

kith_status ranks_deal_bodies(kith_context *context, kith_status status, const kith_bodies *like,
                              int64_t count, ranks_give_rows *give, void *argument, int64_t *all,
                              kith_bodies **own)
{
    struct {
        kith_bodies shape; /* whose pointers mean nothing elsewhere */
        unsigned columns;
    } sent = {.columns = 0};
    int64_t first = 0;
    *own = NULL;
    KITH_TRY(ranks_agree(context, status));
    if (ranks_are_first(context)) {
        sent.shape = *like;
        sent.shape.count = count;
        sent.columns = kith_bodies_columns(like);
    }
    ranks_broadcast(context, &sent, sizeof sent);
    *all = sent.shape.count;
    ranks_rows(context, *all, &first, &count);
    sent.shape.count = count > 0 ? count : 1; /* without rows there would be no columns */
    status = ranks_agree(context, make_alike(&sent.shape, sent.columns, own));
    if (status == KITH_OK) {
        (*own)->count = count;
        struct passage passage = {.all = *all,
                                  .own = rows_of_bodies(*own),
                                  .use = give_bodies,
                                  .shape = *own,
                                  .function.give_rows = give,
                                  .argument = argument};
        status = pass_bodies(context, &passage);
    }
    if (status != KITH_OK) {
        kith_bodies_free(*own);
        *own = NULL;
    }
    return status;
}

kith_status ranks_unite_bodies(kith_context *context, int64_t all, const kith_bodies *own,
                               kith_bodies **united)
{
    int64_t first = 0, count = 0;
    KITH_TRY(ranks_agree(context, bodies_make_like(own, all, united)));
    ranks_rows(context, all, &first, &count);
    for (int k = 0; k < bodies_column_count; k++) {
        const int64_t bytes = bodies_row_bytes(own, &bodies_columns[k]);
        char *to = bodies_column(*united, &bodies_columns[k]);
        const void *from = bodies_column(own, &bodies_columns[k]);
        if (!to)
            continue;
        if (count > 0)
            memcpy(to + first * bytes, from, (size_t)(count * bytes));
        ranks_gather(context, to, bytes, all, 1);
    }
    return KITH_OK;
}
