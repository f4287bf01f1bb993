#include "law/law_reference.h"

#include <math.h>
#include <stddef.h>

#include "core/arguments.h"
#include "law/formula.h"

static double at(const double *values, int32_t node)
{
    return node < 0 ? 0 : values[node];
}

static void find_force(const struct law_formula *formula, const double *values, const double d[3],
                       double force[3])
{
    for (int32_t c = 0; c < 3; c++) {
        force[c] = formula->radial < 0 ? 0 : values[formula->radial] * d[c];
        if (formula->along[c] >= 0)
            force[c] += values[formula->along[c]];
    }
}

/* formula_derive.c has the terms. */
static void find_rate(const struct law_formula *formula, const double *values, const double d[3],
                      const double u[3], double rate[3])
{
    const double d_dot_u = d[0] * u[0] + d[1] * u[1] + d[2] * u[2];
    const int32_t *of = formula->curve;
    const int32_t row[3][3] = {{of[0], of[1], of[2]}, {of[1], of[3], of[4]}, {of[2], of[4], of[5]}};
    double along_d = at(values, formula->slope) * d_dot_u;
    for (int32_t k = 0; k < 3; k++)
        along_d += at(values, formula->cross[k]) * u[k];
    for (int32_t c = 0; c < 3; c++) {
        rate[c] = at(values, formula->radial) * u[c] + along_d * d[c] +
                  at(values, formula->cross[c]) * d_dot_u;
        for (int32_t k = 0; k < 3; k++)
            rate[c] += at(values, row[c][k]) * u[k];
    }
}

struct law_reference_result law_reference_evaluate(const struct law_view *view,
                                                   const struct law_reference_pair *pair,
                                                   const double u[3], unsigned wants)
{
    const struct law_formula *formula = view->value;
    const double variable[formula_variable_count] = {
        [formula_r] = sqrt(pair->s2), [formula_r2] = pair->s2,   [formula_dx] = pair->d[0],
        [formula_dy] = pair->d[1],    [formula_dz] = pair->d[2], [formula_m_i] = pair->m_i,
        [formula_m_j] = pair->m_j,    [formula_q_i] = pair->q_i, [formula_q_j] = pair->q_j};
    double values[formula_most_nodes];
    struct law_reference_result result = {0};
    formula_evaluate(formula, view->parameter, variable, &formula->needed[wants], values);
    if ((wants & formula_wants_value) && !(pair->s2 == 0 && view->numbers.diverges))
        result.value = values[formula->value];
    if ((wants & formula_wants_force) && pair->s2 != 0)
        find_force(formula, values, pair->d, result.force);
    if ((wants & formula_wants_rate) && pair->s2 != 0)
        find_rate(formula, values, pair->d, u, result.rate);
    return result;
}

double law_reference_value(const struct law_view *view, const struct law_reference_pair *pair)
{
    return law_reference_evaluate(view, pair, NULL, formula_wants_value).value;
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
    KITH_TRY(law_check_single(law));
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
    const struct law_reference_result result = law_reference_evaluate(
        &view, &given, NULL, (value ? formula_wants_value : 0) | (force ? formula_wants_force : 0));
    if (value)
        *value = result.value;
    for (int32_t c = 0; c < 3 && force; c++)
        force[c] = result.force[c];
    return KITH_OK;
}
