#include "ranks/parcels.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { tag_of_counts = 1, tag_of_elements = 2 };

kith_status ranks_parcels_create(const struct ranks *ranks, struct ranks_parcels *parcels)
{
    static const char what[] = "messages of ranks";
    *parcels = (struct ranks_parcels){.ranks = ranks};
    KITH_TRY(
        kith_allocate(ranks->size + 1, sizeof *parcels->first_sent, what, &parcels->first_sent));
    return kith_allocate(ranks->size + 1, sizeof *parcels->first_received, what,
                         &parcels->first_received);
}

void ranks_parcels_free(struct ranks_parcels *parcels)
{
    free(parcels->first_sent);
    free(parcels->first_received);
    *parcels = (struct ranks_parcels){0};
}

/* The counts that are sent take the places of what is before them, for as long. */
void ranks_parcels_announce(struct ranks_parcels *parcels)
{
    const struct ranks *ranks = parcels->ranks;
    int64_t *first = parcels->first_sent, *received = parcels->first_received;
    for (int32_t k = 0; k < ranks->size; k++)
        first[k] = first[k + 1] - first[k];
    for (int32_t k = 0; k < ranks->size; k++)
        if (k != ranks->rank) {
            ranks->library->post_receive(ranks->state, 0, k, tag_of_counts, &received[k],
                                         sizeof received[k]);
            ranks->library->post_send(ranks->state, 0, k, tag_of_counts, &first[k],
                                      sizeof first[k]);
        }
    ranks->library->wait(ranks->state, 0);
    received[ranks->rank] = first[ranks->rank];
    int64_t end = 0;
    for (int32_t k = 0; k < ranks->size; k++) {
        const int64_t count = received[k];
        received[k] = end;
        end += count;
    }
    received[ranks->size] = end;
    for (int32_t k = ranks->size - 1; k >= 0; k--)
        first[k] = first[k + 1] - first[k];
}

/* Of a message in pieces that MPI can count, the bytes from here on. */
static int64_t piece_at(int64_t at, int64_t bytes)
{
    const int64_t most = 1 << 30;
    return bytes - at < most ? bytes - at : most;
}

void ranks_parcels_post(const struct ranks_parcels *parcels, int32_t batch, int64_t element_bytes,
                        const void *sent, void *received)
{
    const struct ranks *ranks = parcels->ranks;
    const int64_t *from = parcels->first_received, *to = parcels->first_sent;
    for (int32_t k = 0; k < ranks->size; k++) {
        char *in = (char *)received + from[k] * element_bytes;
        const char *out = (const char *)sent + to[k] * element_bytes;
        const int64_t bytes_in = (from[k + 1] - from[k]) * element_bytes;
        const int64_t bytes_out = (to[k + 1] - to[k]) * element_bytes;
        if (k == ranks->rank && bytes_out > 0)
            memcpy(in, out, (size_t)bytes_out);
        for (int64_t at = 0, piece; k != ranks->rank && at < bytes_in; at += piece) {
            piece = piece_at(at, bytes_in);
            ranks->library->post_receive(ranks->state, batch, k, tag_of_elements, in + at, piece);
        }
        for (int64_t at = 0, piece; k != ranks->rank && at < bytes_out; at += piece) {
            piece = piece_at(at, bytes_out);
            ranks->library->post_send(ranks->state, batch, k, tag_of_elements, out + at, piece);
        }
    }
}

void ranks_parcels_exchange(const struct ranks_parcels *parcels, int64_t element_bytes,
                            const void *sent, void *received)
{
    ranks_parcels_post(parcels, 0, element_bytes, sent, received);
    parcels->ranks->library->wait(parcels->ranks->state, 0);
}
