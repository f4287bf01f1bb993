#ifndef SUMS_ARRANGE_H
#define SUMS_ARRANGE_H

/* The particles of a problem as the kernel reads them: in the order of their cells, or for all
 * pairs in that of their rows. */

#include "cells/cells.h"
#include "core/arena.h"
#include "sums/problem.h"
#include "sums/sums_kernel.h"

/* One side. Slot k is its k-th particle. */
struct sums_arranged_side {
    const struct sums_side *side;
    struct cells_points wrapped, points; /* by row, by slot; the same for all pairs */
    uint32_t *order;                     /* the row of a slot; NULL: slot k is row k */
    void *column[sums_most_columns];     /* those that formulas use, by slot; then more axes */
    int32_t columns;
    void *records; /* of sources (sums_kernel.h) */
    int32_t fields;
};

struct sums_arranged {
    const struct sums_problem *problem;
    bool has_cells;   /* points are in the order of cells */
    bool has_records; /* of sources: but where all pairs or candidates are evaluated */
    struct cells_grid grid;
    int32_t *begin; /* of buckets */
    void *scratch;  /* of sorting */
    double search;  /* a distance a little more than the cutoff: pairs_safe_distance */
    struct sums_arranged_side sources, targets;
};

/* The row of a slot. */
static inline int64_t sums_row_of(const struct sums_arranged_side *side, int64_t slot)
{
    return side->order ? (int64_t)side->order[slot] : slot;
}

/* Takes the memory of an arrangement; problem, has_cells and has_records are set. */
void sums_arrange_lay_out(struct arena *arena, struct sums_arranged *arranged);

/* Arranges. Errors: a number that is not finite (the message names the row), KITH_CANCELLED. */
kith_status sums_arrange(kith_context *context, struct sums_arranged *arranged);

#endif
