#include "run/past_ranks.h"

#include <string.h>

#include "core/memory.h"
#include "ranks/bodies.h"

/* What is in the past itself, without what it points to. */
static struct run_past without_memory(struct run_past past)
{
    past.start = NULL;
    past.exclusions = NULL; /* parameters.exclusions keeps its shape */
    past.events = NULL;
    past.checkpoint.state = NULL;
    past.first = past.last = NULL;
    past.largest_energy_error = NULL;
    return past;
}

/* All but the rows. Those of bodies that have merged are with the checkpoint, where has_rows. */
static kith_status share(kith_context *context, struct run_past *past)
{
    struct run_past shared = without_memory(*past);
    ranks_broadcast(context, &shared, sizeof shared);
    const bool has_rows = shared.checkpoint.rows != NULL;
    shared.checkpoint.rows = NULL;
    shared.checkpoint.columns = NULL;
    if (!ranks_are_first(context))
        *past = shared;
    const int64_t systems = past->parameters.systems;
    kith_checkpoint *checkpoint = &past->checkpoint;
    kith_array *exclusions = &past->parameters.exclusions;
    if (!kith_array_is_none(*exclusions)) {
        KITH_TRY(ranks_share_memory(context, "excluded pairs",
                                    exclusions->shape[0] * (int64_t)sizeof *past->exclusions,
                                    &past->exclusions));
        exclusions->data = past->exclusions;
    }
    if (has_rows) {
        KITH_TRY(ranks_share_memory(context, "checkpoint",
                                    checkpoint->bodies * (int64_t)sizeof *checkpoint->rows,
                                    &checkpoint->rows));
        KITH_TRY(ranks_share_memory(context, "checkpoint",
                                    3 * past->all * (int64_t)sizeof *checkpoint->columns,
                                    &checkpoint->columns));
    }
    KITH_TRY(ranks_share_memory(context, "events",
                                past->event_count * (int64_t)sizeof *past->events, &past->events));
    KITH_TRY(ranks_share_memory(context, "observables", systems * (int64_t)sizeof *past->first,
                                &past->first));
    KITH_TRY(ranks_share_memory(context, "observables", systems * (int64_t)sizeof *past->last,
                                &past->last));
    return ranks_share_memory(context, "observables",
                              systems * (int64_t)sizeof *past->largest_energy_error,
                              &past->largest_energy_error);
}

static kith_status give_start(void *reader, kith_bodies *rows)
{
    return run_past_start(reader, rows);
}

struct array_of_state {
    struct run_past_reader *reader;
    int64_t array;
};

static kith_status give_state(void *argument, int64_t first, int64_t rows, void *numbers)
{
    const struct array_of_state *of = argument;
    return run_past_state(of->reader, of->array, first, rows, numbers);
}

/* Of each array of the state this rank's rows. */
static kith_status deal_state(kith_context *context, struct run_past_reader *reader,
                              struct run_past *past)
{
    kith_checkpoint *checkpoint = &past->checkpoint;
    const int64_t all = checkpoint->bodies, arrays = checkpoint->arrays;
    const int64_t row = all > 0 && arrays > 0 ? checkpoint->bytes / arrays / all : 0;
    int64_t first = 0, rows = 0;
    ranks_rows(context, all, &first, &rows);
    past->state_rows = all;
    checkpoint->bodies = rows;
    checkpoint->bytes = arrays * rows * row;
    kith_status status = kith_allocate(checkpoint->bytes, 1, "checkpoint", &checkpoint->state);
    status = ranks_agree(context, status);
    for (int64_t k = 0; k < arrays && row > 0 && status == KITH_OK; k++) {
        struct array_of_state of = {reader, k};
        status = ranks_deal(context, all, (char *)checkpoint->state + k * rows * row, row,
                            give_state, &of);
    }
    return status;
}

static kith_status deal(kith_context *context, struct run_past_reader *reader,
                        struct run_past *past)
{
    int64_t rows = 0;
    KITH_TRY(share(context, past));
    KITH_TRY(ranks_deal_bodies(context, KITH_OK, reader ? run_past_like(reader) : NULL, past->all,
                               give_start, reader, &past->all, &past->start));
    ranks_rows(context, past->all, &past->first_row, &rows);
    return deal_state(context, reader, past);
}

kith_status run_past_read_by_first(kith_context *context, const char *output, struct run_past *past)
{
    struct run_past_reader *reader = NULL;
    kith_status status = KITH_OK;
    *past = (struct run_past){0};
    if (!context->ranks)
        return run_past_read(output, past);
    if (ranks_are_first(context))
        status = run_past_open(output, past, &reader);
    status = ranks_agree(context, status);
    if (status == KITH_OK)
        status = deal(context, reader, past);
    run_past_close(reader);
    return status;
}

kith_status run_past_unite_state(kith_context *context, const struct run_past *past,
                                 kith_checkpoint *united)
{
    const kith_checkpoint *own = &past->checkpoint;
    const int64_t arrays = own->arrays, all = past->state_rows;
    const int64_t row = own->bodies > 0 && arrays > 0 ? own->bytes / arrays / own->bodies : 0;
    double bytes = (double)row;
    int64_t first = 0, rows = 0;
    void *state = NULL;
    *united = *own;
    ranks_maximum(context, &bytes, 1); /* a rank may have no rows */
    ranks_rows(context, all, &first, &rows);
    const int64_t each = all * (int64_t)bytes;
    KITH_TRY(ranks_agree(context, kith_allocate(arrays * each, 1, "checkpoint", &state)));
    for (int64_t k = 0; k < arrays && state; k++) {
        char *array = (char *)state + k * each;
        if (rows > 0)
            memcpy(array + first * row, (const char *)own->state + k * rows * row,
                   (size_t)(rows * row));
        ranks_gather(context, array, (int64_t)bytes, all, 1);
    }
    united->bodies = all;
    united->bytes = arrays * each;
    united->state = state;
    return KITH_OK;
}
