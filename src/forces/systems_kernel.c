/* The forces of ensembles for one instruction set: systems_kernel_body.h, for float and for double.
 */

#include "forces/systems_kernel.h"

#include "forces/systems.h"

/* In the order of the indices [outputs][dimensions − 2]. */
#define EACH_VARIANT(ROW)                                                                          \
    ROW(forces_acceleration, 2)                                                                    \
    ROW(forces_acceleration, 3)                                                                    \
    ROW(forces_potential, 2)                                                                       \
    ROW(forces_potential, 3)                                                                       \
    ROW(forces_jerk, 2)                                                                            \
    ROW(forces_jerk, 3)

#define KERNEL_BODY "forces/systems_kernel_body.h"
#include "forces/for_each_real.h"

const struct forces_systems_kernels KITH_ISA_SYMBOL(forces_systems) = {
    .in_double = forces_systems_double,
    .in_float = forces_systems_float,
};
