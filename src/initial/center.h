#ifndef INITIAL_CENTER_H
#define INITIAL_CENTER_H

#include "kith/bodies.h"

/* Moves the centre of mass to the origin and takes its velocity away, up to rounding. */
void initial_center(kith_bodies *bodies);

#endif
