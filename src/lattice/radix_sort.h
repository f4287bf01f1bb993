#ifndef COLLISIONS_RADIX_SORT_H
#define COLLISIONS_RADIX_SORT_H

#include "lattice/box.h"

/* Sorts keys of this many bits ascending, stably, and with each its value, unless values is NULL.
 * The buffers are as long as the keys and the values.
 *
 * Errors: KITH_CANCELLED. */
kith_status collisions_sort_keys(const kith_context *context, int64_t count, int32_t bits,
                                 uint64_t *keys, int64_t *values, uint64_t *key_buffer,
                                 int64_t *value_buffer);

/* The beads in an order in which those at one site follow one another, ascending.
 *
 *   order  [out] numbers of the beads
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. Cost: O(n), 24 bytes per bead. */
kith_status collisions_order(const kith_context *context, const struct collisions_problem *problem,
                             const struct collisions_box *box, int64_t *order);

#endif
