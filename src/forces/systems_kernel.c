/* The forces of ensembles for one instruction set: systems_kernel_body.h, for float and for double.
 */

#include "forces/systems_kernel.h"

#include "core/simd.h"
#include "forces/s2_floor.h"
#include "forces/systems.h"

/* In the order of the indices [outputs][dimensions − 2]. */
#define EACH_VARIANT(ROW)                                                                          \
    ROW(systems_acceleration, 2)                                                                   \
    ROW(systems_acceleration, 3)                                                                   \
    ROW(systems_potential, 2)                                                                      \
    ROW(systems_potential, 3)                                                                      \
    ROW(systems_jerk, 2)                                                                           \
    ROW(systems_jerk, 3)

#define REAL       float
#define VREAL      vfloat
#define NAME(name) name##_float
#define S2_FLOOR   S2_FLOOR_FLOAT
#include "forces/systems_kernel_body.h"
#undef REAL
#undef VREAL
#undef NAME
#undef S2_FLOOR

#define REAL       double
#define VREAL      vdouble
#define NAME(name) name##_double
#define S2_FLOOR   S2_FLOOR_DOUBLE
#include "forces/systems_kernel_body.h"

const struct forces_systems_kernels KITH_ISA_SYMBOL(forces_systems) = {
    .in_double = forces_systems_double,
    .in_float = forces_systems_float,
};
