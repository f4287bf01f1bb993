#ifndef FORCES_ARGUMENTS_H
#define FORCES_ARGUMENTS_H

#include "kith/forces.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of kith_forces_compute, with the options' defaults filled in. */
struct forces_arguments {
    kith_array targets; /* none if they are the sources */
    kith_array sources, masses;
    kith_array target_softening, source_softening;
    kith_array acceleration, potential;
    double gravitational_constant, softening;
    kith_context *context; /* whose threads look at the numbers and copy them */

    /* Of all coordinates and softenings, all masses; only of arrays on the host. */
    double largest_length, largest_mass;
};

static inline int64_t forces_target_count(const struct forces_arguments *arguments)
{
    return kith_array_is_none(arguments->targets) ? arguments->sources.shape[0]
                                                  : arguments->targets.shape[0];
}

/* All arrays are on a device: forces_check_arguments has seen to it that they are in one place. */
static inline bool forces_on_device(const struct forces_arguments *arguments)
{
    return arguments->sources.device.kind != KITH_CPU;
}

/* Checks them for a context on this device, and fills in the largest magnitudes. Of arrays on a
 * device only what the host knows is checked. Errors: those of kith_forces_compute. */
kith_status forces_check_arguments(kith_device device, struct forces_arguments *arguments);

#ifdef __cplusplus
}
#endif

#endif
