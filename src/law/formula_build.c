/* Nodes of a formula, each once, with what is constant computed. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "law/formula.h"

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

static int32_t add_node(struct law_formula *formula, struct formula_node node)
{
    const uint64_t slots = sizeof formula->slots / sizeof formula->slots[0];
    uint64_t slot = hash_of(&node) % slots;
    for (; formula->slots[slot]; slot = (slot + 1) % slots)
        if (is_same(&formula->nodes[formula->slots[slot] - 1], &node))
            return formula->slots[slot] - 1;
    if (formula->count == formula_most_nodes) {
        formula->is_full = true;
        return -1;
    }
    formula->nodes[formula->count] = node;
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
    return add_node(formula,
                    (struct formula_node){0, formula_variable, (int32_t)variable, {-1, -1, -1}});
}

static bool is_number(const struct law_formula *formula, int32_t node, double *number)
{
    if (node < 0 || formula->nodes[node].operation != formula_number)
        return false;
    *number = formula->nodes[node].number;
    return true;
}

static bool is_operation(const struct law_formula *formula, int32_t node, int32_t operation)
{
    return node >= 0 && formula->nodes[node].operation == operation;
}

static bool is_call(const struct law_formula *formula, int32_t node, int32_t function)
{
    return formula->nodes[node].operation == formula_call && formula->nodes[node].which == function;
}

/* All arguments are numbers and so is the result. */
static bool fold(const struct law_formula *formula, const struct formula_node *node, double *result)
{
    double argument[3] = {0};
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0 && !is_number(formula, node->argument[k], &argument[k]))
            return false;
    *result = formula_apply((enum formula_operation)node->operation, node->which, argument);
    return isfinite(*result);
}

static int32_t plain(struct law_formula *formula, enum formula_operation operation, int32_t which,
                     int32_t a, int32_t b, int32_t c)
{
    const struct formula_node node = {0, (int32_t)operation, which, {a, b, c}};
    double number = 0;
    if (fold(formula, &node, &number))
        return formula_make_number(formula, number);
    return add_node(formula, node);
}

static int32_t multiply(struct law_formula *formula, int32_t a, int32_t b);

/* A number and another node. Numbers stand first. */
static int32_t multiply_by_number(struct law_formula *formula, int32_t a, int32_t b)
{
    const struct formula_node *other = &formula->nodes[b];
    double x = 0, y = 0;
    is_number(formula, a, &x);
    if (x == 1)
        return b;
    if (other->operation == formula_multiply && is_number(formula, other->argument[0], &y) &&
        isfinite(x * y))
        return multiply(formula, formula_make_number(formula, x * y), other->argument[1]);
    if (other->operation == formula_negate)
        return multiply(formula, formula_make_number(formula, -x), other->argument[0]);
    if (x == -1)
        return formula_make(formula, formula_negate, 0, b, -1, -1);
    return plain(formula, formula_multiply, 0, a, b, -1);
}

/* Takes rⁿ out of a product, in which it stands last; −1: nothing is left. 0: there is none. */
static int32_t take_power_of_r(const struct law_formula *formula, int32_t *node)
{
    const struct formula_node *product = &formula->nodes[*node];
    int32_t power = 0;
    if (product->operation == formula_power_of_r) {
        power = product->which;
        *node = -1;
    } else if (product->operation == formula_multiply &&
               is_operation(formula, product->argument[1], formula_power_of_r)) {
        power = formula->nodes[product->argument[1]].which;
        *node = product->argument[0];
    }
    return power;
}

/* Powers of r become one. */
static int32_t multiply_powers_of_r(struct law_formula *formula, int32_t a, int32_t b)
{
    const int32_t power = take_power_of_r(formula, &a) + take_power_of_r(formula, &b);
    const int32_t rest = a < 0 ? b : b < 0 ? a : multiply(formula, a, b);
    const int32_t of_r = formula_make_power_of_r(formula, power);
    if (rest < 0 || of_r < 0 || power == 0)
        return a < 0 && b < 0 ? of_r : rest;
    double number = 0;
    return is_number(formula, rest, &number) ? multiply_by_number(formula, rest, of_r)
                                             : plain(formula, formula_multiply, 0, rest, of_r, -1);
}

/* Whether there are any, and not too large a one comes of them. */
static bool have_powers_of_r(const struct law_formula *formula, int32_t a, int32_t b)
{
    const int32_t of_a = take_power_of_r(formula, &a), of_b = take_power_of_r(formula, &b);
    return (of_a != 0 || of_b != 0) && abs(of_a + of_b) <= formula_greatest_power;
}

/* Numbers and signs come to the front, powers of r to the end, and what is between is in one order,
 * so that what is equal is found to be so. */
static int32_t multiply(struct law_formula *formula, int32_t a, int32_t b)
{
    double x = 0;
    if (a < 0 || b < 0)
        return -1;
    if (is_number(formula, a, &x) && is_number(formula, b, &x))
        return plain(formula, formula_multiply, 0, a, b, -1);
    if (is_number(formula, a, &x))
        return multiply_by_number(formula, a, b);
    if (is_number(formula, b, &x))
        return multiply_by_number(formula, b, a);
    for (int side = 0; side < 2; side++) {
        const struct formula_node first = formula->nodes[side ? b : a];
        const int32_t second = side ? a : b;
        if (first.operation == formula_negate)
            return formula_make(formula, formula_negate, 0,
                                multiply(formula, first.argument[0], second), -1, -1);
        if (first.operation == formula_multiply && is_number(formula, first.argument[0], &x))
            return multiply(formula, first.argument[0],
                            multiply(formula, first.argument[1], second));
    }
    if (have_powers_of_r(formula, a, b))
        return multiply_powers_of_r(formula, a, b);
    return plain(formula, formula_multiply, 0, a < b ? a : b, a < b ? b : a, -1);
}

static int32_t negate(struct law_formula *formula, int32_t a)
{
    const struct formula_node *node = &formula->nodes[a];
    double x = 0;
    if (node->operation == formula_negate)
        return node->argument[0];
    if (node->operation == formula_multiply && is_number(formula, node->argument[0], &x))
        return multiply(formula, formula_make_number(formula, -x), node->argument[1]);
    return plain(formula, formula_negate, 0, a, -1, -1);
}

/* Divisions by r and √x become products, and so do those by what is the same for all pairs: that is
 * divided once. */
static int32_t divide(struct law_formula *formula, int32_t a, int32_t b)
{
    double x = 1;
    const bool is_constant = is_operation(formula, b, formula_parameter) ||
                             (is_number(formula, b, &x) && isfinite(1 / x));
    if (is_constant && !is_number(formula, a, &x))
        return multiply(formula, a,
                        plain(formula, formula_divide, 0, formula_make_number(formula, 1), b, -1));
    const int32_t power = take_power_of_r(formula, &b);
    if (power != 0) {
        const int32_t product = multiply(formula, a, formula_make_power_of_r(formula, -power));
        return b < 0 ? product : formula_make(formula, formula_divide, 0, product, b, -1);
    }
    if (is_call(formula, b, formula_sqrt))
        return formula_make(
            formula, formula_multiply, 0, a,
            plain(formula, formula_call, formula_rsqrt, formula->nodes[b].argument[0], -1, -1), -1);
    return plain(formula, formula_divide, 0, a, b, -1);
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
    double x = 0, y = 0;
    switch (operation) {
    case formula_add:
        if (is_number(formula, a, &x) && x == 0)
            return b;
        if (is_number(formula, b, &y) && y == 0)
            return a;
        if (a == b)
            return multiply(formula, formula_make_number(formula, 2), a);
        break;
    case formula_subtract:
        if (is_number(formula, b, &y) && y == 0)
            return a;
        break;
    case formula_multiply:
        return multiply(formula, a, b);
    case formula_divide:
        return divide(formula, a, b);
    case formula_negate:
        return negate(formula, a);
    case formula_select:
        if (is_number(formula, a, &x))
            return x != 0 ? b : c;
        break;
    default:
        break;
    }
    return plain(formula, operation, which, a, b, c);
}

/* base^n, n ≥ 1, by squaring. */
static int32_t whole_power(struct law_formula *formula, int32_t base, int n)
{
    int32_t result = -1;
    for (; n > 0 && base >= 0; n >>= 1) {
        if (n & 1)
            result = result < 0 ? base : multiply(formula, result, base);
        base = n > 1 ? multiply(formula, base, base) : base;
    }
    return result;
}

enum { greatest_power = 64 };

/* Powers with whole and half exponents are products. */
static int32_t power(struct law_formula *formula, int32_t a, double exponent, int32_t b)
{
    const double twice = 2 * fabs(exponent);
    if (exponent == 0)
        return formula_make_number(formula, 1);
    if (twice > 2 * greatest_power || twice != floor(twice))
        return plain(formula, formula_call, formula_pow, a, b, -1);
    const bool is_whole = fmod(twice, 2) == 0;
    if (is_operation(formula, a, formula_power_of_r)) {
        const double of_r = exponent * formula->nodes[a].which;
        if (of_r == floor(of_r) && fabs(of_r) <= greatest_power)
            return formula_make_power_of_r(formula, (int32_t)of_r);
    }
    if (exponent > 0) {
        if (is_whole)
            return whole_power(formula, a, (int)exponent);
        const int32_t root = formula_make_call(formula, formula_sqrt, a, -1);
        return root < 0       ? -1
               : exponent > 1 ? multiply(formula, whole_power(formula, a, (int)exponent), root)
                              : root;
    }
    if (is_whole)
        return formula_make(formula, formula_divide, 0, formula_make_number(formula, 1),
                            whole_power(formula, a, (int)-exponent), -1);
    return whole_power(formula, plain(formula, formula_call, formula_rsqrt, a, -1, -1), (int)twice);
}

int32_t formula_make_call(struct law_formula *formula, enum formula_function function, int32_t a,
                          int32_t b)
{
    double exponent = 0;
    if (a < 0)
        return -1;
    if (function == formula_sqrt && is_operation(formula, a, formula_power_of_r) &&
        formula->nodes[a].which == 2)
        return formula_make_power_of_r(formula, 1);
    if (function == formula_pow && is_number(formula, b, &exponent) &&
        !is_number(formula, a, &(double){0}))
        return power(formula, a, exponent, b);
    return plain(formula, formula_call, (int32_t)function, a, b, -1);
}
