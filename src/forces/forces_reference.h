#ifndef FORCES_FORCES_REFERENCE_H
#define FORCES_FORCES_REFERENCE_H

#include "forces/problem.h"
#include "kith/context.h"

/* The reference of the fast paths: the formula of problem.h as a loop, in double precision, by one
 * thread. The problem's memory must be the host's.
 *
 * Errors: KITH_INVALID_ARGUMENT if the problem is not in double. */
kith_status forces_reference(kith_context *context, const struct forces_problem *problem);

/* A number of a result (NULL: not requested) of body i, added to it if the problem accumulates. */
static inline void forces_store(const struct forces_problem *problem, void *result, int64_t i,
                                double value)
{
    double *to = result;
    if (to)
        to[i] = problem->accumulate ? to[i] + value : value;
}

#endif
