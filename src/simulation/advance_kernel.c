/* Whole steps of small systems for one instruction set: the kernels' bodies, for float and for
 * double. */

#include "simulation/advance_kernel.h"

#include "core/simd_permute.h"
#include "forces/systems.h"

#define KERNEL_BODY "simulation/advance_kernel_body.h"
#include "forces/for_each_real.h"

const struct advance_kernels KITH_ISA_SYMBOL(advance) = {
    .vector_bytes = SIMD_BYTES,
    .one_in_double = advance_one_double,
    .one_in_float = advance_one_float,
    .systems_in_double = advance_systems_double,
    .systems_in_float = advance_systems_float,
};
