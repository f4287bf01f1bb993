/* Laws of weights over the distance, or times its logarithm. */

#include "forces/weights.h"

#include <stddef.h>

#include "law/law.h"

bool forces_find_weights(const struct forces_problem *problem, struct forces_weights *found)
{
    struct law_view view;
    *found = (struct forces_weights){false, -problem->gravitational_constant, problem->source_mass,
                                     NULL};
    if (!problem->law)
        return true;
    law_look(problem->law, &view);
    found->is_logarithm = view.form.kind == law_log2d;
    if ((view.form.kind != law_inverse && !found->is_logarithm) || view.formula)
        return false;
    const bool of_mass = view.weight == law_weight_mass;
    const bool of_charge = view.weight == law_weight_charge;
    found->strength = found->is_logarithm ? view.parameter[0] : view.numbers.c[0];
    found->source = of_mass ? problem->source_mass : of_charge ? problem->source_charge : NULL;
    found->target = of_mass ? problem->target_mass : of_charge ? problem->target_charge : NULL;
    return true;
}
