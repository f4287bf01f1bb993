/* Chains of beads on a lattice, and the moves that fold them: pull moves (Lesh, Mitzenmacher &
 * Whitesides 2003, RECOMB, 188-195). */

#ifndef HP_MOVES_H
#define HP_MOVES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct site {
    int32_t x[3];
} site;

static inline uint64_t random_below(uint64_t *random, uint64_t count)
{
    *random ^= *random << 13; /* Marsaglia's xorshift: enough for an example */
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (*random >> 11) % count;
}

static inline double random_unit(uint64_t *random)
{
    return (double)random_below(random, 1u << 30) / (1u << 30);
}

static inline int is_free(const site *chain, int length, site at)
{
    for (int k = 0; k < length; k++)
        if (memcmp(&chain[k], &at, sizeof at) == 0)
            return 0;
    return 1;
}

static inline int are_adjacent(site a, site b)
{
    return abs(a.x[0] - b.x[0]) + abs(a.x[1] - b.x[1]) + abs(a.x[2] - b.x[2]) == 1;
}

static inline site random_neighbor(site at, int dimensions, uint64_t *random)
{
    const uint64_t way = random_below(random, 2 * (uint64_t)dimensions);
    at.x[way / 2] += way % 2 ? 1 : -1;
    return at;
}

/* Beads i, i - 1, … follow to two new places, as far as the chain needs it. */
static inline void pull(site *chain, int i, site first, site second)
{
    site older = chain[i], old = i > 0 ? chain[i - 1] : older;
    chain[i] = first;
    if (i == 0 || are_adjacent(chain[i - 1], first))
        return;
    chain[i - 1] = second;
    for (int j = i - 2; j >= 0 && !are_adjacent(chain[j], chain[j + 1]); j--) {
        const site here = chain[j];
        chain[j] = older;
        older = old;
        old = here;
    }
}

/* A pull move somewhere; the chain stays free of collisions. Nothing if the site is occupied. */
static inline void try_move(site *chain, int n, int dimensions, uint64_t *random)
{
    const int i = (int)random_below(random, (uint64_t)n);
    if (i == n - 1) { /* the end goes two steps on, and draws all after it */
        const site near = random_neighbor(chain[i], dimensions, random);
        const site far = random_neighbor(near, dimensions, random);
        if (is_free(chain, n, near) && is_free(chain, n, far))
            pull(chain, i, far, near);
        return;
    }
    const site corner = random_neighbor(chain[i + 1], dimensions, random);
    site fourth = chain[i];
    for (int c = 0; c < 3; c++)
        fourth.x[c] += corner.x[c] - chain[i + 1].x[c];
    const int is_square = !are_adjacent(corner, chain[i]) && are_adjacent(corner, fourth) &&
                          memcmp(&corner, &chain[i], sizeof corner) != 0 &&
                          memcmp(&fourth, &chain[i + 1], sizeof fourth) != 0;
    if (!is_square || !is_free(chain, n, corner))
        return;
    if (i == 0 || memcmp(&fourth, &chain[i - 1], sizeof fourth) == 0 || is_free(chain, n, fourth))
        pull(chain, i, corner, fourth);
}

static inline void reverse(site *chain, int length)
{
    for (int k = 0; k < length / 2; k++) {
        const site kept = chain[k];
        chain[k] = chain[length - 1 - k];
        chain[length - 1 - k] = kept;
    }
}

#endif
