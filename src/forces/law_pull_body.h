/* What one particle does to another by any law: the force, the value, and the rates at which they
 * change.
 * Shared by the kernels of law_sums_kernel.h, for one precision (law/real_law.h). */

#include "law/law_rate_body.h"

/* A particle in each lane. weight and charge are those of the law (law_sums_problem.h). */
struct place {
    VREAL x[3], v[3], weight, charge, half_softening2;
};

/* What it feels, as far as that is summed. */
struct pull {
    VREAL force[3], rate[3], value, value_rate;
};

SIMD_INLINE VREAL elements(const void *column, long long i, REAL otherwise)
{
    return column ? simd_load((const REAL *)column + i) : simd_all(otherwise);
}

/* The targets from element i on. */
SIMD_INLINE void load_place(const struct law_sums_problem *problem, long long i,
                            struct place *place)
{
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        place->x[c] = elements(problem->target_position[c], i, 0);
        place->v[c] = elements(problem->target_velocity[c], i, 0);
    }
    place->weight = elements(problem->target_weight, i, 1);
    place->charge = elements(problem->target_charge, i, 1);
    place->half_softening2 =
        elements(problem->target_half_softening2, i, (REAL)(problem->softening2 / 2));
}

/* A pair at the same position contributes nothing. */
SIMD_INLINE void pull_by(const struct law_form form, const struct law_pull_outputs outputs,
                         const struct NAME(law_constants) * law, const struct place *target,
                         const struct place *source, struct pull *pull)
{
    struct NAME(law_pair) pair = {.s2 = target->half_softening2 + source->half_softening2,
                                  .w_i = target->weight,
                                  .w_j = source->weight,
                                  .q_i = target->charge,
                                  .q_j = source->charge};
    VREAL u[3];
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        pair.d[c] = source->x[c] - target->x[c];
        u[c] = source->v[c] - target->v[c];
        pair.s2 = simd_fma(pair.d[c], pair.d[c], pair.s2);
    }
    NAME(law_force)(form, law, &pair, pull->force);
    if (outputs.rate)
        NAME(law_rate)(form, law, &pair, u, pull->rate);
    if (outputs.value)
        pull->value = NAME(law_value)(form, law, &pair);
    if (outputs.value_rate)
        pull->value_rate =
            simd_fma(pull->force[0], u[0], simd_fma(pull->force[1], u[1], pull->force[2] * u[2]));
}

/* Sums over the masses from element i on to a column; after the last particle, where masses are 0,
 * zeros. + 0: no −0 of an empty sum. */
SIMD_INLINE void store_over_mass(const struct law_sums_problem *problem, long long i, VREAL sum,
                                 void *to)
{
    const VREAL mass = elements(problem->target_mass, i, 1);
    simd_store((REAL *)to + i, simd_unless_equal(mass, simd_all((REAL)0), sum / mass + (REAL)0));
}
