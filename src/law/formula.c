/* Formulas and the names of their parameters. */

#include "law/formula.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

#define NAME_ROW(name, ...) #name,
#define VARIABLE_ROW(name)  #name,
const char *const formula_function_names[formula_function_count] = {
    FORMULA_EACH_FUNCTION(NAME_ROW)};
const char *const formula_variable_names[formula_variable_count] = {
    FORMULA_EACH_VARIABLE(VARIABLE_ROW)};

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

kith_status formula_check_name(const char *name)
{
    const size_t length = name ? name_length(name) : 0;
    bool taken =
        name && (strcmp(name, "pi") == 0 || strcmp(name, "diff") == 0 || strcmp(name, "swap") == 0);
    for (int32_t k = 0; name && k < formula_function_count; k++)
        taken |= strcmp(name, formula_function_names[k]) == 0;
    for (int32_t k = 0; name && k < formula_variable_count; k++)
        taken |= strcmp(name, formula_variable_names[k]) == 0;
    if (!name || length == 0 || name[length] || isdigit((unsigned char)name[0]) ||
        length >= formula_name_bytes)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "parameter is '%.40s'; give a name of letters, digits and _, at most %d",
                         name ? name : "", formula_name_bytes - 1);
    if (taken)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "parameter '%s' has the name of a function or variable of formulas; give "
                         "another name",
                         name);
    return KITH_OK;
}

static kith_status take_parameters(struct law_formula *formula, int64_t count,
                                   const kith_law_parameter *parameters)
{
    if (count > formula_most_parameters)
        return kith_fail(KITH_INVALID_ARGUMENT, "%lld parameters; a formula takes at most %d",
                         (long long)count, formula_most_parameters);
    for (int64_t k = 0; k < count; k++) {
        KITH_TRY(formula_check_name(parameters[k].name));
        for (int64_t earlier = 0; earlier < k; earlier++)
            if (strcmp(formula->names[earlier], parameters[k].name) == 0)
                return kith_fail(KITH_INVALID_ARGUMENT, "parameter %s is given twice; give it once",
                                 parameters[k].name);
        snprintf(formula->names[k], formula_name_bytes, "%s", parameters[k].name);
    }
    formula->parameters = (int32_t)count;
    return KITH_OK;
}

kith_status formula_parse(const char *text, int64_t count, const kith_law_parameter *parameters,
                          struct law_formula **formula)
{
    return formula_parse_weighted(text, count, parameters, NULL, formula);
}

/* All in one block. */
static kith_status create(int32_t capacity, struct law_formula **formula)
{
    const size_t bytes_each = sizeof(struct formula_node) + 4 * sizeof(int32_t) + sizeof(bool);
    const size_t bytes = sizeof **formula + (size_t)capacity * bytes_each;
    KITH_TRY(kith_allocate((int64_t)bytes, 1, "formula", formula));
    (*formula)->capacity = capacity;
    (*formula)->nodes = (struct formula_node *)(*formula + 1);
    (*formula)->slots = (int32_t *)((*formula)->nodes + capacity);
    (*formula)->is_constant = (bool *)((*formula)->slots + 4 * (int64_t)capacity);
    return KITH_OK;
}

/* Which results a node is part of, as bits of formula_wants. */
static void mark_wants(const struct law_formula *formula, uint8_t *wants)
{
    const int32_t *a = formula->along, *c = formula->cross, *k = formula->curve;
    const struct {
        uint8_t wants;
        int32_t root;
    } roots[] = {{formula_wants_value, formula->value},
                 {formula_wants_force | formula_wants_rate, formula->radial},
                 {formula_wants_force, a[0]},
                 {formula_wants_force, a[1]},
                 {formula_wants_force, a[2]},
                 {formula_wants_rate, formula->slope},
                 {formula_wants_rate, c[0]},
                 {formula_wants_rate, c[1]},
                 {formula_wants_rate, c[2]},
                 {formula_wants_rate, k[0]},
                 {formula_wants_rate, k[1]},
                 {formula_wants_rate, k[2]},
                 {formula_wants_rate, k[3]},
                 {formula_wants_rate, k[4]},
                 {formula_wants_rate, k[5]}};
    for (size_t r = 0; r < sizeof roots / sizeof roots[0]; r++)
        if (roots[r].root >= 0)
            wants[roots[r].root] |= roots[r].wants;
    for (int32_t node = formula->count - 1; node >= 0; node--)
        for (int argument = 0; argument < 3; argument++)
            if (formula->nodes[node].argument[argument] >= 0)
                wants[formula->nodes[node].argument[argument]] |= wants[node];
}

/* Fills in needed. */
static kith_status list_needed(struct law_formula *formula)
{
    uint8_t wants[formula_most_nodes] = {0};
    int64_t total = 0;
    mark_wants(formula, wants);
    for (unsigned wanted = 1; wanted < formula_wants_count; wanted++)
        for (int32_t node = 0; node < formula->count; node++)
            total += (wants[node] & wanted) != 0;
    KITH_TRY(kith_allocate(total, sizeof *formula->lists, "formula", &formula->lists));
    int32_t *next = formula->lists;
    for (unsigned wanted = 1; wanted < formula_wants_count; wanted++) {
        const int32_t *first = next;
        for (int32_t node = 0; node < formula->count; node++)
            if (wants[node] & wanted)
                *next++ = node;
        formula->needed[wanted] = (struct formula_list){first, (int32_t)(next - first)};
    }
    return KITH_OK;
}

kith_status formula_create_in(const struct formula_scope *scope, int64_t count,
                              const kith_law_parameter *parameters, struct law_formula **formula)
{
    static const double ones[formula_variable_count - formula_m_i] = {1, 1, 1, 1};
    struct law_formula *made = NULL;
    *formula = NULL;
    KITH_TRY(create(formula_most_nodes, &made));
    made->weights = ones; /* m and q that are not columns */
    made->scope = scope;
    made->value = made->radial = -1;
    const kith_status status = take_parameters(made, count, parameters);
    if (status == KITH_OK)
        *formula = made;
    else
        formula_free(made);
    return status;
}

/* *is_short: more room might help. */
static kith_status parse(const char *text, int64_t count, const kith_law_parameter *parameters,
                         const double *weights, int32_t capacity, struct law_formula **formula,
                         bool *is_short)
{
    struct law_formula *made = NULL;
    KITH_TRY(create(capacity, &made));
    made->weights = weights;
    kith_status status = take_parameters(made, count, parameters);
    if (status == KITH_OK)
        status = formula_read(made, text);
    if (status == KITH_OK)
        status = list_needed(made);
    *is_short = made->is_full || (status == KITH_OK && !made->has_rate);
    if (status == KITH_OK)
        *formula = made;
    else
        formula_free(made);
    return status;
}

kith_status formula_parse_weighted(const char *text, int64_t count,
                                   const kith_law_parameter *parameters, const double *weights,
                                   struct law_formula **formula)
{
    enum { usual_nodes = 512 };
    bool is_short = false;
    *formula = NULL;
    kith_status status = parse(text, count, parameters, weights, usual_nodes, formula, &is_short);
    if (is_short) {
        formula_free(*formula);
        *formula = NULL;
        status = parse(text, count, parameters, weights, formula_most_nodes, formula, &is_short);
    }
    return status;
}

void formula_free(struct law_formula *formula)
{
    if (formula)
        free(formula->lists);
    free(formula);
}
