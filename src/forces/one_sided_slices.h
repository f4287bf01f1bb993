#ifndef FORCES_ONE_SIDED_SLICES_H
#define FORCES_ONE_SIDED_SLICES_H

#include "forces/blocks_cpu.h"

/* One-sided sums where each rank has a slice of the targets and of the sources
 * (forces_problem.is_slice). A rank keeps its targets, in whole blocks of kith_padding, and their
 * sums. The sources come to all ranks in tiles, in their order: the next tile comes while the
 * present one is computed, so that no rank holds more than two besides its own. Bits: those of one
 * process, which takes the sources in the same chunks (one_sided_loop_body.h). */

/* Whether a problem of slices that is not summed pair by pair is summed so. */
bool forces_takes_one_sided_slices(const struct forces_problem *problem);

/* Collective: forces_do_blocks of such a problem. Errors: KITH_OUT_OF_MEMORY, those of
 * ranks_agree. */
kith_status forces_one_sided_slices(kith_context *context, const struct forces_blocks *blocks,
                                    double seconds);

#endif
