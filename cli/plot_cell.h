#ifndef CLI_PLOT_CELL_H
#define CLI_PLOT_CELL_H

#include "plot.h"

/* Moves bodies into their cell along its periodic vectors, as kith view shows them: simulations
 * never wrap positions. False, with a message, for a cell without volume. */
bool plot_wrap(const struct plot *plot, kith_bodies *bodies);

#endif
