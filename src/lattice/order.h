#ifndef COLLISIONS_ORDER_H
#define COLLISIONS_ORDER_H

#include "lattice/box.h"

/* Errors: KITH_UNSUPPORTED for beads that 32 bits cannot number. */
kith_status collisions_check_sortable(int64_t beads);

/* The beads in an order in which those at one site follow one another, ascending.
 *
 *   order  [out] numbers of the beads
 *
 * Errors: KITH_UNSUPPORTED as above, KITH_OUT_OF_MEMORY, KITH_CANCELLED. Cost: O(n), 20 bytes per
 * bead, 32 where sites have no keys. */
kith_status collisions_order(kith_context *context, const struct collisions_problem *problem,
                             const struct collisions_box *box, uint32_t *order);

#endif
