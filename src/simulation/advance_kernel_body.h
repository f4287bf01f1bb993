/* Whole steps of small systems for one precision. Included by advance_kernel.c; REAL, VREAL
 * and S2_FLOOR are those of core/real.h. */

#include "forces/pair.h"
#include "forces/systems_block.h"

/* What the kernels multiply masses by: G, and what their sums are still to be divided by. */
static double mass_factor(const struct forces_problem *forces)
{
    return forces->gravitational_constant / FIELD_SCALE;
}

/* sum += factor·change + lost, where near is sum + lost or sum alone, and lost = what of that did
 * not fit. */
SIMD_INLINE void add_exactly(const int32_t dimensions, REAL factor, const VREAL change[3],
                             VREAL near[3], VREAL sum[3], VREAL lost[3])
{
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        near[c] = simd_fma(simd_all(factor), change[c], near[c]);
        lost[c] = simd_fma(simd_all(factor), change[c], lost[c]) + (sum[c] - near[c]);
        sum[c] = near[c];
    }
}

/* Whether a step kicks, or drifts, after its last evaluation of forces. */
SIMD_INLINE bool ends_with(const struct composition_program_double *program, const double *factor)
{
    const int32_t evaluations = program->evaluation_count;
    for (int32_t k = evaluations > 0 ? program->evaluation[evaluations - 1] : 0;
         k < program->stage_count; k++)
        if (factor[k] != 0)
            return true;
    return false;
}

/* The stages first … end − 1 for one vector of bodies: v += kick·a, then x += drift·v, with
 * compensated sums (Kahan 1965, Commun. ACM 8, 40): lost_v and lost_x are what did not fit into v
 * and x. It is added to them once after an evaluation, while forces are waited for, and what does
 * not fit then is worked out while the next are: nothing more is waited for than without. is_begin:
 * the first stages of a call go on from the last ones of the call before. */
SIMD_INLINE void run_stages(const struct composition_program_double *program, const bool is_begin,
                            int32_t first, int32_t end, const int32_t dimensions, const VREAL a[3],
                            VREAL v[3], VREAL x[3], VREAL lost_v[3], VREAL lost_x[3])
{
    const bool adds_v = !is_begin || !ends_with(program, program->kick);
    const bool adds_x = !is_begin || !ends_with(program, program->drift);
    VREAL near_v[3], near_x[3];
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        near_v[c] = adds_v ? v[c] + lost_v[c] : v[c];
        near_x[c] = adds_x ? x[c] + lost_x[c] : x[c];
    }
    for (int32_t k = first; k < end; k++) {
        const REAL kick = (REAL)program->kick[k], drift = (REAL)program->drift[k];
        if (kick != 0)
            add_exactly(dimensions, kick, a, near_v, v, lost_v);
        if (drift != 0)
            add_exactly(dimensions, drift, v, near_x, x, lost_x);
    }
}

#include "simulation/advance_systems_body.h"

#include "simulation/advance_ring_body.h"

#include "simulation/advance_tiles_body.h"

static void advance_one(const struct advance_problem *problem,
                        const struct composition_program_double *program)
{
    if (problem->forces.target_count <= REAL_LANES)
        advance_ring(problem, program);
    else
        advance_tiles(problem, program);
}
