#ifndef PAIRS_SPARSE_AXIS_H
#define PAIRS_SPARSE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* Coordinates of cells along an axis, each once, numbered in the order of their coming: open
 * addressing in a power of two of slots, at most half of them full. */
struct sparse_axis {
    int64_t *value;
    int64_t count;
    int64_t *slot; /* numbers, or −1 */
    int64_t slots;
};

/* Gives the number of a coordinate, a new one if it is not there yet. */
kith_status sparse_axis_add(struct sparse_axis *axis, int64_t value, int64_t *number);

/* What becomes of the coordinates, by their numbers: in ascending order as they were, but a gap
 * wider than the reach is made one wider than it. The axis has so many cells. `left` is how many
 * coordinates are left. */
kith_status sparse_axis_compress(const struct sparse_axis *axis, int64_t cells, int64_t reach,
                                 bool periodic, int64_t *compact, int64_t *left);

void sparse_axis_free(struct sparse_axis *axis);

#endif
