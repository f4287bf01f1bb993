#ifndef PAIRS_NEAREST_RADIUS_H
#define PAIRS_NEAREST_RADIUS_H

#include "pairs/search.h"

/* A radius, in the caller's unit, within which about half of the targets or more have k points:
 * from the k-th distances of a few targets, without periodic images. */
double pairs_guess_radius(const struct pairs_problem *problem, int64_t k);

#endif
