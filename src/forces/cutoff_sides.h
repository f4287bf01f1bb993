#ifndef FORCES_CUTOFF_SIDES_H
#define FORCES_CUTOFF_SIDES_H

/* Sources and targets of forces within a cutoff on the CPU, in the order of their cells. */

#include "cells/cells.h"
#include "core/status.h"
#include "forces/problem.h"
#include "kith/context.h"

/* Columns of one side: by row, as the problem has them, and by slot, the index after sorting. */
enum {
    cutoff_weight_column,
    cutoff_charge_column,
    cutoff_softening_column,
    cutoff_total_column,
    cutoff_column_count
};

struct cutoff_side {
    int64_t count;
    const void *const *position; /* by row */
    struct cells_points wrapped, points;
    uint32_t *order; /* the row of a slot */
    const void *from[cutoff_column_count];
    void *column[cutoff_column_count]; /* NULL where from is */
};

/* Parts of one block of memory; the first laying out only measures. */
struct cutoff_arena {
    char *base;
    int64_t used;
};

void *cutoff_arena_take(struct cutoff_arena *arena, int64_t count, int64_t bytes_each);

/* Gives a side its memory; count and from are set. */
void cutoff_side_lay_out(struct cutoff_arena *arena, kith_dtype dtype, struct cutoff_side *side);

/* Wraps the positions into the cell; bounds grow by them.
 *
 *   bad_row  [out] the first row that is not finite or too far away; −1: none
 *
 * Errors: KITH_CANCELLED. */
kith_status cutoff_side_wrap(kith_context *context, const struct forces_problem *problem,
                             struct cutoff_side *side, struct cells_bounds *bounds,
                             int64_t *bad_row);

/* KITH_INVALID_ARGUMENT for a bad row ≥ 0 of the positions of `name`; else KITH_OK. */
kith_status cutoff_side_check(int64_t bad_row, const char *name);

/* Sorts a wrapped side by the cells of a grid.
 *
 *   begin    [out] the first slot of each bucket, or NULL
 *   scratch  cells_sort_scratch_bytes
 *
 * Errors: KITH_CANCELLED. */
kith_status cutoff_side_sort(kith_context *context, const struct forces_problem *problem,
                             const struct cells_grid *grid, int32_t *begin, void *scratch,
                             struct cutoff_side *side);

/* Targets that are the sources, in their order: they have columns of their own.
 * Errors: KITH_CANCELLED. */
kith_status cutoff_side_follow(kith_context *context, const struct cutoff_side *sources,
                               struct cutoff_side *targets);

#endif
