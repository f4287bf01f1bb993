/* Gravity in the loop of small systems, with arithmetic of its own, for one precision: included by
 * kernels' bodies after forces/pair.h, with the same names defined. */

/* Body i of each system. */
struct place {
    VREAL x[3], v[3], mass, half_softening2;
};

/* Its sums, without G: Σ m d / s³ (times FIELD_SCALE if it is all that is worked out), Σ m [u / s³
 * − 3 (d·u) d / s⁵], Σ m / s. */
struct pull {
    VREAL acceleration[3], jerk[3], potential;
};

struct systems_constants; /* none */

/* Pair i, j of each system. */
SIMD_INLINE void pull_together(const struct systems_variant variant,
                               const struct systems_constants *constants, const struct place *i,
                               const struct place *j, struct pull *of_i, struct pull *of_j)
{
    (void)constants;
    const int32_t dimensions = variant.dimensions;
    const enum forces_outputs outputs = variant.outputs;
    const VREAL softening2 = (i->half_softening2 + S2_FLOOR) + j->half_softening2;
    VREAL d[3], field[3];
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        d[c] = j->x[c] - i->x[c];

    if (outputs == forces_acceleration) {
        pair_field(dimensions, d, softening2, field);
    } else {
        /* 0 at the same position, so that the pair contributes nothing. */
        const VREAL s2 = pair_s2(dimensions, d, softening2);
        const VREAL rsqrt = simd_unless_equal(s2, simd_all((REAL)S2_FLOOR), simd_rsqrt(s2));
        const VREAL rsqrt2 = rsqrt * rsqrt, cube = rsqrt2 * rsqrt;
        of_i->potential = simd_fma(j->mass, rsqrt, of_i->potential);
        of_j->potential = simd_fma(i->mass, rsqrt, of_j->potential);

        VREAL u[3], d_dot_u = {0};
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++) {
            field[c] = cube * d[c];
            u[c] = j->v[c] - i->v[c];
            d_dot_u = simd_fma(d[c], u[c], d_dot_u);
        }
        const VREAL factor = d_dot_u * rsqrt2 * (REAL)-3;
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions && outputs == forces_jerk; c++) {
            const VREAL rate = cube * simd_fma(factor, d[c], u[c]);
            of_i->jerk[c] = simd_fma(j->mass, rate, of_i->jerk[c]);
            of_j->jerk[c] = simd_fma(-i->mass, rate, of_j->jerk[c]);
        }
    }

    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        of_i->acceleration[c] = simd_fma(j->mass, field[c], of_i->acceleration[c]);
        of_j->acceleration[c] = simd_fma(-i->mass, field[c], of_j->acceleration[c]);
    }
}

/* to = from where the kernel uses it. */
SIMD_INLINE void copy_pull(const struct systems_variant variant, const struct pull *from,
                           struct pull *to)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++) {
        to->acceleration[c] = from->acceleration[c];
        if (variant.outputs == forces_jerk)
            to->jerk[c] = from->jerk[c];
    }
    if (variant.outputs != forces_acceleration)
        to->potential = from->potential;
}

#include "forces/systems_loop_body.h"

/* Brings in the systems from the s-th on: positions, masses times mass_factor and softening. */
SIMD_INLINE void block_load(const struct forces_problem *problem, double mass_factor, int64_t s,
                            struct block *block)
{
    block->bodies = (int32_t)problem->target_count;
    for (int32_t i = 0; i < block->bodies; i++) {
        const int64_t at = i * problem->system_stride + s;
        struct place *place = &block->place[i];
        for (int32_t c = 0; c < problem->dimensions; c++)
            place->x[c] = simd_load((const REAL *)problem->target_position[c] + at);
        place->mass = simd_load((const REAL *)problem->source_mass + at) * (REAL)mass_factor;
        place->half_softening2 = simd_all((REAL)(problem->softening2 / 2));
        if (problem->target_half_softening2)
            place->half_softening2 = simd_load((const REAL *)problem->target_half_softening2 + at);
    }
}
