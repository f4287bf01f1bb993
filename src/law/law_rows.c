/* Rows of the table of laws: their parameters, their weights and their bodies. */

#include "law/law_rows.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void skip_space(const char **at)
{
    while (**at == ' ')
        ++*at;
}

/* The number after a sign, if that is next. */
static bool take_number(const char **at, char sign, double *number)
{
    skip_space(at);
    if (**at != sign)
        return false;
    char *end = NULL;
    *number = strtod(*at + 1, &end);
    *at = end;
    return true;
}

/* "> 0", or the same in parentheses. */
static bool take_positive(const char **at)
{
    double least = -1;
    skip_space(at);
    const bool is_enclosed = **at == '(';
    *at += is_enclosed;
    if (!take_number(at, '>', &least) || least != 0 || (is_enclosed && **at != ')'))
        return false;
    *at += is_enclosed;
    return true;
}

/* NAME [= DEFAULT] [> 0], or NAME = DEFAULT (> 0). */
static kith_status read_parameter(const char **at, struct law_parameter *parameter)
{
    size_t length = 0;
    skip_space(at);
    while (isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_')
        length++;
    snprintf(parameter->name, sizeof parameter->name, "%.*s", (int)length, *at);
    *at += length;
    if (!take_number(at, '=', &parameter->otherwise))
        parameter->otherwise = NAN;
    parameter->is_positive = take_positive(at);
    skip_space(at);
    const bool is_last = **at == 0;
    if (length == 0 || (!is_last && **at != ','))
        return kith_fail(KITH_INTERNAL_ERROR, "a law's parameters go on with '%s'", *at);
    *at += is_last ? 0 : 1;
    return KITH_OK;
}

kith_status law_row_read(const kith_law_info *info, struct law_row *row)
{
    *row = (struct law_row){.info = info, .arguments = *info->arguments ? 1 : 0};
    for (const char *at = info->parameters; *at;) {
        if (row->parameter_count == law_most_parameters)
            return kith_fail(KITH_INTERNAL_ERROR, "%s has too many parameters", info->name);
        KITH_TRY(read_parameter(&at, &row->parameters[row->parameter_count++]));
    }
    for (const char *at = info->arguments; *at; at++)
        row->arguments += *at == ',';
    return row->arguments <= row->parameter_count
               ? KITH_OK
               : kith_fail(KITH_INTERNAL_ERROR, "%s has fewer parameters than arguments",
                           info->name);
}

static void name_kind(const char *name, char kind[law_kind_bytes])
{
    snprintf(kind, law_kind_bytes, "%s", name);
    for (char *at = kind; *at; at++)
        *at = *at == '-' ? '_' : *at;
}

bool law_row_body(const struct law_row *row, int32_t k, struct law_body *body,
                  char kind[law_kind_bytes])
{
    int32_t found = 0;
    for (const struct law_body *each = law_bodies; each->law; each++)
        if (strcmp(each->law, row->info->name) == 0 && found++ == k) {
            *body = *each;
            name_kind(each->kind, kind);
            return true;
        }
    *body = (struct law_body){.law = row->info->name};
    name_kind(row->info->name, kind);
    return found == 0 && k == 0;
}

static kith_status parse(const struct law_row *row, const char *text, const double *weights,
                         struct law_formula **formula)
{
    kith_law_parameter parameters[law_most_parameters];
    for (int32_t k = 0; k < row->parameter_count; k++)
        parameters[k] = (kith_law_parameter){row->parameters[k].name, 0};
    return formula_parse_weighted(text, row->parameter_count, parameters, weights, formula);
}

kith_status law_row_parse(const struct law_row *row, struct law_formula **formula)
{
    return parse(row, row->info->formula, NULL, formula);
}

kith_status law_row_parse_body(const struct law_row *row, const struct law_body *body,
                               enum law_weighting weighting, struct law_formula **formula)
{
    static const double ones[4] = {1, 1, 1, 1}, of_target[4] = {1, 0, 1, 0};
    return parse(row, body->formula ? body->formula : row->info->formula,
                 weighting == law_sum ? of_target : ones, formula);
}

static double value_of(const struct law_formula *formula, const double *parameter, double r,
                       double w_i, double w_j)
{
    double values[formula_most_nodes];
    const double variable[formula_variable_count] = {
        [formula_r] = r,     [formula_r2] = r * r, [formula_m_i] = w_i,
        [formula_m_j] = w_j, [formula_q_i] = w_i,  [formula_q_j] = w_j};
    formula_evaluate(formula, parameter, variable, &formula->needed[formula_wants_value], values);
    return values[formula->value];
}

bool law_formula_diverges(const struct law_formula *formula, const double *parameter)
{
    return !isfinite(value_of(formula, parameter, 0, 1, 1));
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

kith_status law_row_weighting(const struct law_row *row, const struct law_formula *formula,
                              enum law_weighting *weighting)
{
    const double r = 1.25;
    double parameter[law_constant_count] = {0};
    for (int32_t k = 0; k < row->parameter_count; k++)
        parameter[k] = isnan(row->parameters[k].otherwise) ? 1 : row->parameters[k].otherwise;
    const bool of_mass = formula_uses(formula, formula_m_i) || formula_uses(formula, formula_m_j);
    const bool of_charge = formula_uses(formula, formula_q_i) || formula_uses(formula, formula_q_j);
    const double value = value_of(formula, parameter, r, 2, 3);
    if (!of_mass && !of_charge)
        *weighting = law_unweighted;
    else if (is_near(value, 6 * value_of(formula, parameter, r, 1, 1)))
        *weighting = law_product;
    else if (is_near(value, 5 * value_of(formula, parameter, r, 1, 0)))
        *weighting = law_sum;
    else
        return kith_fail(KITH_INTERNAL_ERROR, "%s is not weighted by a product or a sum",
                         row->info->name);
    if (of_mass && of_charge)
        return kith_fail(KITH_INTERNAL_ERROR, "%s is of masses and charges", row->info->name);
    return KITH_OK;
}
