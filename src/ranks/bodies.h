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

/* Memory of one piece of what passes through a rank: about 3 MB of bodies. */
enum { ranks_rows_at_once = 1 << 14 };

/* Collective: bodies of which each rank has those from ranks_first(all) on, all with the same
 * columns, come to rank 0 in pieces of at most ranks_rows_at_once rows, in their order; there
 * `take` is called for each. After its first failure it is not called any more, and all ranks get
 * that. Errors: take's, those of ranks_agree, KITH_OUT_OF_MEMORY. */
typedef kith_status ranks_take_rows(void *argument, int64_t first, const kith_bodies *rows);
kith_status ranks_collect_bodies(kith_context *context, int64_t all, const kith_bodies *own,
                                 ranks_take_rows *take, void *argument);

/* Collective, the other way round: rank 0 has `count` bodies with the columns, the time, the cell
 * and the units of `like`, which `give` fills in, some rows after the other. *own are those of each
 * rank, from ranks_first(*all) on; free with kith_bodies_free; NULL on failure.
 *
 *   status, like, count, give  of rank 0; others get the rest
 *
 * Errors: the status, give's, those of ranks_agree, KITH_OUT_OF_MEMORY. */
typedef kith_status ranks_give_rows(void *argument, kith_bodies *rows);
kith_status ranks_deal_bodies(kith_context *context, kith_status status, const kith_bodies *like,
                              int64_t count, ranks_give_rows *give, void *argument, int64_t *all,
                              kith_bodies **own);

/* Collective: all bodies on all ranks, of those that were dealt; free with kith_bodies_free.
 * Errors: those of ranks_agree, KITH_OUT_OF_MEMORY. */
kith_status ranks_unite_bodies(kith_context *context, int64_t all, const kith_bodies *own,
                               kith_bodies **united);

/* This rank's rows of all; of one process all of them. */
void ranks_rows(const kith_context *context, int64_t all, int64_t *first, int64_t *count);

/* Collective: rows of memory that `give` fills in on rank 0, piece by piece, come to their ranks.
 * Errors: the status, give's, those of ranks_agree, KITH_OUT_OF_MEMORY. */
typedef kith_status ranks_give_memory(void *argument, int64_t first, int64_t rows, void *memory);
kith_status ranks_deal(kith_context *context, int64_t all, void *own, int64_t row_bytes,
                       ranks_give_memory *give, void *argument);

/* ranks_collect_bodies of rows in memory. */
typedef kith_status ranks_take_memory(void *argument, int64_t first, int64_t rows,
                                      const void *memory);
kith_status ranks_collect(kith_context *context, int64_t all, const void *own, int64_t row_bytes,
                          ranks_take_memory *take, void *argument);

#endif
