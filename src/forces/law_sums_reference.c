/* Forces by any law as the formula says: a loop over the pairs, in double precision. */

#include <stddef.h>

#include "device/context.h"
#include "forces/forces_reference.h"
#include "forces/law_sums.h"
#include "law/law_reference.h"

static double element(const void *column, int64_t i, double otherwise)
{
    return column ? ((const double *)column)[i] : otherwise;
}

static struct law_reference_pair pair_of(const struct forces_problem *problem, int64_t i, int64_t j)
{
    struct law_reference_pair pair = {
        .s2 = problem->softening2 + element(problem->target_half_softening2, i, 0) +
              element(problem->source_half_softening2, j, 0),
        .m_i = element(forces_target_weight(problem), i, 1),
        .m_j = element(problem->source_mass, j, 1),
        .q_i = element(problem->target_charge, i, 1),
        .q_j = element(problem->source_charge, j, 1),
    };
    for (int32_t c = 0; c < problem->dimensions; c++) {
        pair.d[c] =
            element(problem->source_position[c], j, 0) - element(problem->target_position[c], i, 0);
        pair.s2 += pair.d[c] * pair.d[c];
    }
    return pair;
}

/* What the sums over pairs come to, for one target. */
static void store_vector(const struct forces_problem *problem, void *const components[3], int64_t i,
                         const double total[3])
{
    const double mass = element(problem->target_mass, i, 1);
    for (int32_t c = 0; c < 3; c++)
        forces_store(problem, components[c], i, total[c] / mass);
}

static unsigned wants_of(const struct forces_problem *problem)
{
    const bool force = problem->acceleration[0] || problem->potential_rate;
    return (problem->potential ? formula_wants_value : 0) | (force ? formula_wants_force : 0) |
           (problem->jerk[0] ? formula_wants_rate : 0);
}

static void forces_at_target(const struct forces_problem *problem, const struct law_view *view,
                             int64_t i)
{
    const unsigned wants = wants_of(problem);
    double total[3] = {0}, total_rate[3] = {0}, value = 0, value_rate = 0;
    for (int64_t j = 0; j < problem->source_count; j++) {
        if (problem->self && i == j)
            continue;
        const struct law_reference_pair pair = pair_of(problem, i, j);
        double u[3];
        for (int32_t c = 0; c < 3; c++)
            u[c] = element(problem->source_velocity[c], j, 0) -
                   element(problem->target_velocity[c], i, 0);
        const struct law_reference_result of_pair = law_reference_evaluate(view, &pair, u, wants);
        for (int32_t c = 0; c < 3; c++) {
            total[c] += of_pair.force[c];
            total_rate[c] += of_pair.rate[c];
            value_rate += of_pair.force[c] * u[c];
        }
        value += of_pair.value;
    }
    store_vector(problem, problem->acceleration, i, total);
    store_vector(problem, problem->jerk, i, total_rate);
    forces_store(problem, problem->potential, i, value);
    forces_store(problem, problem->potential_rate, i, value_rate);
}

kith_status forces_law_reference(kith_context *context, const struct forces_problem *problem)
{
    struct law_view view;
    law_look(problem->law, &view);
    for (int64_t i = 0; i < problem->target_count; i++) {
        KITH_TRY(kith_context_check_cancelled(context));
        forces_at_target(problem, &view, i);
    }
    return KITH_OK;
}
