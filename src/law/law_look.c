/* What a kernel wants to know of a law. */

#include <math.h>
#include <string.h>

#include "law/formula.h"
#include "law/law.h"

/* With weights of 1: what diverges then does so for others too. */
static bool diverges_at_zero(const kith_law *law)
{
    double variable[formula_variable_count] = {0}, values[formula_most_nodes];
    variable[formula_m_i] = variable[formula_m_j] = 1;
    variable[formula_q_i] = variable[formula_q_j] = 1;
    formula_evaluate(law->formula, law->parameter, variable, values);
    return !isfinite(values[law->formula->value]);
}

static void look_at_formula(const kith_law *law, struct law_view *view)
{
    const struct law_formula *formula = law->formula;
    *view = (struct law_view){
        .form = {law_custom, law_unweighted},
        .numbers.diverges = diverges_at_zero(law),
        .weight = law_weight_none,
        .uses_mass = formula_uses(formula, formula_m_i) || formula_uses(formula, formula_m_j),
        .uses_charge = formula_uses(formula, formula_q_i) || formula_uses(formula, formula_q_j),
        .is_central = !formula_uses(formula, formula_dx) && !formula_uses(formula, formula_dy) &&
                      !formula_uses(formula, formula_dz),
        .has_rate = formula->has_rate,
        .formula = formula};
    memcpy(view->numbers.c, law->parameter, sizeof view->numbers.c);
}

void law_look(const kith_law *law, struct law_view *view)
{
    if (law->formula) {
        look_at_formula(law, view);
        return;
    }
    const struct law_recipe *recipe = &law_recipes[law->row];
    *view = (struct law_view){.form = recipe->form,
                              .weight = recipe->weight,
                              .uses_mass = recipe->weight == law_weight_mass,
                              .uses_charge = recipe->weight == law_weight_charge,
                              .is_central = true,
                              .has_rate = true};
    recipe->resolve(law->parameter, &view->form, &view->numbers);
}
