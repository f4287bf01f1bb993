#ifndef COLLISIONS_REFERENCE_H
#define COLLISIONS_REFERENCE_H

#include "collisions/problem.h"

/* The definitions as loops over all pairs, for tests and for small numbers of beads. */

/* Pairs i < j at one site. */
int64_t collisions_reference(const struct collisions_problem *problem);

/* Pairs i, j > i + 1 at distance 1; of those whose flags are both set, unless hydrophobic is NULL.
 */
int64_t contacts_reference(const struct collisions_problem *problem,
                           const unsigned char *hydrophobic);

#endif
