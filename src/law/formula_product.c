/* Factors of a product that depend on particle i alone, which are taken out of the sum over j.
 */

#include "law/formula.h"

/* Whether a node is made of numbers, parameters, m_i and q_i only. */
static void mark_target_only(const struct law_formula *formula, int32_t count, bool *is_target_only)
{
    for (int32_t k = 0; k < count; k++) {
        const struct formula_node *node = &formula->nodes[k];
        is_target_only[k] = node->operation != formula_power_of_r &&
                            (node->operation != formula_variable || node->which == formula_m_i ||
                             node->which == formula_q_i);
        for (int c = 0; c < 3; c++)
            if (node->argument[c] >= 0)
                is_target_only[k] = is_target_only[k] && is_target_only[node->argument[c]];
    }
}

static void take(struct law_formula *formula, enum formula_operation operation, int32_t node,
                 int32_t *product)
{
    const int32_t before =
        *product >= 0 || operation == formula_multiply ? *product : formula_make_number(formula, 1);
    *product = before < 0 ? node : formula_make(formula, operation, 0, before, node, -1);
}

static void take_factors(struct law_formula *formula, const bool *is_target_only, int32_t node,
                         struct formula_product *product)
{
    const struct formula_node factor = formula->nodes[node];
    const int32_t a = factor.argument[0], b = factor.argument[1];
    if (is_target_only[node]) {
        take(formula, formula_multiply, node, &product->outer);
    } else if (factor.operation == formula_multiply) {
        take_factors(formula, is_target_only, a, product);
        take_factors(formula, is_target_only, b, product);
    } else if (factor.operation == formula_negate) {
        take(formula, formula_multiply, formula_make_number(formula, -1), &product->outer);
        take_factors(formula, is_target_only, a, product);
    } else if (factor.operation == formula_divide) {
        take_factors(formula, is_target_only, a, product);
        take(formula, formula_divide, b, is_target_only[b] ? &product->outer : &product->inner);
    } else if (factor.operation == formula_power_of_r) {
        product->power += factor.which;
    } else {
        take(formula, formula_multiply, node, &product->inner);
    }
}

void formula_find_products(struct law_formula *formula)
{
    bool is_target_only[formula_most_nodes];
    const struct formula_product none = {-1, -1, 0};
    formula->value_product = formula->radial_product = none;
    mark_target_only(formula, formula->count, is_target_only);
    if (formula->is_full)
        return;
    take_factors(formula, is_target_only, formula->value, &formula->value_product);
    if (formula->radial >= 0)
        take_factors(formula, is_target_only, formula->radial, &formula->radial_product);
}
