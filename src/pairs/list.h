#ifndef PAIRS_LIST_H
#define PAIRS_LIST_H

#include "pairs/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a backend makes a list: it counts, and then fills.
 *
 *   pairs_list_begin    sets pairs->row_count, allocates pairs->offsets (row_count + 1 elements)
 *   …                   the backend writes the offsets
 *   pairs_list_reserve  allocates memory for count pairs, for the arrays that were requested
 *   …                   the backend writes i, j, shifts, vectors and distances where data is not
 *                       NULL
 *
 * Arrays are the backend's own memory and dense. Memory of the list's last use is used again.
 *
 * Errors: KITH_OUT_OF_MEMORY, over the memory limit too. */
kith_status pairs_list_begin(const struct pairs_problem *problem, kith_pairs *pairs);
kith_status pairs_list_reserve(int64_t count, kith_pairs *pairs);

/* For a backend that begins to write before it knows how many pairs there are: the arrays that were
 * requested, in the memory of the list's last use. Returns the number of pairs that it holds; 0:
 * none. Before pairs_list_reserve, which then leaves the memory where it is if it is enough. */
int64_t pairs_list_reuse(kith_pairs *pairs);

#ifdef __cplusplus
}
#endif

#endif
