#ifndef INITIAL_SELF_AVOIDING_H
#define INITIAL_SELF_AVOIDING_H

#include "core/poll.h"
#include "kith/initial.h"

/* A self-avoiding walk in equilibrium, by the pivot algorithm (Lal 1969; Madras & Sokal 1988, J.
 * Stat. Phys. 50, 109): from a straight line, 10 N times (for more than 15 000 beads 2·10⁹ / N
 * times) the part after a random bead is rotated or mirrored about it by a random symmetry of the
 * lattice, unless it then met the rest.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status initial_self_avoiding_walk(const kith_initial_options *options, struct poll_state *poll,
                                       kith_bodies *bodies);

#endif
