#ifndef INITIAL_DISK_H
#define INITIAL_DISK_H

#include <stdint.h>

#include "initial/random.h"

/* A spiral galaxy of total mass 1, scale length 1 and G = 1, turning counter-clockwise about z:
 * body 0 is the bulge (one body), the others are stars of an exponential disk, all of one mass.
 *
 * The bulge's pull is softened as by a softening length of 0.15: run it with about that. */

/* Mass of a body of the galaxy, which has count bodies. */
double disk_mass(int64_t index, int64_t count);

/* Where it is and how it moves; stream is the body's own. */
void disk_place(struct random_stream *stream, int64_t index, double position[3],
                double velocity[3]);

#endif
