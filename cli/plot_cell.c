/* Bodies of periodic cells, where pictures show them. */

#include "plot_cell.h"

#include <string.h>

#include "view/place.h"

bool plot_wrap(const struct plot *plot, kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions;
    struct place place;
    if (!bodies->has_cell)
        return true;
    if (place_make(bodies, &place) != KITH_OK) {
        cli_fail(plot->command);
        return false;
    }
    for (int64_t i = 0; place.wraps && i < bodies->count; i++) {
        double *x = bodies->position + i * d, at[3] = {x[0], x[1], d == 3 ? x[2] : 0};
        int32_t cells[3];
        pairs_wrap(&place.lattice, at, cells);
        memcpy(x, at, (size_t)d * sizeof *x);
    }
    return true;
}
