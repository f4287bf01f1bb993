#ifndef FORCES_TARGETS_RANKS_H
#define FORCES_TARGETS_RANKS_H

#include "forces/problem.h"
#include "kith/context.h"

/* One-sided sums over the ranks of a job: each has some of the blocks of kith_padding targets. */
struct targets_part {
    int64_t first, end; /* blocks of this rank */
    bool is_divided;    /* else they are all of them, and every rank computes them */
};

/* Collective if it is divided. Errors: those of ranks_agree. */
kith_status forces_divide_targets(kith_context *context, const struct forces_problem *problem,
                                  struct targets_part *part);

/* Collective: gathers the outputs of all targets on all ranks. */
void forces_gather_targets(kith_context *context, const struct forces_problem *problem,
                           struct targets_part part);

#endif
