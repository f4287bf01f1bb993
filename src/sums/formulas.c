#include "sums/formulas.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

bool sums_is_name(const char *name)
{
    size_t length = 0;
    if (!name || isdigit((unsigned char)name[0]))
        return false;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    return length > 0 && !name[length] && length < formula_name_bytes;
}

static kith_status check_formula(const char *what, const kith_named_formula *named)
{
    if (!sums_is_name(named->name))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is named '%.40s'; give a name of letters, digits and _, at most %d",
                         what, named->name ? named->name : "", formula_name_bytes - 1);
    if (!named->formula)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s %s has no formula; give one", what,
                         named->name);
    return KITH_OK;
}

/* Whether a name is that of a column, with _i or _j. */
static bool is_column(const struct formula_scope *scope, const char *name)
{
    char text[formula_name_bytes + 2];
    for (int32_t k = 0; k < scope->column_count; k++)
        for (int side = 0; side < 2; side++) {
            snprintf(text, sizeof text, "%s_%c", scope->column[k], "ij"[side]);
            if (strcmp(text, name) == 0)
                return true;
        }
    return false;
}

static kith_status check_let_name(const struct sums_formulas *formulas, const char *name)
{
    const struct formula_scope *scope = &formulas->scope;
    bool taken = formula_check_name(name) != KITH_OK || is_column(scope, name);
    for (int32_t k = 0; k < scope->definition_count; k++)
        taken = taken || strcmp(scope->definition[k].name, name) == 0;
    for (int32_t k = 0; k < formulas->formula->parameters; k++)
        taken = taken || strcmp(formulas->formula->names[k], name) == 0;
    if (taken)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "let '%s' has the name of a function, variable, column, parameter or "
                         "other let; give another name",
                         name);
    return KITH_OK;
}

static kith_status read_lets(const kith_sums_options *options, struct sums_formulas *formulas)
{
    struct formula_scope *scope = &formulas->scope;
    if (options->let_count < 0 || options->let_count > formula_most_definitions)
        return kith_fail(KITH_INVALID_ARGUMENT, "let_count is %lld; it must be from 0 to %d",
                         (long long)options->let_count, formula_most_definitions);
    for (int64_t k = 0; k < options->let_count; k++) {
        const kith_named_formula *let = &options->lets[k];
        struct formula_definition *definition = &scope->definition[scope->definition_count];
        KITH_TRY(check_formula("let", let));
        KITH_TRY(check_let_name(formulas, let->name));
        const kith_status status =
            formula_read_value(formulas->formula, let->formula, &definition->node);
        if (status != KITH_OK)
            return kith_fail_within(status, "let %s: ", let->name);
        snprintf(definition->name, sizeof definition->name, "%s", let->name);
        scope->definition_count++;
    }
    return KITH_OK;
}

static kith_status read_outputs(const char *what, const kith_named_formula *outputs,
                                struct sums_formulas *formulas)
{
    for (int32_t k = 0; k < formulas->output_count; k++) {
        KITH_TRY(check_formula(what, &outputs[k]));
        for (int32_t earlier = 0; earlier < k; earlier++)
            if (strcmp(outputs[earlier].name, outputs[k].name) == 0)
                return kith_fail(KITH_INVALID_ARGUMENT, "%s %s is given twice; give each name once",
                                 what, outputs[k].name);
        const kith_status status =
            formula_read_value(formulas->formula, outputs[k].formula, &formulas->output[k]);
        if (status != KITH_OK)
            return kith_fail_within(status, "%s %s: ", what, outputs[k].name);
    }
    return KITH_OK;
}

/* Whether a node is computed in some few instructions, whatever its arguments. */
static bool takes_little(const struct formula_node *node)
{
    return node->operation != (int32_t)formula_call || node->which == (int32_t)formula_sqrt ||
           node->which == (int32_t)formula_fabs || node->which == (int32_t)formula_fmin ||
           node->which == (int32_t)formula_fmax;
}

/* What the outputs are made of, and which columns are among it. */
static kith_status find_needed(struct sums_formulas *formulas)
{
    const struct law_formula *formula = formulas->formula;
    bool used[formula_most_nodes] = {false};
    int32_t *nodes = NULL;
    for (int32_t k = 0; k < formulas->output_count; k++)
        formula_mark(formula, formulas->output[k], used);
    KITH_TRY(kith_allocate(formula->count, sizeof *nodes, "formulas", &nodes));
    formulas->needed.nodes = nodes;
    formulas->take_little = true;
    for (int32_t k = 0; k < formula->count; k++) {
        const struct formula_node *node = &formula->nodes[k];
        const int32_t variable = node->which - (int32_t)formula_variable_count;
        if (used[k]) {
            nodes[formulas->needed.count++] = k;
            formulas->take_little = formulas->take_little && takes_little(node);
            formulas->uses_distance |= node->operation == (int32_t)formula_power_of_r;
        }
        if (!used[k] || node->operation != formula_variable || variable < 0)
            continue;
        bool *uses = variable % 2 ? formulas->uses_j : formulas->uses_i;
        uses[variable / 2] = true;
    }
    return KITH_OK;
}

/* The values of all nodes go to memory of their own: there may be many. */
static kith_status find_divergences(struct sums_formulas *formulas)
{
    double variable[formula_scope_variables], *values = NULL;
    KITH_TRY(kith_allocate(formula_most_nodes, sizeof *values, "formulas", &values));
    for (int32_t k = 0; k < formula_scope_variables; k++)
        variable[k] = k > (int32_t)formula_dz ? 1 : 0;
    formula_evaluate(formulas->formula, formulas->parameter, variable, &formulas->needed, values);
    for (int32_t k = 0; k < formulas->output_count; k++)
        formulas->diverges[k] = !isfinite(values[formulas->output[k]]);
    free(values);
    return KITH_OK;
}

static kith_status take_parameters(const kith_sums_options *options, struct sums_formulas *formulas)
{
    for (int64_t k = 0; k < options->parameter_count; k++) {
        formulas->parameter[k] = options->parameters[k].value;
        if (!isfinite(formulas->parameter[k]))
            return kith_fail(KITH_INVALID_ARGUMENT, "parameter %s is %g; give a finite number",
                             options->parameters[k].name, formulas->parameter[k]);
    }
    return KITH_OK;
}

kith_status sums_formulas_read(const kith_sums_options *options, const char *what,
                               int64_t output_count, const kith_named_formula *outputs,
                               struct sums_formulas *formulas)
{
    if (output_count < 1 || output_count > KITH_SUMS_MAX_OUTPUTS || !outputs)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s_count is %lld; give 1 to %d %ss", what,
                         (long long)output_count, KITH_SUMS_MAX_OUTPUTS, what);
    if (options->parameter_count < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "parameter_count is %lld; it must be at least 0",
                         (long long)options->parameter_count);
    formulas->output_count = (int32_t)output_count;
    KITH_TRY(formula_create_in(&formulas->scope, options->parameter_count, options->parameters,
                               &formulas->formula));
    KITH_TRY(take_parameters(options, formulas));
    KITH_TRY(read_lets(options, formulas));
    KITH_TRY(read_outputs(what, outputs, formulas));
    KITH_TRY(find_needed(formulas));
    formula_find_constants_of(formulas->formula, formulas->output, formulas->output_count);
    return find_divergences(formulas);
}

void sums_formulas_free(struct sums_formulas *formulas)
{
    formula_free(formulas->formula);
    free((void *)formulas->needed.nodes);
}
