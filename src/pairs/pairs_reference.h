#ifndef PAIRS_REFERENCE_H
#define PAIRS_REFERENCE_H

#include "kith/context.h"
#include "pairs/problem.h"

/* The definition in plain C, in double precision: every target with every image of every point that
 * may be near. Arrays are on the host, and the list goes to the host. */
kith_status pairs_reference(const kith_context *context, const struct pairs_problem *problem,
                            kith_pairs *pairs);

#endif
