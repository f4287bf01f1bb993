#ifndef FORCES_VERLET_SLABS_H
#define FORCES_VERLET_SLABS_H

/* Space divided among devices that share a Verlet list: layers of cells across the first axis that
 * has several cells, each device a contiguous part of them, its slab. A device has the particles of
 * its slab and, as ghosts, those of the `reach` layers on either side of it, periodically: all that
 * are within the search distance of its own. */

#include <stdbool.h>
#include <stdint.h>

#include "core/both_sides.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { verlet_most_devices = 64 };

struct verlet_slabs {
    int devices, layers, reach;
    int begin[verlet_most_devices + 1]; /* the layers begin[d] … begin[d + 1] − 1 of device d */
};

/* Whether each device can have a slab of `reach` layers, the fewest: all ghosts of a device are
 * then with the devices next to it. */
bool verlet_slabs_suit(const struct verlet_slabs *slabs);

/* Slabs of about the same number of particles; in_layer is that of each layer. Slabs that are
 * there already (begin[devices] > 0) stay if others would not be better by a 64th of the mean,
 * since particles need not change their device then. */
void verlet_choose_slabs(const int64_t *in_layer, struct verlet_slabs *slabs);

/* Particles in the layers from `begin` to end − 1, of which either may be below 0 or beyond the
 * last: those are periodic. At most as many layers as there are. */
int64_t verlet_count_in_layers(const struct verlet_slabs *slabs, const int64_t *in_layer, int begin,
                               int end);

/* The device that has a layer. */
KITH_BOTH_SIDES static inline int verlet_device_of_layer(const struct verlet_slabs *slabs,
                                                         int layer)
{
    int first = 0, end = slabs->devices; /* begin[first] ≤ layer < begin[end] */
    while (end - first > 1) {
        const int middle = (first + end) / 2;
        if (slabs->begin[middle] <= layer)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* The layers that a device has cells for: `reach` ghost layers, its own, and `reach` more. Of one
 * device that has all layers: reach is 0, count is layers. */
struct verlet_slab {
    int layers, begin, count, reach;
};

/* A layer among those of a slab, as it is for its own particles (side 0), the ghosts below (−1) or
 * above (1). *image is which periodic image of the layer that is. */
KITH_BOTH_SIDES static inline int verlet_layer_in_slab(const struct verlet_slab *slab, int layer,
                                                       int side, int *image)
{
    const int from_begin = layer - slab->begin;
    *image = 0;
    if (side < 0 && from_begin >= 0)
        *image = -1;
    else if (side > 0 && from_begin < slab->count)
        *image = 1;
    return from_begin + *image * slab->layers + slab->reach;
}

#ifdef __cplusplus
}
#endif

#endif
