#ifndef INITIAL_DISK_H
#define INITIAL_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "initial/random.h"

/* A spiral galaxy of total mass 1, scale length 1 and G = 1 in approximate equilibrium, turning
 * counter-clockwise about z: a bulge (Hernquist 1990; mass 0.3, a = 0.2) and an exponential disk
 * (mass 0.7, thickness 0.05, Toomre's Q 1.5), both cut at radius 6, all stars of one mass. There is
 * no halo.
 *
 * Speeds are normal around the mean ones that the Jeans equations ask for (Hernquist 1993); they
 * come from a table. */

/* How many of count stars are the bulge's: the first, at least 1. */
int64_t disk_bulge_count(int64_t count);

/* Where a star is and how it moves; stream is its own. */
void disk_place(struct random_stream *stream, bool in_bulge, double position[3],
                double velocity[3]);

#endif
