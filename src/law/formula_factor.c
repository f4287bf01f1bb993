/* Sums with common factors taken out, as derivatives of products have them. */

#include <math.h>

#include "law/formula_nodes.h"

enum { most_factors = 12, most_ratio = 1024 };

/* coefficient · Π factor^power · r^of_r; a coefficient of −1 is 1. */
struct product {
    int32_t coefficient, of_r, count;
    int32_t factor[most_factors], power[most_factors];
};

static bool add_factor(struct product *product, int32_t factor, int32_t power)
{
    for (int32_t k = 0; k < product->count; k++)
        if (product->factor[k] == factor) {
            product->power[k] += power;
            return true;
        }
    if (product->count == most_factors)
        return false;
    product->factor[product->count] = factor;
    product->power[product->count++] = power;
    return true;
}

/* Returns false if the factors do not fit. */
static bool take_apart(struct law_formula *formula, int32_t node, struct product *product)
{
    const struct formula_node of = formula->nodes[node];
    if (formula->is_constant[node]) {
        product->coefficient = product->coefficient < 0
                                   ? node
                                   : formula_multiply_nodes(formula, product->coefficient, node);
        return product->coefficient >= 0;
    }
    if (of.operation == formula_negate)
        return take_apart(formula, formula_make_number(formula, -1), product) &&
               take_apart(formula, of.argument[0], product);
    if (of.operation == formula_multiply)
        return take_apart(formula, of.argument[0], product) &&
               take_apart(formula, of.argument[1], product);
    if (of.operation == formula_power_of_r)
        product->of_r += of.which;
    else if (of.operation == formula_power)
        return add_factor(product, of.argument[0], of.which);
    else
        return add_factor(product, node, 1);
    return true;
}

static int32_t put_together(struct law_formula *formula, const struct product *product)
{
    int32_t node =
        product->coefficient < 0 ? formula_make_number(formula, 1) : product->coefficient;
    for (int32_t k = 0; k < product->count; k++)
        if (product->power[k] > 0)
            node = formula_multiply_nodes(
                formula, node, formula_make_power(formula, product->factor[k], product->power[k]));
    return product->of_r ? formula_multiply_nodes(formula, node,
                                                  formula_make_power_of_r(formula, product->of_r))
                         : node;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Moves what both have into common. */
static void take_common(struct product *a, struct product *b, struct product *common)
{
    *common = (struct product){.coefficient = -1};
    for (int32_t k = 0; k < a->count; k++)
        for (int32_t l = 0; l < b->count; l++)
            if (a->factor[k] == b->factor[l]) {
                const int32_t power = smaller(a->power[k], b->power[l]);
                add_factor(common, a->factor[k], power);
                a->power[k] -= power;
                b->power[l] -= power;
            }
    if (a->of_r < 0 && b->of_r < 0)
        common->of_r = a->of_r < b->of_r ? b->of_r : a->of_r;
    else if (a->of_r > 0 && b->of_r > 0)
        common->of_r = smaller(a->of_r, b->of_r);
    a->of_r -= common->of_r;
    b->of_r -= common->of_r;
    if (a->coefficient == b->coefficient) {
        common->coefficient = a->coefficient;
        a->coefficient = b->coefficient = -1;
    }
}

/* Of two numbers of which one is a multiple of the other, the one: 6 x − 12 y = 6 (x − 2 y). */
static void take_common_number(struct law_formula *formula, struct product *a, struct product *b,
                               struct product *common)
{
    double x = 1, y = 1;
    if ((a->coefficient >= 0 && !formula_is_number(formula, a->coefficient, &x)) ||
        (b->coefficient >= 0 && !formula_is_number(formula, b->coefficient, &y)) ||
        common->coefficient >= 0)
        return;
    const double ratio = fabs(x) > fabs(y) ? x / y : y / x;
    if (!(ratio == floor(ratio)) || fabs(ratio) > most_ratio)
        return;
    common->coefficient = formula_make_number(formula, fabs(x) > fabs(y) ? y : x);
    (fabs(x) > fabs(y) ? b : a)->coefficient = -1;
    (fabs(x) > fabs(y) ? a : b)->coefficient = formula_make_number(formula, ratio);
}

int32_t formula_make_sum(struct law_formula *formula, enum formula_operation operation, int32_t a,
                         int32_t b)
{
    struct product of_a = {.coefficient = -1}, of_b = of_a, common = of_a;
    if (a < 0 || b < 0)
        return -1;
    if (!take_apart(formula, a, &of_a) || !take_apart(formula, b, &of_b))
        return formula_make(formula, operation, 0, a, b, -1);
    take_common(&of_a, &of_b, &common);
    take_common_number(formula, &of_a, &of_b, &common);
    if (common.count == 0 && common.of_r == 0 && common.coefficient < 0)
        return formula_make(formula, operation, 0, a, b, -1);
    const int32_t sum = formula_make(formula, operation, 0, put_together(formula, &of_a),
                                     put_together(formula, &of_b), -1);
    return formula_multiply_nodes(formula, put_together(formula, &common), sum);
}
