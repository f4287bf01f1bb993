/* Whole steps of small systems for one instruction set and real type. */

#include "simulation/advance_kernel.h"

#include "core/real.h"
#include "core/simd_permute.h"
#include "forces/systems.h"

#include "simulation/advance_kernel_body.h"

const struct advance_kernels KITH_REAL_SYMBOL(advance) = {REAL_LANES, advance_one, advance_systems};
