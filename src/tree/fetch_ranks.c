#include "tree/fetch_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "ranks/ranks.h"

static const char what[] = "messages of a tree";

/* The flagged cells by their ranks; in first_sent where those of a rank begin. */
static kith_status list_cells(const struct tree_essential *e, const uint8_t *flags,
                              int32_t first_cell, struct tree_fetch *fetch, int32_t **there)
{
    const int32_t ranks = e->division->context->ranks->size, cells = e->tree.cell_count;
    KITH_TRY(ranks_parcels_create(e->division->context->ranks, &fetch->parcels));
    int64_t *first = fetch->parcels.first_sent;
    for (int32_t k = first_cell; k < cells; k++)
        if (flags[k] && e->kind[k] == tree_other)
            first[e->owner[k] + 1]++;
    for (int32_t rank = 0; rank < ranks; rank++)
        first[rank + 1] += first[rank];
    fetch->count = first[ranks];
    KITH_TRY(kith_allocate(fetch->count, sizeof *fetch->cell, what, &fetch->cell));
    KITH_TRY(kith_allocate(fetch->count, sizeof **there, what, there));
    for (int32_t k = first_cell; k < cells; k++)
        if (flags[k] && e->kind[k] == tree_other) {
            const int64_t to = first[e->owner[k]]++;
            fetch->cell[to] = k;
            (*there)[to] = e->there[k];
        }
    for (int32_t rank = ranks; rank > 0; rank--)
        first[rank] = first[rank - 1];
    first[0] = 0;
    return KITH_OK;
}

kith_status tree_fetch_ask(const struct tree_essential *e, const uint8_t *flags, int32_t first,
                           struct tree_fetch *fetch)
{
    kith_context *context = e->division->context;
    int32_t *there = NULL;
    kith_status status = ranks_agree(context, list_cells(e, flags, first, fetch, &there));
    if (status == KITH_OK) {
        ranks_parcels_announce(&fetch->parcels);
        status = ranks_agree(context, kith_allocate(ranks_parcels_received(&fetch->parcels),
                                                    sizeof *fetch->asked, what, &fetch->asked));
    }
    if (status == KITH_OK)
        ranks_parcels_exchange(&fetch->parcels, sizeof *there, there, fetch->asked);
    free(there);
    return status;
}

void tree_fetch_free(struct tree_fetch *fetch)
{
    free(fetch->cell);
    free(fetch->asked);
    ranks_parcels_free(&fetch->parcels);
    *fetch = (struct tree_fetch){0};
}

void tree_fetch_count(const struct tree_essential *e, const int32_t *cell,
                      const int64_t *first_cell, tree_fetch_elements *elements, int64_t *first)
{
    int64_t sum = 0;
    for (int32_t rank = 0; rank < e->division->context->ranks->size; rank++) {
        first[rank] = sum;
        for (int64_t k = first_cell[rank]; k < first_cell[rank + 1]; k++)
            sum += elements(e, cell[k]);
    }
    first[e->division->context->ranks->size] = sum;
}

kith_status tree_fetch_answer(const struct tree_essential *e, struct tree_fetch *fetch,
                              int64_t element_bytes, tree_fetch_elements *elements,
                              tree_fetch_write *write, const void *user, char **received)
{
    kith_context *context = e->division->context;
    const struct ranks_parcels *questions = &fetch->parcels;
    const int64_t asked = ranks_parcels_received(questions);
    struct ranks_parcels answers = {0};
    char *sent = NULL, *to = NULL;
    kith_status status = ranks_parcels_create(context->ranks, &answers);
    if (status == KITH_OK) {
        tree_fetch_count(e, fetch->asked, questions->first_received, elements, answers.first_sent);
        tree_fetch_count(e, fetch->cell, questions->first_sent, elements, answers.first_received);
        status = kith_allocate_unset(ranks_parcels_sent(&answers), element_bytes, what, &sent);
    }
    if (status == KITH_OK)
        status =
            kith_allocate_unset(ranks_parcels_received(&answers), element_bytes, what, received);
    status = ranks_agree(context, status);
    to = sent;
    for (int64_t k = 0; k < asked && status == KITH_OK; k++) {
        write(e, user, fetch->asked[k], to);
        to += elements(e, fetch->asked[k]) * element_bytes;
    }
    if (status == KITH_OK)
        ranks_parcels_exchange(&answers, element_bytes, sent, *received);
    ranks_parcels_free(&answers);
    free(sent);
    return status;
}
