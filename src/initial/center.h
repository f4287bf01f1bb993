#ifndef INITIAL_CENTER_H
#define INITIAL_CENTER_H

#include "kith/bodies.h"

/* Takes the velocity of the center of mass away, up to rounding. */
void initial_stop(kith_bodies *bodies);

/* The same, and moves the center of mass to the origin. */
void initial_center(kith_bodies *bodies);

#endif
