/* Laws of weights over the distance, times its logarithm, or times any function of it. */

#include "forces/weights.h"

#include <math.h>
#include <stddef.h>

#include "law/law_reference.h"

static void take_columns(const struct forces_problem *problem, enum law_weight weight,
                         struct forces_weights *found)
{
    const bool of_mass = weight == law_weight_mass, of_charge = weight == law_weight_charge;
    found->source = of_mass ? problem->source_mass : of_charge ? problem->source_charge : NULL;
    found->target = of_mass ? problem->target_mass : of_charge ? problem->target_charge : NULL;
}

bool forces_find_weights(const struct forces_problem *problem, struct forces_weights *found)
{
    struct law_view view;
    *found = (struct forces_weights){.strength = -problem->gravitational_constant,
                                     .source = problem->source_mass};
    if (!problem->law)
        return true;
    law_look(problem->law, &view);
    found->is_logarithm = view.form.kind == law_log2d;
    if ((view.form.kind != law_inverse && !found->is_logarithm) || view.formula)
        return false;
    found->strength = found->is_logarithm ? view.parameter[0] : view.numbers.c[0];
    take_columns(problem, view.weight, found);
    return true;
}

/* Whether V of a formula is w_i w_j u(s), of masses or of charges, by its values. */
static bool find_weight_of_formula(const struct law_view *view, enum law_weight *weight)
{
    static const double distances[] = {0.71, 1.9, 3.3}, tolerance = 1e-12;
    *weight = view->uses_mass     ? law_weight_mass
              : view->uses_charge ? law_weight_charge
                                  : law_weight_none;
    if (!view->is_central || (view->uses_mass && view->uses_charge))
        return false;
    for (size_t k = 0; k < sizeof distances / sizeof *distances && *weight; k++) {
        const double s2 = distances[k] * distances[k];
        const struct law_reference_pair of_ones = {{0}, s2, 1, 1, 1, 1},
                                        of_others = {{0}, s2, 2, 3, 2, 3};
        const double value = 6 * law_reference_value(view, &of_ones);
        if (!(fabs(law_reference_value(view, &of_others) - value) <= tolerance * fabs(value)))
            return false;
    }
    return true;
}

bool forces_find_weights_of_any(const struct forces_problem *problem, struct forces_weights *found)
{
    struct law_view view;
    enum law_weight weight;
    if (forces_find_weights(problem, found))
        return true;
    law_look(problem->law, &view);
    weight = view.weight;
    if (view.formula ? !find_weight_of_formula(&view, &weight) : view.form.weighting == law_sum)
        return false;
    *found = (struct forces_weights){.strength = 1, .any = problem->law};
    take_columns(problem, weight, found);
    return true;
}
