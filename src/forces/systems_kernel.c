/* The forces of ensembles for one instruction set and real type. */

#include "forces/systems_kernel.h"

#include "core/real.h"
#include "forces/systems.h"

/* In the order of the indices [outputs][dimensions − 2]. */
#define EACH_VARIANT(ROW)                                                                          \
    ROW(forces_acceleration, 2)                                                                    \
    ROW(forces_acceleration, 3)                                                                    \
    ROW(forces_potential, 2)                                                                       \
    ROW(forces_potential, 3)                                                                       \
    ROW(forces_jerk, 2)                                                                            \
    ROW(forces_jerk, 3)

#include "forces/systems_kernel_body.h"
