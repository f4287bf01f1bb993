#ifndef RUN_PAST_RANKS_H
#define RUN_PAST_RANKS_H

#include "io/run_file.h"

/* run_past_read by the first rank of a job, for all of them. Collective; the same for a single
 * process.
 * Errors: those of run_past_read and ranks_agree. */
kith_status run_past_read_by_first(kith_context *context, const char *output,
                                   struct run_past *past);

#endif
