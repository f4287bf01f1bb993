#ifndef PAIRS_SMALL_CPU_H
#define PAIRS_SMALL_CPU_H

#include "pairs/search.h"

/* Lists the pairs of systems that are all small enough to compare every target with every point,
 * and boxes of which one image of a point at most is within the cutoff, or open. Else *done is
 * false, and nothing has been listed; also if some number is bad. */
kith_status pairs_small_cpu(kith_context *context, const struct pairs_problem *problem,
                            struct pairs_workspace *workspace, kith_pairs *pairs, bool *done);

#endif
