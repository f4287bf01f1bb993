#ifndef FORCES_ARGUMENTS_H
#define FORCES_ARGUMENTS_H

#include "kith/forces.h"

/* The arguments of kith_forces_compute, with the options' defaults filled in. */
struct forces_arguments {
    kith_array targets; /* none if they are the sources */
    kith_array sources, masses;
    kith_array target_softening, source_softening;
    kith_array acceleration, potential;
    double gravitational_constant, softening;

    double largest_length, largest_mass; /* of all coordinates and softenings, all masses */
};

static inline int64_t forces_target_count(const struct forces_arguments *arguments)
{
    return kith_array_is_none(arguments->targets) ? arguments->sources.shape[0]
                                                  : arguments->targets.shape[0];
}

/* Checks them, and fills in the largest magnitudes. Errors: those of kith_forces_compute. */
kith_status forces_check_arguments(struct forces_arguments *arguments);

#endif
