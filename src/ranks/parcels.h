#ifndef RANKS_PARCELS_H
#define RANKS_PARCELS_H

#include "ranks/ranks.h"

/* What each rank sends to each other: elements first_sent[k] … first_sent[k + 1] − 1 of an array go
 * to rank k, and those from first_received[k] on come from it. */
struct ranks_parcels {
    const struct ranks *ranks;
    int64_t *first_sent, *first_received; /* size + 1 each */
};

/* Free it with ranks_parcels_free, after an error too. Errors: KITH_OUT_OF_MEMORY. */
kith_status ranks_parcels_create(const struct ranks *ranks, struct ranks_parcels *parcels);
void ranks_parcels_free(struct ranks_parcels *parcels);

/* Collective: fills in first_received. */
void ranks_parcels_announce(struct ranks_parcels *parcels);

/* Collective: posts elements, which are there after the library's wait(batch). */
void ranks_parcels_post(const struct ranks_parcels *parcels, int32_t batch, int64_t element_bytes,
                        const void *sent, void *received);

/* Collective: the same, and waits. */
void ranks_parcels_exchange(const struct ranks_parcels *parcels, int64_t element_bytes,
                            const void *sent, void *received);

static inline int64_t ranks_parcels_sent(const struct ranks_parcels *parcels)
{
    return parcels->first_sent[parcels->ranks->size];
}

static inline int64_t ranks_parcels_received(const struct ranks_parcels *parcels)
{
    return parcels->first_received[parcels->ranks->size];
}

#endif
