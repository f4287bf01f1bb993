#ifndef VIEW_PLACE_H
#define VIEW_PLACE_H

#include "cells/geometry.h"
#include "core/status.h"
#include "kith/bodies.h"

/* Displayed positions: in the cell along its periodic vectors, as simulations never wrap positions,
 * and relative to an origin, so that single precision suffices. */
struct place {
    double origin[3];
    bool wraps;
    struct pairs_lattice lattice; /* if it wraps */
};

/* The place of bodies in their cell: the origin is the mean of their positions in it, of
 * those that have neither merged nor escaped. Errors:
 * KITH_INVALID_ARGUMENT (periodic vectors that are linearly dependent). */
kith_status place_make(const kith_bodies *bodies, struct place *place);

/* Where body i is shown; of two dimensions with a third coordinate of 0. */
static inline void place_of(const struct place *place, const kith_bodies *bodies, int64_t i,
                            double at[3])
{
    const int32_t d = bodies->dimensions;
    for (int32_t c = 0; c < 3; c++)
        at[c] = c < d ? bodies->position[i * d + c] : 0;
    int32_t cells[3];
    if (place->wraps)
        pairs_wrap(&place->lattice, at, cells); /* those too far away stay there */
    for (int32_t c = 0; c < 3; c++)
        at[c] -= c < d ? place->origin[c] : 0;
}

#endif
