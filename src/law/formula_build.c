/* Nodes of a formula, each once, with what is constant computed. */

#include "law/formula_nodes.h"

#include <math.h>
#include <string.h>

static uint64_t hash_of(const struct formula_node *node)
{
    uint64_t bits = 0, hash = 0;
    memcpy(&bits, &node->number, sizeof bits);
    const uint64_t parts[] = {
        bits, (uint64_t)(uint32_t)node->operation << 32 | (uint32_t)node->which,
        (uint64_t)(uint32_t)node->argument[0] << 32 | (uint32_t)node->argument[1],
        (uint32_t)node->argument[2]};
    for (int k = 0; k < 4; k++) {
        hash = (hash ^ parts[k]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool is_same(const struct formula_node *a, const struct formula_node *b)
{
    return memcmp(&a->number, &b->number, sizeof a->number) == 0 && a->operation == b->operation &&
           a->which == b->which && memcmp(a->argument, b->argument, sizeof a->argument) == 0;
}

static bool is_constant(const struct law_formula *formula, const struct formula_node *node)
{
    if (node->operation == formula_number || node->operation == formula_parameter)
        return true;
    bool all = node->argument[0] >= 0;
    for (int c = 0; c < 3; c++)
        all = all && (node->argument[c] < 0 || formula->is_constant[node->argument[c]]);
    return all;
}

static int32_t add_node(struct law_formula *formula, struct formula_node node)
{
    const uint64_t slots = 4 * (uint64_t)formula->capacity;
    uint64_t slot = hash_of(&node) % slots;
    for (; formula->slots[slot]; slot = (slot + 1) % slots)
        if (is_same(&formula->nodes[formula->slots[slot] - 1], &node))
            return formula->slots[slot] - 1;
    if (formula->count == formula->capacity) {
        formula->is_full = true;
        return -1;
    }
    formula->nodes[formula->count] = node;
    formula->is_constant[formula->count] = is_constant(formula, &node);
    formula->slots[slot] = ++formula->count;
    return formula->count - 1;
}

int32_t formula_make_number(struct law_formula *formula, double number)
{
    return add_node(formula, (struct formula_node){number, formula_number, 0, {-1, -1, -1}});
}

int32_t formula_make_power_of_r(struct law_formula *formula, int32_t power)
{
    if (power == 0)
        return formula_make_number(formula, 1);
    return add_node(formula, (struct formula_node){0, formula_power_of_r, power, {-1, -1, -1}});
}

int32_t formula_make_variable(struct law_formula *formula, enum formula_variable variable)
{
    if (variable == formula_r || variable == formula_r2)
        return formula_make_power_of_r(formula, variable == formula_r ? 1 : 2);
    if (formula->weights && variable >= formula_m_i)
        return formula_make_number(formula, formula->weights[variable - formula_m_i]);
    return add_node(formula,
                    (struct formula_node){0, formula_variable, (int32_t)variable, {-1, -1, -1}});
}

int32_t formula_make_column(struct law_formula *formula, int32_t column, bool of_j)
{
    return add_node(formula,
                    (struct formula_node){
                        0, formula_variable, formula_column_variable(column, of_j), {-1, -1, -1}});
}

bool formula_is_number(const struct law_formula *formula, int32_t node, double *number)
{
    if (node < 0 || formula->nodes[node].operation != formula_number)
        return false;
    *number = formula->nodes[node].number;
    return true;
}

/* All arguments are numbers and so is the result. */
static bool fold(const struct law_formula *formula, const struct formula_node *node, double *result)
{
    double argument[3] = {0};
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0 && !formula_is_number(formula, node->argument[k], &argument[k]))
            return false;
    *result = formula_apply((enum formula_operation)node->operation, node->which, argument);
    return isfinite(*result);
}

int32_t formula_plain(struct law_formula *formula, enum formula_operation operation, int32_t which,
                      int32_t a, int32_t b, int32_t c)
{
    const struct formula_node node = {0, (int32_t)operation, which, {a, b, c}};
    double number = 0;
    if (fold(formula, &node, &number))
        return formula_make_number(formula, number);
    return add_node(formula, node);
}

static bool is_zero(const struct law_formula *formula, int32_t node)
{
    double x = 1;
    return formula_is_number(formula, node, &x) && x == 0;
}

static int32_t add(struct law_formula *formula, int32_t a, int32_t b)
{
    if (is_zero(formula, a))
        return b;
    if (is_zero(formula, b))
        return a;
    if (a == b)
        return formula_multiply_nodes(formula, formula_make_number(formula, 2), a);
    if (formula_is(formula, b, formula_negate))
        return formula_make(formula, formula_subtract, 0, a, formula->nodes[b].argument[0], -1);
    if (formula_is(formula, a, formula_negate))
        return formula_make(formula, formula_subtract, 0, b, formula->nodes[a].argument[0], -1);
    return formula_plain(formula, formula_add, 0, a, b, -1);
}

static int32_t subtract(struct law_formula *formula, int32_t a, int32_t b)
{
    if (is_zero(formula, b))
        return a;
    if (formula_is(formula, b, formula_negate))
        return formula_make(formula, formula_add, 0, a, formula->nodes[b].argument[0], -1);
    return formula_plain(formula, formula_subtract, 0, a, b, -1);
}

int32_t formula_make(struct law_formula *formula, enum formula_operation operation, int32_t which,
                     int32_t a, int32_t b, int32_t c)
{
    const int needed = operation == formula_parameter                            ? 0
                       : operation == formula_negate || operation == formula_not ? 1
                       : operation == formula_select                             ? 3
                                                                                 : 2;
    if ((needed > 0 && a < 0) || (needed > 1 && b < 0) || (needed > 2 && c < 0))
        return -1;
    switch (operation) {
    case formula_add:
        return add(formula, a, b);
    case formula_subtract:
        return subtract(formula, a, b);
    case formula_multiply:
        return formula_multiply_nodes(formula, a, b);
    case formula_divide:
        return formula_divide_nodes(formula, a, b);
    case formula_negate:
        return formula_negate_node(formula, a);
    case formula_select: {
        double x = 0;
        if (formula_is_number(formula, a, &x))
            return x != 0 ? b : c;
        break;
    }
    default:
        break;
    }
    return formula_plain(formula, operation, which, a, b, c);
}

/* e^(c x) is 2^(c log2(e) x): that coefficient costs nothing. −1: a has no coefficient. */
static int32_t exponential(struct law_formula *formula, int32_t a)
{
    const struct formula_node node = formula->nodes[a];
    const int32_t log2e = formula_make_number(formula, M_LOG2E);
    if (formula->is_constant[a])
        return -1;
    if (node.operation == formula_negate ||
        (node.operation == formula_multiply && formula->is_constant[node.argument[0]]))
        return formula_plain(formula, formula_call, formula_exp2,
                             formula_multiply_nodes(formula, log2e, a), -1, -1);
    return -1;
}

/* The logarithm of rⁿ is that of r² times n/2. */
static int32_t logarithm_of_r(struct law_formula *formula, enum formula_function function,
                              int32_t power)
{
    const int32_t half = formula_make_number(formula, power / 2.0);
    const int32_t r2 = formula_make_power_of_r(formula, 2);
    return formula_multiply_nodes(
        formula, half, formula_plain(formula, formula_call, (int32_t)function, r2, -1, -1));
}

int32_t formula_make_call(struct law_formula *formula, enum formula_function function, int32_t a,
                          int32_t b)
{
    double exponent = 0;
    if (a < 0)
        return -1;
    const bool is_of_r = formula_is(formula, a, formula_power_of_r);
    if (function == formula_sqrt && is_of_r && formula->nodes[a].which == 2)
        return formula_make_power_of_r(formula, 1);
    if ((function == formula_log || function == formula_log2 || function == formula_log10) &&
        is_of_r && formula->nodes[a].which != 2)
        return logarithm_of_r(formula, function, formula->nodes[a].which);
    if (function == formula_pow && formula_is_number(formula, b, &exponent) &&
        !formula_is_number(formula, a, &(double){0}))
        return formula_raise(formula, a, exponent, b);
    const int32_t of_two = function == formula_exp ? exponential(formula, a) : -1;
    return of_two >= 0 ? of_two : formula_plain(formula, formula_call, (int32_t)function, a, b, -1);
}
