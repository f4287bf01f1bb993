/* A formula seen from the other particle of a pair. */

#include "law/formula.h"

static int32_t of_variable(struct law_formula *formula, int32_t k)
{
    static const int32_t other[formula_variable_count] = {[formula_m_i] = formula_m_j,
                                                          [formula_m_j] = formula_m_i,
                                                          [formula_q_i] = formula_q_j,
                                                          [formula_q_j] = formula_q_i};
    const int32_t which = formula->nodes[k].which;
    const int32_t column = which - (int32_t)formula_variable_count;
    if (column >= 0)
        return formula_make_column(formula, column / 2, column % 2 == 0);
    if (which == formula_dx || which == formula_dy || which == formula_dz)
        return formula_make(formula, formula_negate, 0, k, -1, -1);
    return formula_make_variable(formula, (enum formula_variable)other[which]);
}

/* Node k, of whose arguments `of` has the exchanged ones. */
static int32_t of_node(struct law_formula *formula, int32_t k, const int32_t *of)
{
    const struct formula_node node = formula->nodes[k];
    int32_t argument[3];
    for (int c = 0; c < 3; c++)
        argument[c] = node.argument[c] < 0 ? -1 : of[node.argument[c]];
    switch (node.operation) {
    case formula_number:
    case formula_power_of_r:
    case formula_parameter:
        return k;
    case formula_variable:
        return of_variable(formula, k);
    case formula_call:
        return formula_make_call(formula, (enum formula_function)node.which, argument[0],
                                 argument[1]);
    case formula_power:
        return formula_make_power(formula, argument[0], node.which);
    default:
        return formula_make(formula, (enum formula_operation)node.operation, node.which,
                            argument[0], argument[1], argument[2]);
    }
}

int32_t formula_exchange(struct law_formula *formula, int32_t root)
{
    bool used[formula_most_nodes] = {false};
    int32_t of[formula_most_nodes] = {0};
    if (root < 0)
        return -1;
    formula_mark(formula, root, used);
    for (int32_t k = 0; k <= root; k++)
        of[k] = used[k] ? of_node(formula, k, of) : -1;
    return formula->is_full ? -1 : of[root];
}
