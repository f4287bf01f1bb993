#ifndef PAIRS_ROWS_H
#define PAIRS_ROWS_H

#include "pairs/search.h"

/* Rows with more than i and j, or with exclusions: partners found, those excluded left out, sorted
 * and written, one target after the other. */

/* Lists this long, 4 MB, are larger than a core's own caches. Rows are written far from each other,
 * so that even in a shared cache streaming is faster: by a half for 2·10⁶ pairs in 2D. */
enum { pairs_of_streamed_list = 1 << 18 };

/* Whether the kernels can write the rows by themselves. */
bool pairs_rows_are_plain(const struct pairs_problem *problem, const kith_pairs *pairs);

/* Finds the partners of the target at a position, by number among the candidates, and returns how
 * many there are. */
int64_t pairs_find_row(const struct pairs_kernels *kernels, const struct pairs_search *search,
                       const struct pairs_candidates *candidates, int64_t position, int32_t *found);

/* Writes the rows of the targets at the positions begin … end − 1, in the order of the candidates.
 */
kith_status pairs_write_rows(const struct pairs_kernels *kernels, const struct pairs_search *search,
                             const struct pairs_candidates *candidates, int64_t begin, int64_t end,
                             struct pairs_lane *lane, const kith_pairs *pairs);

/* Writes the row of the target at a position, the nearest that are requested, if as many are found;
 * place is the target's row in the search. */
kith_status pairs_write_nearest(const struct pairs_kernels *kernels,
                                const struct pairs_search *search,
                                const struct pairs_candidates *candidates, int64_t position,
                                int64_t place, int64_t wanted, struct pairs_lane *lane,
                                const kith_pairs *pairs, bool *found);

#endif
