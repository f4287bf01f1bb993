#ifndef FORCES_BLOCKS_CPU_H
#define FORCES_BLOCKS_CPU_H

#include "forces/direct_kernel.h"
#include "forces/law_sums_kernel.h"
#include "kith/context.h"

/* A problem, and the kernel that takes ranges of its targets, or systems. */
struct forces_blocks {
    const struct forces_problem *problem;
    forces_direct_kernel *kernel;        /* of gravity; or */
    const struct law_sums_problem *sums; /* the problem for law_kernel */
    law_sums_kernel *law_kernel;         /* NULL: gravity */
};

/* Computes the problem, which one thread takes this many seconds for. Threads, and ranks if targets
 * are divided (targets_ranks.h), compute whole blocks of kith_padding targets or systems, each
 * independently: the bits do not depend on the assignment.
 *
 * Errors: KITH_CANCELLED; those of ranks_agree. */
kith_status forces_do_blocks(kith_context *context, const struct forces_blocks *blocks,
                             double seconds);

/* Some of the targets or systems, from a multiple of kith_padding on, in the calling thread. */
void forces_compute_blocks(const struct forces_blocks *blocks, int64_t begin, int64_t end);

#endif
