#ifndef FORCES_ARGUMENTS_H
#define FORCES_ARGUMENTS_H

#include <float.h>
#include <math.h>

#include "forces/problem.h"
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

    /* A law other than gravity, or NULL. Then masses divide forces, and charges are not none only
     * if the law has charges. */
    const kith_law *law;
    bool uses_charges;
    kith_array target_masses, target_charges, source_charges;

    double gravitational_constant, softening;
    struct forces_way way;
    kith_context *context; /* whose threads look at the numbers and copy them */

    /* Of all coordinates and softenings, all masses; only of arrays on the host. */
    double largest_length, largest_mass;
};

static inline int64_t forces_target_count(const struct forces_arguments *arguments)
{
    return kith_array_is_none(arguments->targets) ? arguments->sources.shape[0]
                                                  : arguments->targets.shape[0];
}

/* The masses that divide forces must be more than 0: the least that is allowed. */
static inline double forces_least_mass(const struct forces_arguments *arguments, bool of_targets)
{
    const bool divide = of_targets || kith_array_is_none(arguments->targets);
    if (!arguments->law || !divide || kith_array_is_none(arguments->acceleration))
        return -(double)INFINITY;
    return arguments->sources.dtype == KITH_F64 ? DBL_MIN : (double)FLT_MIN;
}

/* What a message says of numbers that must be finite and at least this. */
static inline const char *forces_remedy(double least)
{
    return least == 0  ? "lengths of at least 0"
           : least > 0 ? "masses greater than 0, by which forces are divided"
                       : "finite numbers";
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
