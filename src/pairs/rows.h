#ifndef PAIRS_ROWS_H
#define PAIRS_ROWS_H

#include "pairs/search.h"

/* The row of one target: its partners found, those excluded left out, sorted and written. */

/* Room for the hits of a target among so many candidates. */
kith_status pairs_lane_reserve(struct pairs_lane *lane, const struct pairs_problem *problem,
                               int64_t run_count, int64_t candidates);

/* Finds the partners of the target at a position and returns how many there are. */
int64_t pairs_find_row(const struct pairs_kernels *kernels, const struct pairs_search *search,
                       const struct pairs_scan *scan, int64_t position, struct pairs_lane *lane);

/* The same, and writes them to the list, whose offsets are there. */
void pairs_write_row(const struct pairs_kernels *kernels, const struct pairs_search *search,
                     const struct pairs_scan *scan, int64_t position, struct pairs_lane *lane,
                     kith_pairs *pairs);

#endif
