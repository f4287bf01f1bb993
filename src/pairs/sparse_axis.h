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

/* Returns the number of a coordinate, a new one if it is absent. */
kith_status sparse_axis_add(struct sparse_axis *axis, int64_t value, int64_t *number);

/* Forgets them; the memory stays. */
void sparse_axis_clear(struct sparse_axis *axis);

/* A coordinate and its number. */
struct sparse_coordinate {
    int64_t value, number;
};

/* What becomes of the coordinates, by their numbers: in ascending order as they were, but a gap
 * wider than the reach is made one wider than it. The axis has this many cells. `sorted` is room
 * for axis->count. Returns the number of remaining coordinates. */
int64_t sparse_axis_compress(const struct sparse_axis *axis, int64_t cells, int64_t reach,
                             bool periodic, struct sparse_coordinate *sorted, int64_t *compact);

void sparse_axis_free(struct sparse_axis *axis);

#endif
