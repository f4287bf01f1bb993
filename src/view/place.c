#include "view/place.h"

#include <math.h>
#include <string.h>

#include "cells/lattice.h"

/* By the vectors of the whole cell, open ones too, as it is drawn; if they span no volume, by the
 * periodic ones. */
static kith_status make_lattice(const kith_bodies *bodies, struct place *place)
{
    const int32_t d = bodies->dimensions;
    kith_cell whole = {.periodic = {true, true, d == 3}}, cell = {.periodic = {false}};
    for (int32_t k = 0; k < d; k++) {
        memcpy(cell.vectors[k], bodies->cell + 3 * k, sizeof cell.vectors[k]);
        cell.periodic[k] = bodies->periodic[k];
        place->wraps = place->wraps || cell.periodic[k];
    }
    memcpy(whole.vectors, cell.vectors, sizeof whole.vectors);
    if (!place->wraps)
        return KITH_OK;
    if (pairs_lattice_make(&whole, d, 1, &place->lattice) != KITH_OK)
        return pairs_lattice_make(&cell, d, 1, &place->lattice);
    memcpy(place->lattice.periodic, cell.periodic, sizeof cell.periodic);
    return KITH_OK;
}

kith_status place_make(const kith_bodies *bodies, struct place *place)
{
    double mean[3] = {0, 0, 0}, at[3];
    int64_t left = 0;
    *place = (struct place){.wraps = false};
    if (bodies->has_cell)
        KITH_TRY(make_lattice(bodies, place));
    for (int64_t i = 0; i < bodies->count; i++)
        left += !isnan(bodies->position[i * bodies->dimensions]);
    for (int64_t i = 0; i < bodies->count; i++) {
        place_of(place, bodies, i, at);
        for (int32_t c = 0; c < 3 && !isnan(at[0]); c++)
            mean[c] += at[c] / (double)left;
    }
    memcpy(place->origin, mean, sizeof mean);
    return KITH_OK;
}
