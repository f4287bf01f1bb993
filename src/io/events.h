#ifndef IO_EVENTS_H
#define IO_EVENTS_H

#include "kith/simulation.h"

/* Applies the events up to a step to the columns of the bodies as they were at the start: masses,
 * charges and radii, 0 of those removed. */
void events_apply(const kith_event *events, int64_t count, int64_t step, kith_bodies *bodies);

#endif
