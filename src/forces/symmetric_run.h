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
    const void *weight;   /* masses, 0 after the last body; or a law's weights */
    void *alone;          /* the fields of the blocks on themselves */
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

/* The form that all ranks use, as their processors may prefer different ones. Collective for
 * several ranks, which also exchange here whether any has failed to begin with this status. */
kith_status symmetric_agree_on_form(struct symmetric_run *run, kith_status status);

/* Posts receives of the contributions of other ranks to this rank's tiles, or sends its
 * contributions to theirs. */
void symmetric_exchange(const struct symmetric_run *run, const struct part *part, bool sends);

/* Collective: gathers the results of each rank on all ranks. */
void symmetric_gather(const struct symmetric_run *run);

#endif
