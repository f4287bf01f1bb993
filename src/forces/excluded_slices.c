/* Excluded pairs of slices, which go where their bodies go. */

#include "forces/excluded_slices.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/excluded.h"
#include "ranks/partition.h"

static const char what[] = "excluded pairs of a rank";

/* The pairs whose first body goes to a rank: their number, and the pairs if `pairs`. */
static int64_t list_sent(const struct cutoff_partition *partition, int32_t rank,
                         int64_t (*pairs)[2])
{
    const struct cutoff_partition_side *sources = &partition->side[cutoff_of_sources];
    const kith_array exclusions = partition->own->space.exclusions;
    int64_t count = 0;
    for (int64_t k = 0; k < excluded_count(partition->own); k++) {
        const int64_t i = excluded_row(exclusions, k, 0) - sources->first_row;
        if (i < 0 || i >= sources->count ||
            !cutoff_partition_gives(partition, cutoff_of_sources, i, rank))
            continue;
        for (int c = 0; c < 2 && pairs; c++)
            pairs[count][c] = excluded_row(exclusions, k, c);
        count++;
    }
    return count;
}

static kith_status find_sent(const struct cutoff_partition *partition,
                             struct ranks_parcels *parcels, int64_t (**pairs)[2])
{
    const struct ranks *ranks = partition->context->ranks;
    KITH_TRY(ranks_parcels_create(ranks, parcels));
    int64_t *first = parcels->first_sent;
    for (int32_t k = 0; k < ranks->size; k++)
        first[k + 1] = first[k] + list_sent(partition, k, NULL);
    KITH_TRY(kith_allocate(first[ranks->size], sizeof **pairs, what, pairs));
    for (int32_t k = 0; k < ranks->size; k++)
        list_sent(partition, k, *pairs + first[k]);
    return KITH_OK;
}

/* Where a row of all bodies is among those that have come; −1: it is not there. */
static int64_t find_here(const struct cutoff_partition *partition,
                         const struct ranks_parcels *sources, const int32_t *origin, int64_t row)
{
    const int64_t all = partition->own->source_count;
    const int32_t size = partition->context->ranks->size, rank = ranks_owner(all, size, row);
    const int64_t wanted = row - ranks_first(all, size, rank);
    const int64_t end = sources->first_received[rank + 1];
    int64_t low = sources->first_received[rank], high = end;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (origin[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && origin[low] == wanted ? low : -1;
}

/* Renumbers the pairs whose bodies are both here, up front. Returns their number. */
static int64_t keep_here(const struct cutoff_partition *partition,
                         const struct ranks_parcels *sources, const int32_t *origin, int64_t count,
                         int64_t (*pairs)[2])
{
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = find_here(partition, sources, origin, pairs[k][0]);
        const int64_t j = find_here(partition, sources, origin, pairs[k][1]);
        if (i >= 0 && j >= 0)
            memcpy(pairs[kept++], (const int64_t[2]){i, j}, sizeof *pairs);
    }
    return kept;
}

kith_status excluded_send(const struct cutoff_partition *partition,
                          const struct ranks_parcels *sources, const int32_t *origin,
                          kith_array *held)
{
    struct ranks_parcels parcels = {0};
    int64_t(*sent)[2] = NULL, (*received)[2] = NULL;
    *held = kith_array_none();
    kith_status status = ranks_agree(partition->context, find_sent(partition, &parcels, &sent));
    if (status == KITH_OK) {
        ranks_parcels_announce(&parcels);
        status = ranks_agree(partition->context, kith_allocate(ranks_parcels_received(&parcels),
                                                               sizeof *received, what, &received));
    }
    if (status == KITH_OK) {
        ranks_parcels_exchange(&parcels, sizeof *sent, sent, received);
        const int64_t count =
            keep_here(partition, sources, origin, ranks_parcels_received(&parcels), received);
        *held = kith_array_matrix(received, KITH_I64, count, 2);
    } else {
        free(received);
    }
    free(sent);
    ranks_parcels_free(&parcels);
    return status;
}
