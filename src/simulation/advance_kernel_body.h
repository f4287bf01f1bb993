/* Whole steps of small systems for one precision. Included by advance_kernel.c for each, with REAL,
 * VREAL, NAME and S2_FLOOR as forces/for_each_real.h says. */

#include "forces/pair.h"
#include "forces/systems_block.h"

/* What the kernels multiply masses by: G, and what their sums are still to be divided by. */
static double NAME(mass_factor)(const struct forces_problem *forces)
{
    return forces->gravitational_constant / FIELD_SCALE;
}

/* The stages first … end − 1 for one vector of bodies: v += kick·a, then x += drift·v. */
SIMD_INLINE void NAME(run_stages)(const struct advance_program *program, int32_t first, int32_t end,
                                  const int32_t dimensions, const VREAL a[3], VREAL v[3],
                                  VREAL x[3])
{
    for (int32_t k = first; k < end; k++) {
        const REAL kick = (REAL)program->stage[k].kick, drift = (REAL)program->stage[k].drift;
        if (kick != 0) {
            SIMD_UNROLL
            for (int32_t c = 0; c < dimensions; c++)
                v[c] = simd_fma(simd_all(kick), a[c], v[c]);
        }
        if (drift != 0) {
            SIMD_UNROLL
            for (int32_t c = 0; c < dimensions; c++)
                x[c] = simd_fma(simd_all(drift), v[c], x[c]);
        }
    }
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
