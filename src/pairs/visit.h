#ifndef PAIRS_VISIT_H
#define PAIRS_VISIT_H

#include "pairs/problem.h"

/* The rows of the list that kith_pairs_compute would make of points that have no cells, one call of
 * the visitor for each target, partners in ascending order. On the CPU.
 *
 * Errors: those of kith_pairs_compute. */
kith_status pairs_visit(kith_context *context, const kith_pairs_options *options,
                        kith_array positions, const struct pairs_visitor *visitor);

#endif
