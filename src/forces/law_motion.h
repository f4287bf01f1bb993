#ifndef FORCES_LAW_MOTION_H
#define FORCES_LAW_MOTION_H

#include <stddef.h>

#include "forces/law_sums.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What forces_law_cuda does with a problem with a jerk, and with one of many systems.
 * Errors: KITH_INVALID_ARGUMENT for a jerk that the law does not have (forces_check_jerk). */
kith_status forces_law_jerk_cuda(kith_context *context, const struct forces_problem *problem);
kith_status forces_law_systems_cuda(kith_context *context, const struct forces_problem *problem);

static inline bool forces_wants_rates(const struct forces_problem *problem)
{
    return problem->jerk[0] || problem->potential_rate;
}

/* The potential of a problem with more outputs: the kernels of the jerk have none. */
static inline struct forces_problem forces_values_alone(const struct forces_problem *problem)
{
    struct forces_problem alone = *problem;
    for (int c = 0; c < 3; c++)
        alone.acceleration[c] = alone.jerk[c] = NULL;
    alone.potential_rate = NULL;
    return alone;
}

#ifdef __cplusplus
}
#endif

#endif
