#ifndef SUMS_REFERENCE_H
#define SUMS_REFERENCE_H

#include "sums/problem.h"

/* The sums as their definition says: every target, every source, every image, in double precision
 * and one thread. Errors: KITH_CANCELLED, KITH_OUT_OF_MEMORY, and those of numbers. */
kith_status sums_reference(kith_context *context, struct sums_problem *problem);

#endif
