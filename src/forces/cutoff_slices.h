#ifndef FORCES_CUTOFF_SLICES_H
#define FORCES_CUTOFF_SLICES_H

/* Forces within a cutoff of bodies of which each rank of a job has a slice (forces/slice.h): the
 * targets in the order of their cells are divided among the ranks, and each rank gets the bodies in
 * the planes of buckets that its targets have candidates in. Targets that are not the sources go to
 * the ranks that have their buckets. A rank needs the memory of those, of two numbers for each
 * bucket of all bodies, and of 80 bytes for each 256 bodies.
 *
 * Bits: those of one process. */

#include "cells/grid.h"
#include "forces/cutoff.h"
#include "forces/tasks_ranks.h"

enum { cutoff_targets_a_task = 256 };

/* The part of a rank, of a problem whose bodies are those that it gets. */
struct cutoff_part {
    struct cells_grid grid;  /* of all bodies */
    struct tasks_part tasks; /* of all targets; this rank's are first … end − 1 */
    int64_t all;             /* targets of all ranks */
    int64_t targets_a_task;
    int64_t bucket, before; /* of the first target, and how many of all targets are before it */
    int64_t begin, end;     /* [out] where this rank's targets are in the order of the cells, */
    const uint32_t *order;  /* [out] and the row of each, as long as the memory is there */
};

/* Whether a problem of slices is one for that: solved once. */
bool cutoff_takes_slices(const struct forces_problem *own);

/* Collective: the forces on this rank's targets. Errors: also those of ranks_agree. */
kith_status forces_cutoff_slices(kith_context *context, const struct forces_problem *own,
                                 struct cutoff_memory *memory);

/* Collective: forces_cutoff_cpu of a part: of the bodies from order[begin] to order[end − 1]. */
kith_status forces_cutoff_part(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, struct cutoff_part *part,
                               struct cutoff_memory *memory);

#endif
