/* Whole steps of small systems for one precision. Included by advance_kernel.c for each, with REAL,
 * VREAL, NAME and S2_FLOOR as forces/pair.h says. */

#include "forces/pair.h"
#include "forces/systems_block.h"

/* What the kernels multiply masses by: G, and what their sums are still to be divided by. */
static double NAME(mass_factor)(const struct forces_problem *forces)
{
    return forces->gravitational_constant / PAIR_SCALE;
}

/* v += kick·a, then x += drift·v. */
SIMD_INLINE void NAME(kick_and_drift)(const struct advance_stage *stage, VREAL acceleration,
                                      VREAL *velocity, VREAL *position)
{
    const REAL kick = (REAL)stage->kick, drift = (REAL)stage->drift;
    if (kick != 0)
        *velocity = simd_fma(simd_all(kick), acceleration, *velocity);
    if (drift != 0)
        *position = simd_fma(simd_all(drift), *velocity, *position);
}

#include "simulation/advance_systems_body.h"

#include "simulation/advance_ring_body.h"

#include "simulation/advance_tiles_body.h"

static void NAME(advance_one)(const struct advance_problem *problem,
                              const struct advance_program *program)
{
    if (problem->forces.target_count <= NAME(lanes))
        NAME(advance_ring)(problem, program);
    else
        NAME(advance_tiles)(problem, program);
}
