#ifndef SUMS_LIST_H
#define SUMS_LIST_H

#include "kith/pairs.h"
#include "sums/problem.h"

/* Takes a list whose arrays fit the problem's targets and sources.
 *
 * Errors: KITH_INVALID_ARGUMENT. */
kith_status sums_list_take(kith_context *context, const kith_pairs *pairs,
                           struct sums_problem *problem);

#endif
