#ifndef FORCES_RING_H
#define FORCES_RING_H

#include <stdbool.h>
#include <stdint.h>

/* The schedule by which every unordered pair of tiles meets exactly once, for C and for CUDA.
 *
 * The tiles are arranged in a ring, and tile t meets t, t + 1, …, t + ⌊T/2⌋ (mod T); if T is even,
 * only the tiles t < T/2 take the last of these offsets (a half step). So no tile meets more than
 * one partner more than any other.
 *
 * A chunk is the meetings of a range of offsets. They are numbered by tile, then by offset, and
 * divided into contiguous shares that differ by at most one meeting (or part of one). */
struct ring_chunk {
    int64_t tiles;
    int64_t first_offset, end_offset; /* 0 … ring_offsets(tiles) */
};

struct ring_meeting {
    int64_t tile, offset;
};

#ifdef __CUDACC__
#define RING_FUNCTION static __host__ __device__ inline
#else
#define RING_FUNCTION static inline
#endif

/* Offsets of the whole ring: 0 … ⌊T/2⌋. */
RING_FUNCTION int64_t ring_offsets(int64_t tiles)
{
    return tiles > 0 ? tiles / 2 + 1 : 0;
}

/* The offset that only the first half of the tiles takes; −1 for an odd number of tiles. */
RING_FUNCTION int64_t ring_half_offset(int64_t tiles)
{
    return tiles > 0 && tiles % 2 == 0 ? tiles / 2 : -1;
}

/* The partner of a tile at an offset. */
RING_FUNCTION int64_t ring_partner(int64_t tiles, int64_t tile, int64_t offset)
{
    return tile + offset < tiles ? tile + offset : tile + offset - tiles;
}

RING_FUNCTION bool ring_chunk_has_half(struct ring_chunk chunk)
{
    const int64_t half = ring_half_offset(chunk.tiles);
    return half >= chunk.first_offset && half < chunk.end_offset;
}

/* Another tile meets this one at the offsets from the chunk's first, or 1, up to this one. */
RING_FUNCTION int64_t ring_end_visited(struct ring_chunk chunk, int64_t tile)
{
    const bool not_at_half = ring_chunk_has_half(chunk) && tile < chunk.tiles / 2;
    return chunk.end_offset - (not_at_half ? 1 : 0);
}

/* The number of a tile's first meeting in the chunk; for tile T, the number of meetings. */
RING_FUNCTION int64_t ring_first_meeting(struct ring_chunk chunk, int64_t tile)
{
    const int64_t half = ring_chunk_has_half(chunk) ? 1 : 0;
    const int64_t full = chunk.end_offset - chunk.first_offset - half;
    return tile * full + (tile < chunk.tiles / 2 ? tile : chunk.tiles / 2) * half;
}

RING_FUNCTION int64_t ring_meetings(struct ring_chunk chunk)
{
    return ring_first_meeting(chunk, chunk.tiles);
}

/* The meeting of a number. */
RING_FUNCTION struct ring_meeting ring_meeting_at(struct ring_chunk chunk, int64_t number)
{
    const int64_t half = ring_chunk_has_half(chunk) ? 1 : 0;
    const int64_t full = chunk.end_offset - chunk.first_offset - half;
    const int64_t of_first_half = chunk.tiles / 2 * (full + half);
    int64_t tile = full > 0 ? chunk.tiles / 2 : 0;
    if (number < of_first_half)
        tile = number / (full + half);
    else if (full > 0)
        tile += (number - of_first_half) / full;
    const int64_t offset = chunk.first_offset + number - ring_first_meeting(chunk, tile);
    const struct ring_meeting meeting = {tile, offset};
    return meeting;
}

/* A meeting is done in `steps` steps, which can be divided in units of this many per tile. A step
 * of a tile's meeting with itself, the first of its meetings in a chunk that begins with offset 0,
 * has fewer instructions. Costs are in eighths of a step between two tiles. Measured on an H200,
 * compared with equal costs: double 4 % faster at N = 8192 and 3 % at 16 384, float 4 % faster at
 * 24 576 and 1 % slower from 49 152 on, else the same. */
enum { ring_step_cost = 8, ring_self_step_cost = 7 };

/* The cost of all steps of the tiles before this one; for tile T, of the chunk. */
RING_FUNCTION int64_t ring_cost_before(struct ring_chunk chunk, int64_t steps, int64_t tile)
{
    const int64_t saved = chunk.first_offset == 0 ? ring_step_cost - ring_self_step_cost : 0;
    return steps * (ring_step_cost * ring_first_meeting(chunk, tile) - saved * tile);
}

RING_FUNCTION int64_t ring_cost(struct ring_chunk chunk, int64_t steps)
{
    return ring_cost_before(chunk, steps, chunk.tiles);
}

/* The cost of all steps before this one, which is below the number of steps. */
RING_FUNCTION int64_t ring_cost_at(struct ring_chunk chunk, int64_t steps, int64_t step)
{
    const int64_t tile = ring_meeting_at(chunk, step / steps).tile;
    const int64_t within = step - steps * ring_first_meeting(chunk, tile);
    const int64_t saved = chunk.first_offset == 0 ? ring_step_cost - ring_self_step_cost : 0;
    return ring_cost_before(chunk, steps, tile) + ring_step_cost * within -
           saved * (within < steps ? within : steps);
}

/* The first step that no less than this cost is before; the number of steps if no step has it. */
RING_FUNCTION int64_t ring_step_at(struct ring_chunk chunk, int64_t steps, int64_t cost)
{
    int64_t tile = 0,
            end = chunk.tiles; /* tile's steps begin at or before the cost, end's after it */
    if (cost >= ring_cost(chunk, steps))
        return steps * ring_meetings(chunk);
    while (end - tile > 1) {
        const int64_t middle = (tile + end) / 2;
        if (ring_cost_before(chunk, steps, middle) <= cost)
            tile = middle;
        else
            end = middle;
    }
    const int64_t of_self = chunk.first_offset == 0 ? ring_self_step_cost * steps : 0;
    const int64_t rest = cost - ring_cost_before(chunk, steps, tile);
    const int64_t within = rest < of_self
                               ? (rest + ring_self_step_cost - 1) / ring_self_step_cost
                               : of_self / ring_self_step_cost +
                                     (rest - of_self + ring_step_cost - 1) / ring_step_cost;
    return steps * ring_first_meeting(chunk, tile) + within;
}

/* Into how many shares a chunk can be cut so that each has a step. */
RING_FUNCTION int64_t ring_most_shares(struct ring_chunk chunk, int64_t steps)
{
    const int64_t most = ring_cost(chunk, steps) / ring_step_cost;
    return most > 1 ? most : 1;
}

/* Share k of `total` items divided into this many: from share_begin(k) to share_begin(k + 1). */
RING_FUNCTION int64_t share_begin(int64_t total, int64_t shares, int64_t k)
{
    return total / shares * k + total % shares * k / shares;
}

/* The share that has an item. (thing + 1) · shares must be below 2^63. */
RING_FUNCTION int64_t share_of(int64_t total, int64_t shares, int64_t thing)
{
    return ((thing + 1) * shares - 1) / total;
}

/* The steps of a chunk, divided into contiguous shares of equal cost: share k from
 * ring_share_begin(k) to ring_share_begin(k + 1), none empty if there are at most
 * ring_most_shares. */
RING_FUNCTION int64_t ring_share_begin(struct ring_chunk chunk, int64_t steps, int64_t shares,
                                       int64_t k)
{
    return ring_step_at(chunk, steps, share_begin(ring_cost(chunk, steps), shares, k));
}

/* Whose share a step is in. */
RING_FUNCTION int64_t ring_share_of(struct ring_chunk chunk, int64_t steps, int64_t shares,
                                    int64_t step)
{
    return share_of(ring_cost(chunk, steps), shares, ring_cost_at(chunk, steps, step));
}

#endif
