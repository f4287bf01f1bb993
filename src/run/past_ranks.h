#ifndef RUN_PAST_RANKS_H
#define RUN_PAST_RANKS_H

#include "io/run_file.h"

/* run_past_read by the first rank of a job, for all of them: the start and the checkpoint's state
 * are those of the rows of each rank (ranks/bodies.h: ranks_rows). Collective; the same for a
 * single process. Errors: those of run_past_read and ranks_agree. */
kith_status run_past_read_by_first(kith_context *context, const char *output,
                                   struct run_past *past);

/* Collective: its checkpoint with the state of all rows, on all ranks; free united->state.
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status run_past_unite_state(kith_context *context, const struct run_past *past,
                                 kith_checkpoint *united);

#endif
