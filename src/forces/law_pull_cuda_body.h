/* What one particle does to another by any law on a GPU, for one precision
 * (law/for_each_real_cuda.h): forces/law_pull_body.h for a thread. */

#include "law/law_rate_body.h"

struct NAME(law_place) {
    REAL x[3], v[3], weight, charge, half_softening2;
};

struct NAME(law_pull) {
    REAL force[3], rate[3], value, value_rate;
};

LAW_INLINE REAL NAME(law_element)(const void *column, long long i, double otherwise)
{
    return column ? ((const REAL *)column)[i] : (REAL)otherwise;
}

/* ε² / 2 of a body without a softening of its own. */
LAW_INLINE double NAME(law_half_of_all)(const struct law_sums_problem *problem)
{
    return (problem->softening2_at ? *problem->softening2_at : problem->softening2) / 2;
}

/* Element i of the targets. */
LAW_INLINE void NAME(law_load_target)(const struct law_sums_problem *problem, long long i,
                                      struct NAME(law_place) * place)
{
    for (int c = 0; c < 3; c++) {
        place->x[c] = NAME(law_element)(problem->target_position[c], i, 0);
        place->v[c] = NAME(law_element)(problem->target_velocity[c], i, 0);
    }
    place->weight = NAME(law_element)(problem->target_weight, i, 1);
    place->charge = NAME(law_element)(problem->target_charge, i, 1);
    place->half_softening2 =
        NAME(law_element)(problem->target_half_softening2, i, NAME(law_half_of_all)(problem));
}

LAW_INLINE void NAME(law_load_source)(const struct law_sums_problem *problem, long long j,
                                      struct NAME(law_place) * place)
{
    for (int c = 0; c < 3; c++) {
        place->x[c] = NAME(law_element)(problem->source_position[c], j, 0);
        place->v[c] = NAME(law_element)(problem->source_velocity[c], j, 0);
    }
    place->weight = NAME(law_element)(problem->source_weight, j, 1);
    place->charge = NAME(law_element)(problem->source_charge, j, 1);
    place->half_softening2 =
        NAME(law_element)(problem->source_half_softening2, j, NAME(law_half_of_all)(problem));
}

/* Adds a pair to the sums; at the same position it pulls nothing. */
LAW_INLINE void
NAME(law_add_pull)(const struct law_form form, const struct law_pull_outputs outputs,
                   const struct NAME(law_constants) * law, const struct NAME(law_place) * target,
                   const struct NAME(law_place) * source, struct NAME(law_pull) * sum)
{
    struct NAME(law_pair) pair;
    REAL u[3], force[3], rate[3];
    pair.s2 = target->half_softening2 + source->half_softening2;
    for (int c = 0; c < 3; c++) {
        pair.d[c] = source->x[c] - target->x[c];
        u[c] = source->v[c] - target->v[c];
        pair.s2 = law_fma(pair.d[c], pair.d[c], pair.s2);
    }
    pair.w_i = target->weight;
    pair.w_j = source->weight;
    pair.q_i = target->charge;
    pair.q_j = source->charge;
    NAME(law_force)(form, law, &pair, force);
    if (outputs.rate)
        NAME(law_rate)(form, law, &pair, u, rate);
    for (int c = 0; c < 3; c++) {
        sum->force[c] += force[c];
        if (outputs.rate)
            sum->rate[c] += rate[c];
    }
    if (outputs.value)
        sum->value += NAME(law_value)(form, law, &pair);
    if (outputs.value_rate)
        sum->value_rate += law_fma(force[0], u[0], law_fma(force[1], u[1], force[2] * u[2]));
}
