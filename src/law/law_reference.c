#include "law/law_reference.h"

#include <math.h>
#include <stddef.h>

#include "core/arguments.h"
#include "law/formula.h"

static void evaluate(const struct law_view *view, const struct law_reference_pair *pair,
                     int32_t last, double *values)
{
    const double variable[formula_variable_count] = {
        [formula_r] = sqrt(pair->s2), [formula_r2] = pair->s2,   [formula_dx] = pair->d[0],
        [formula_dy] = pair->d[1],    [formula_dz] = pair->d[2], [formula_m_i] = pair->m_i,
        [formula_m_j] = pair->m_j,    [formula_q_i] = pair->q_i, [formula_q_j] = pair->q_j};
    formula_evaluate(view->value, view->parameter, variable, last, values);
}

double law_reference_value(const struct law_view *view, const struct law_reference_pair *pair)
{
    double values[formula_most_nodes];
    evaluate(view, pair, view->value->value, values);
    return pair->s2 == 0 && view->numbers.diverges ? 0 : values[view->value->value];
}

void law_reference_force(const struct law_view *view, const struct law_reference_pair *pair,
                         double force[3])
{
    const struct law_formula *formula = view->value;
    double values[formula_most_nodes];
    evaluate(view, pair, formula->last_of_force, values);
    for (int32_t c = 0; c < 3; c++) {
        force[c] = formula->radial < 0 ? 0 : values[formula->radial] * pair->d[c];
        if (formula->along[c] >= 0)
            force[c] += values[formula->along[c]];
        if (pair->s2 == 0)
            force[c] = 0;
    }
}

/* formula_derive.c has the terms. */
void law_reference_rate(const struct law_view *view, const struct law_reference_pair *pair,
                        const double u[3], double rate[3])
{
    const struct law_formula *formula = view->value;
    const double *d = pair->d, d_dot_u = d[0] * u[0] + d[1] * u[1] + d[2] * u[2];
    double values[formula_most_nodes + 1], *const value = values + 1;
    value[-1] = 0; /* of the node −1 */
    evaluate(view, pair, formula->count - 1, value);

    const int32_t *of = formula->curve;
    const int32_t row[3][3] = {{of[0], of[1], of[2]}, {of[1], of[3], of[4]}, {of[2], of[4], of[5]}};
    double along_d = value[formula->slope] * d_dot_u;
    for (int32_t k = 0; k < 3; k++)
        along_d += value[formula->cross[k]] * u[k];
    for (int32_t c = 0; c < 3; c++) {
        rate[c] =
            value[formula->radial] * u[c] + along_d * d[c] + value[formula->cross[c]] * d_dot_u;
        for (int32_t k = 0; k < 3; k++)
            rate[c] += value[row[c][k]] * u[k];
        if (pair->s2 == 0)
            rate[c] = 0;
    }
}

static kith_status check_pair(const kith_law_pair *pair)
{
    const double each[] = {pair->d[0],   pair->d[1],   pair->d[2],     pair->softening,
                           pair->mass_i, pair->mass_j, pair->charge_i, pair->charge_j};
    static const char *const names[] = {"dx",     "dy",     "dz",       "softening",
                                        "mass_i", "mass_j", "charge_i", "charge_j"};
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++)
        if (!isfinite(each[k]))
            return kith_fail(KITH_INVALID_ARGUMENT, "%s of the pair is %g; give a finite number",
                             names[k], each[k]);
    return KITH_OK;
}

kith_status kith_law_evaluate(const kith_law *law, const kith_law_pair *pair, double *value,
                              double force[3])
{
    KITH_TRY(kith_check_pointer(law, "law"));
    KITH_TRY(kith_check_pointer(pair, "pair"));
    KITH_TRY(check_pair(pair));
    const double *d = pair->d;
    const struct law_reference_pair given = {.d = {d[0], d[1], d[2]},
                                             .s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] +
                                                   pair->softening * pair->softening,
                                             .m_i = pair->mass_i,
                                             .m_j = pair->mass_j,
                                             .q_i = pair->charge_i,
                                             .q_j = pair->charge_j};
    struct law_view view;
    law_look(law, &view);
    if (value)
        *value = law_reference_value(&view, &given);
    if (force)
        law_reference_force(&view, &given, force);
    return KITH_OK;
}
