#ifndef FORCES_SYSTEMS_H
#define FORCES_SYSTEMS_H

#include <assert.h>

#include "core/status.h"
#include "forces/law_sums_problem.h"
#include "forces/problem.h"
#include "kith/ensemble.h"

static_assert((int)systems_most_bodies == (int)kith_most_bodies_of_system,
              "kernels have room for the bodies of a system");

/* What the loop over the pairs of small systems is compiled for, of gravity (systems_block.h). */
struct systems_variant {
    int32_t dimensions;
    enum forces_outputs outputs;
};

/* Errors: KITH_INVALID_ARGUMENT for a problem of many systems of more bodies. */
static inline kith_status systems_check(const struct forces_problem *problem)
{
    if (problem->system_count > 0 && problem->target_count > systems_most_bodies)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the systems have %lld bodies each; give ensembles of at most %d",
                         (long long)problem->target_count, (int)systems_most_bodies);
    return KITH_OK;
}

#endif
