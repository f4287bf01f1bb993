#ifndef RANKS_BODIES_H
#define RANKS_BODIES_H

#include "kith/bodies.h"
#include "ranks/ranks.h"

/* Collective: the bodies of rank 0, which read them with this status, come to all ranks: columns
 * but for the other ones. There *bodies is allocated; free it with kith_bodies_free; NULL if it is
 * NULL on rank 0, or on failure. For a single process: the status. Errors: those of ranks_agree,
 * KITH_OUT_OF_MEMORY. */
kith_status ranks_share_bodies(kith_context *context, kith_status status, kith_bodies **bodies);

/* Collective: broadcasts memory of rank 0, which is allocated on other ranks; free it with free().
 * Errors: those of ranks_agree, KITH_OUT_OF_MEMORY. */
kith_status ranks_share_memory(kith_context *context, const char *what, int64_t bytes,
                               void *memory);

#endif
