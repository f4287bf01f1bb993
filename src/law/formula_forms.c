/* How nodes are written: which share a statement. */

#include <string.h>

#include "law/formula_nodes.h"
#include "law/formula_write.h"

void formula_factors_of(const struct formula_node *node, int32_t factors[2])
{
    const int first = node->operation == formula_power ? 1 : 0;
    factors[0] = node->argument[first];
    factors[1] = node->argument[first + 1];
}

bool formula_is_one(const struct law_formula *formula, int32_t k)
{
    double x = 0;
    return formula_is_number(formula, k, &x) && x == 1;
}

int formula_times_sum_at(const struct formula_writer *writer, const struct formula_node *node)
{
    const struct law_formula *formula = writer->formula;
    for (int side = 0; side < 2 && node->operation == formula_multiply; side++) {
        const int32_t k = node->argument[side];
        const struct formula_node *sum = &formula->nodes[k];
        const bool is_sum = sum->operation == formula_add || sum->operation == formula_subtract;
        if (is_sum && writer->uses[k] == 1 && formula_constant_of(formula, k) < 0 &&
            (formula_is_one(formula, sum->argument[0]) ||
             formula_is_one(formula, sum->argument[1])))
            return side;
    }
    return -1;
}

/* Whether a node is a product that nothing but a sum uses. */
static bool may_be_fused(const struct formula_writer *writer, int32_t k)
{
    const int32_t operation = writer->formula->nodes[k].operation;
    return (operation == formula_multiply || operation == formula_power) && writer->uses[k] == 1 &&
           formula_constant_of(writer->formula, k) < 0;
}

/* Which term of a sum is a product that is added to the other in one operation; −1: none. Where
 * both are, the result would depend on which of two particles is i, unless it depends on r alone.
 */
static int fused_term(const struct formula_writer *writer, int32_t k)
{
    const struct formula_node *node = &writer->formula->nodes[k];
    if (node->operation != formula_add && node->operation != formula_subtract)
        return -1;
    const bool first = may_be_fused(writer, node->argument[0]);
    const bool second = may_be_fused(writer, node->argument[1]);
    if (first && second && !writer->is_radial[k])
        return -1;
    return first ? 0 : second ? 1 : -1;
}

/* Whether a node is c (x rⁿ), in which nothing else uses x rⁿ. */
static bool is_scaled_power(const struct formula_writer *writer, int32_t k)
{
    const struct law_formula *formula = writer->formula;
    const struct formula_node *node = &formula->nodes[k];
    const int32_t inner = node->argument[1];
    return node->operation == formula_multiply && formula->is_constant[node->argument[0]] &&
           formula_is(formula, inner, formula_multiply) && writer->uses[inner] == 1 &&
           formula_is(formula, formula->nodes[inner].argument[1], formula_power_of_r);
}

/* From the roots downwards: a node in another's statement has none of its own. */
void formula_choose_forms(struct formula_writer *writer)
{
    const struct law_formula *formula = writer->formula;
    memset(writer->form, formula_as_it_is, sizeof writer->form);
    for (int32_t k = formula->count - 1; k >= 0; k--) {
        const struct formula_node *node = &formula->nodes[k];
        if (writer->uses[k] == 0 || writer->form[k] == formula_with_another ||
            formula_constant_of(formula, k) >= 0)
            continue;
        const int term = fused_term(writer, k), sum = formula_times_sum_at(writer, node);
        if (is_scaled_power(writer, k)) {
            writer->form[k] = formula_power_scaled;
            writer->form[node->argument[1]] = formula_with_another;
        } else if (term >= 0) {
            writer->form[k] = (int8_t)(term == 0 ? formula_first_fused : formula_second_fused);
            writer->form[node->argument[term]] = formula_with_another;
        } else if (sum >= 0) {
            writer->form[k] = formula_times_sum;
            writer->form[node->argument[sum]] = formula_with_another;
        }
    }
}
