#ifndef FORCES_SYMMETRIC_RUN_H
#define FORCES_SYMMETRIC_RUN_H

#include <pthread.h>

#include "forces/ring.h"
#include "forces/symmetric.h"
#include "ranks/ranks.h"

/* The state of forces_symmetric_cpu, of which symmetric_ranks.c exchanges what other ranks need. */

/* Rounds of the ring between two additions: more tasks for the threads to share, more memory. */
enum { rounds_at_once = 4 };

/* The partial sums of a round: [components][room] of the problem's precision. */
struct round {
    void *of_targets, *of_sources; /* at the bodies' own places */
    void *sent; /* of sources that other ranks have, at their targets' places; NULL of one rank */
};

/* The rounds that are done at a time. */
struct part {
    struct ring_chunk chunk;
    struct round rounds[rounds_at_once];
    int64_t stops; /* of a job of ranks: one of them is to be cancelled */
};

/* Columns of the bodies of tiles: those of tile t begin at body block · symmetric_slot(t). */
struct symmetric_columns {
    const void *position[3], *weight, *charge, *half_softening2;
};
enum { symmetric_column_count = 6 };

struct symmetric_run {
    kith_context *context;
    const struct forces_problem *problem;
    const struct symmetric_law *law; /* NULL: gravity */
    const struct forces_symmetric_kernels *kernels;
    forces_symmetric_kernel *kernel;
    enum symmetric_form form;
    int32_t fields, components, threads; /* components: fields, then the potential */
    int64_t stride, block, tiles;
    int64_t origin, room; /* the first body of this rank's tiles, and room for all of theirs */
    /* Weights are masses, 0 after the last body; or a law's. */
    struct symmetric_columns columns;
    char *bodies;            /* memory of those that are not the problem's */
    const void *target_mass; /* of a law, of this rank's tiles; NULL: ones */
    int64_t window;          /* of a slice: tiles of other ranks that are held at a time */
    bool has_small_masses;
    void *alone;                             /* the fields of the blocks on themselves */
    struct part parts[KITH_MESSAGE_BATCHES]; /* the second while that of ranks is exchanged */
    struct part *part;                       /* of the two, the one that tasks work on */
    double *sums;                            /* [components][room] */
    const struct ranks *ranks;               /* that divide the tiles; NULL: there is one */
    int64_t first_tile, end_tile;            /* of this rank */
    pthread_t caller;                        /* who exchanges */
};

/* NULL of NULL. */
static inline char *at(const void *column, kith_dtype dtype, int64_t i)
{
    return column ? (char *)column + i * kith_dtype_bytes(dtype) : NULL;
}

/* Where the numbers of a component of [components][room] begin, of the rank's bodies from begin on.
 */
static inline int64_t place_of(const struct symmetric_run *run, int32_t component, int64_t begin)
{
    return component * run->room + begin - run->origin;
}

/* Where a tile is in the columns: of a slice this rank's come first, and then those of other ranks
 * in a window that moves along the ring. */
static inline int64_t symmetric_slot(const struct symmetric_run *run, int64_t tile)
{
    if (!run->problem->is_slice)
        return tile;
    if (tile >= run->first_tile && tile < run->end_tile)
        return tile - run->first_tile;
    const int64_t ahead = tile - run->end_tile + (tile < run->end_tile ? run->tiles : 0);
    return run->end_tile - run->first_tile + ahead % run->window;
}

/* Of a slice: the bytes of the columns of this rank's tiles and of the window. */
int64_t symmetric_bytes_of_slice(struct symmetric_run *run);

/* Collective, of a slice: the bodies of this rank's tiles, from those that have them, come to
 * memory of that size, which the columns then are. */
void symmetric_take_slice(struct symmetric_run *run, char *memory);

/* Posts what the meetings of this rank, and of others, need from the offset first on that those
 * before it do not. */
void symmetric_fetch(const struct symmetric_run *run, int64_t first, int64_t end, int32_t batch);

/* Collective, of a slice: the results of this rank's tiles come to the ranks whose bodies they are.
 */
void symmetric_keep_slice(const struct symmetric_run *run);

/* The form that all ranks use, as their processors may prefer different ones. Collective for
 * several ranks, which also exchange here whether any has failed to begin with this status. */
kith_status symmetric_agree_on_form(struct symmetric_run *run, kith_status status);

/* Posts receives of the contributions of other ranks to this rank's tiles, or sends its
 * contributions to theirs. */
void symmetric_exchange(const struct symmetric_run *run, const struct part *part, bool sends);

/* Collective: gathers the results of each rank on all ranks. */
void symmetric_gather(const struct symmetric_run *run);

#endif
