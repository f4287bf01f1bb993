/* Products, quotients and powers of nodes. A product is coefficient · (factors · rⁿ): the
 * coefficient is made of numbers and parameters only, so that it is computed once a call; within
 * it, a number is first. Equal products are then found to be equal. */

#include <math.h>
#include <stdlib.h>

#include "law/formula_nodes.h"

static int32_t multiply(struct law_formula *formula, int32_t a, int32_t b)
{
    return formula_multiply_nodes(formula, a, b);
}

/* Whether a node is a coefficient of others: among constants a number, else a constant. */
static bool is_coefficient(const struct law_formula *formula, int32_t node, bool of_constants)
{
    return of_constants ? formula_is(formula, node, formula_number) : formula->is_constant[node];
}

static bool are_finite_together(const struct law_formula *formula, int32_t a, int32_t b)
{
    double x = 0, y = 0;
    return !formula_is_number(formula, a, &x) || !formula_is_number(formula, b, &y) ||
           isfinite(x * y);
}

/* A coefficient and another node. */
static int32_t scale(struct law_formula *formula, int32_t a, int32_t b)
{
    const struct formula_node other = formula->nodes[b];
    double x = 0;
    formula_is_number(formula, a, &x);
    if (x == 1)
        return b;
    if (other.operation == formula_multiply &&
        is_coefficient(formula, other.argument[0], formula->is_constant[b]) &&
        are_finite_together(formula, a, other.argument[0]))
        return multiply(formula, multiply(formula, a, other.argument[0]), other.argument[1]);
    if (other.operation == formula_negate)
        return multiply(formula, formula_negate_node(formula, a), other.argument[0]);
    if (x == -1)
        return formula_negate_node(formula, b);
    return formula_plain(formula, formula_multiply, 0, a, b, -1);
}

/* Takes rⁿ out of a product, in which it is last; −1: nothing is left. 0: not a power of r.
 */
static int32_t take_power_of_r(const struct law_formula *formula, int32_t *node)
{
    const struct formula_node *product = &formula->nodes[*node];
    int32_t power = 0;
    if (product->operation == formula_power_of_r) {
        power = product->which;
        *node = -1;
    } else if (product->operation == formula_multiply &&
               formula_is(formula, product->argument[1], formula_power_of_r)) {
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
    return formula->is_constant[rest] ? scale(formula, rest, of_r)
                                      : formula_plain(formula, formula_multiply, 0, rest, of_r, -1);
}

/* Whether factors are left, and their product is not too large. */
static bool have_powers_of_r(const struct law_formula *formula, int32_t a, int32_t b)
{
    const int32_t of_a = take_power_of_r(formula, &a), of_b = take_power_of_r(formula, &b);
    return (of_a != 0 || of_b != 0) && abs(of_a + of_b) <= formula_greatest_power;
}

static int32_t base_of(const struct law_formula *formula, int32_t node, int32_t *power)
{
    const bool is_power = formula_is(formula, node, formula_power);
    *power = is_power ? formula->nodes[node].which : 1;
    return is_power ? formula->nodes[node].argument[0] : node;
}

/* Signs and coefficients of factors to the front; −1: none. */
static int32_t multiply_without_coefficients(struct law_formula *formula, int32_t a, int32_t b,
                                             bool of_constants)
{
    for (int side = 0; side < 2; side++) {
        const struct formula_node first = formula->nodes[side ? b : a];
        const int32_t second = side ? a : b;
        if (first.operation == formula_negate)
            return formula_negate_node(formula, multiply(formula, first.argument[0], second));
        if (first.operation == formula_multiply &&
            is_coefficient(formula, first.argument[0], of_constants))
            return multiply(formula, first.argument[0],
                            multiply(formula, first.argument[1], second));
    }
    return -1;
}

int32_t formula_multiply_nodes(struct law_formula *formula, int32_t a, int32_t b)
{
    if (a < 0 || b < 0)
        return -1;
    const bool constants = formula->is_constant[a] && formula->is_constant[b];
    if (is_coefficient(formula, a, constants) && is_coefficient(formula, b, constants))
        return formula_plain(formula, formula_multiply, 0, a, b, -1);
    if (is_coefficient(formula, a, constants))
        return scale(formula, a, b);
    if (is_coefficient(formula, b, constants))
        return scale(formula, b, a);
    const bool was_full = formula->is_full;
    const int32_t product = multiply_without_coefficients(formula, a, b, constants);
    if (product >= 0 || formula->is_full != was_full)
        return product;
    if (have_powers_of_r(formula, a, b))
        return multiply_powers_of_r(formula, a, b);
    int32_t m = 0, n = 0;
    const int32_t base = base_of(formula, a, &m);
    if (base == base_of(formula, b, &n) && m + n <= formula_greatest_power &&
        !formula_is(formula, base, formula_power_of_r))
        return formula_make_power(formula, base, m + n);
    return formula_plain(formula, formula_multiply, 0, a < b ? a : b, a < b ? b : a, -1);
}

int32_t formula_negate_node(struct law_formula *formula, int32_t a)
{
    if (a < 0)
        return -1;
    const struct formula_node node = formula->nodes[a];
    double x = 0;
    if (node.operation == formula_negate)
        return node.argument[0];
    if (node.operation == formula_multiply &&
        (formula_is_number(formula, node.argument[0], &x) ||
         (!formula->is_constant[a] && formula->is_constant[node.argument[0]])))
        return multiply(formula, formula_negate_node(formula, node.argument[0]), node.argument[1]);
    return formula_plain(formula, formula_negate, 0, a, -1, -1);
}

/* 1/b, of a number if it is finite. */
static bool has_inverse(const struct law_formula *formula, int32_t b)
{
    double x = 1;
    return formula->is_constant[b] && (!formula_is_number(formula, b, &x) || isfinite(1 / x));
}

/* Divisions by r and √x become products, and so do those by what is the same for all pairs: that is
 * divided once. */
int32_t formula_divide_nodes(struct law_formula *formula, int32_t a, int32_t b)
{
    if (has_inverse(formula, b) && !formula->is_constant[a]) {
        const int32_t one = formula_make_number(formula, 1);
        return multiply(formula, a, formula_plain(formula, formula_divide, 0, one, b, -1));
    }
    const struct formula_node by = formula->nodes[b];
    if (by.operation == formula_multiply && !formula->is_constant[b] &&
        has_inverse(formula, by.argument[0])) {
        const int32_t over = formula_make(formula, formula_divide, 0, a, by.argument[0], -1);
        return formula_make(formula, formula_divide, 0, over, by.argument[1], -1);
    }
    const int32_t power = take_power_of_r(formula, &b);
    if (power != 0) {
        const int32_t product = multiply(formula, a, formula_make_power_of_r(formula, -power));
        return b < 0 ? product : formula_make(formula, formula_divide, 0, product, b, -1);
    }
    if (formula_is_call(formula, b, formula_sqrt))
        return multiply(formula, a,
                        formula_plain(formula, formula_call, formula_rsqrt,
                                      formula->nodes[b].argument[0], -1, -1));
    return formula_plain(formula, formula_divide, 0, a, b, -1);
}

/* A product of two lower powers, by squaring, each of them a node too. */
int32_t formula_make_power(struct law_formula *formula, int32_t base, int32_t power)
{
    if (base < 0 || power == 1)
        return base;
    int32_t inner = 1;
    const int32_t of = base_of(formula, base, &inner);
    if (inner * power <= formula_greatest_power) {
        base = of;
        power *= inner;
    }
    const int32_t rest = power % 2 ? 1 : power / 2;
    const int32_t b = formula_make_power(formula, base, rest);
    const int32_t a = formula_make_power(formula, base, power - rest);
    return a < 0 || b < 0 ? -1 : formula_plain(formula, formula_power, power, base, a, b);
}

/* base^n, n ≥ 1. (c rᵏ)ⁿ stays so, as its base is a number near 1 where cⁿ and rᵏⁿ may be out of
 * range; with an even power of r where there is one, which needs no root. */
static int32_t whole_power(struct law_formula *formula, int32_t base, int32_t n)
{
    int32_t rest = base;
    const int32_t of_r = base < 0 ? 0 : take_power_of_r(formula, &rest);
    if (of_r % 2 != 0 && n % 2 == 0)
        return whole_power(formula, multiply(formula, base, base), n / 2);
    return formula_make_power(formula, base, n);
}

/* Whether a node is c rᵏ. */
static bool is_monomial(const struct law_formula *formula, int32_t node)
{
    return take_power_of_r(formula, &node) != 0 && (node < 0 || formula->is_constant[node]);
}

enum { greatest_power = 64 };

/* Powers with whole and half exponents are products. */
int32_t formula_raise(struct law_formula *formula, int32_t a, double exponent, int32_t b)
{
    const double twice = 2 * fabs(exponent);
    if (exponent == 0)
        return formula_make_number(formula, 1);
    if (twice > 2 * greatest_power || twice != floor(twice))
        return formula_plain(formula, formula_call, formula_pow, a, b, -1);
    const bool is_whole = fmod(twice, 2) == 0;
    if (formula_is(formula, a, formula_power_of_r)) {
        const double of_r = exponent * formula->nodes[a].which;
        if (of_r == floor(of_r) && fabs(of_r) <= greatest_power)
            return formula_make_power_of_r(formula, (int32_t)of_r);
    }
    if (exponent > 0) {
        if (is_whole)
            return whole_power(formula, a, (int32_t)exponent);
        const int32_t root = formula_make_call(formula, formula_sqrt, a, -1);
        return root < 0       ? -1
               : exponent > 1 ? multiply(formula, whole_power(formula, a, (int32_t)exponent), root)
                              : root;
    }
    const int32_t one = formula_make_number(formula, 1);
    if (is_whole && is_monomial(formula, a))
        return whole_power(formula, formula_make(formula, formula_divide, 0, one, a, -1),
                           (int32_t)-exponent);
    if (is_whole)
        return formula_make(formula, formula_divide, 0, one,
                            whole_power(formula, a, (int32_t)-exponent), -1);
    return whole_power(formula, formula_plain(formula, formula_call, formula_rsqrt, a, -1, -1),
                       (int32_t)twice);
}
