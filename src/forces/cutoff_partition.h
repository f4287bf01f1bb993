#ifndef FORCES_CUTOFF_PARTITION_H
#define FORCES_CUTOFF_PARTITION_H

/* Which rank sums which targets within a cutoff, and which bodies it needs for that
 * (forces/cutoff_slices.h). */

#include "forces/cutoff_sides.h"
#include "forces/cutoff_slices.h"

enum { cutoff_of_sources, cutoff_of_targets, cutoff_most_sides };

struct cutoff_partition_side {
    const char *name;
    int64_t all, count, first_row; /* of all ranks; of this one */
    struct cutoff_side wrapped;    /* during cutoff_partition_make */
    void *memory;                  /* of that */
    uint32_t *bucket;              /* of each of this rank's */
};

struct cutoff_partition {
    kith_context *context;
    const struct forces_problem *own;
    struct cutoff_part part;
    int32_t side_count; /* 1: the targets are the sources */
    struct cutoff_partition_side side[cutoff_most_sides];
    uint32_t *before;    /* targets of all ranks before a bucket; bucket_count + 1 */
    int axis;            /* of the planes */
    bool *planes;        /* of each rank, those that its targets have candidates in */
    int64_t (*range)[2]; /* of each rank, the first and the last bucket of its targets */
};

/* Collective. Free it with cutoff_partition_free, after an error too. Errors: KITH_INVALID_ARGUMENT
 * (as cutoff_side_check, the row being that of all ranks), KITH_OUT_OF_MEMORY, those of
 * ranks_agree. */
kith_status cutoff_partition_make(kith_context *context, const struct forces_problem *own,
                                  struct cutoff_partition *partition);
void cutoff_partition_free(struct cutoff_partition *partition);

/* Whether a rank gets body i of this rank's. */
bool cutoff_partition_gives(const struct cutoff_partition *partition, int32_t side, int64_t i,
                            int32_t rank);

#endif
