/* Whole steps of small systems for one instruction set: the kernels' bodies, for float and for
 * double. */

#include "simulation/advance_kernel.h"

#include "core/simd.h"
#include "core/simd_permute.h"
#include "forces/s2_floor.h"
#include "forces/systems.h"

#define REAL       float
#define VREAL      vfloat
#define NAME(name) name##_float
#define S2_FLOOR   S2_FLOOR_FLOAT
#include "simulation/advance_kernel_body.h"
#undef REAL
#undef VREAL
#undef NAME
#undef S2_FLOOR

#define REAL       double
#define VREAL      vdouble
#define NAME(name) name##_double
#define S2_FLOOR   S2_FLOOR_DOUBLE
#include "simulation/advance_kernel_body.h"

const struct advance_kernels KITH_ISA_SYMBOL(advance) = {
    .vector_bytes = SIMD_BYTES,
    .one_in_double = advance_one_double,
    .one_in_float = advance_one_float,
    .systems_in_double = advance_systems_double,
    .systems_in_float = advance_systems_float,
};
