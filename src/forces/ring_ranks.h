#ifndef FORCES_RING_RANKS_H
#define FORCES_RING_RANKS_H

#include "forces/ring.h"
#include "ranks/partition.h"

/* The ring's meetings over ranks. Rank k has the tiles from ranks_first(k) on and does their
 * meetings with the partners that the ring gives them; contributions to a partner of another rank
 * are sent there. At one offset a rank's partners are contiguous except where the ring closes, so
 * that it sends each other rank at most one range of tiles, which both compute independently. */
struct ring_ranks {
    int64_t tiles;
    int32_t ranks, rank;
};

/* Tiles whose sums go to another rank, or come from it. */
struct ring_run {
    int32_t other;
    int64_t first, count;
};

/* The end of a rank's tiles that have a meeting at this offset. */
static inline int64_t ring_end_meeting(struct ring_ranks ring, int64_t offset)
{
    const int64_t end = ranks_first(ring.tiles, ring.ranks, ring.rank + 1);
    const bool is_half = offset == ring_half_offset(ring.tiles);
    return is_half && end > ring.tiles / 2 ? ring.tiles / 2 : end;
}

/* The next run that the rank sends at an offset ≥ 1: *tile is its first tile at first, and is
 * advanced. Returns false after the last. */
static inline bool ring_next_sent(struct ring_ranks ring, int64_t offset, int64_t *tile,
                                  struct ring_run *run)
{
    const int64_t end = ring_end_meeting(ring, offset);
    run->count = 0;
    for (; *tile < end; ++*tile) {
        const int64_t partner = ring_partner(ring.tiles, *tile, offset);
        const int32_t owner = ranks_owner(ring.tiles, ring.ranks, partner);
        if (run->count > 0 && (owner != run->other || partner != run->first + run->count))
            return true;
        if (owner == ring.rank)
            continue;
        if (run->count == 0)
            *run = (struct ring_run){owner, partner, 0};
        run->count++;
    }
    return run->count > 0;
}

/* The next run that the rank receives at an offset ≥ 1. */
static inline bool ring_next_received(struct ring_ranks ring, int64_t offset, int64_t *tile,
                                      struct ring_run *run)
{
    const int64_t end = ranks_first(ring.tiles, ring.ranks, ring.rank + 1);
    const bool is_half = offset == ring_half_offset(ring.tiles);
    run->count = 0;
    for (; *tile < end; ++*tile) {
        const int64_t visitor = *tile >= offset ? *tile - offset : *tile - offset + ring.tiles;
        const int32_t owner = ranks_owner(ring.tiles, ring.ranks, visitor);
        const bool comes = owner != ring.rank && !(is_half && visitor >= ring.tiles / 2);
        if (run->count > 0 && (!comes || owner != run->other || visitor == 0))
            return true;
        if (!comes)
            continue;
        if (run->count == 0)
            *run = (struct ring_run){owner, *tile, 0};
        run->count++;
    }
    return run->count > 0;
}

#endif
