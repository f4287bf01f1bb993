#ifndef COLLISIONS_REFERENCE_H
#define COLLISIONS_REFERENCE_H

#include "kith/context.h"
#include "lattice/problem.h"

/* The definitions as loops over all pairs, for tests and for small numbers of beads. */

/* Pairs i < j at one site. */
int64_t collisions_reference(const struct collisions_problem *problem);

/* The same for a call. Errors: KITH_CANCELLED. */
kith_status collisions_count_by_reference(const kith_context *context,
                                          const struct collisions_problem *problem, int64_t *count);

/* Pairs i, j > i + 1 at distance 1; of those whose flags are both set, unless hydrophobic is NULL.
 */
int64_t contacts_reference(const struct collisions_problem *problem,
                           const unsigned char *hydrophobic);

#endif
