/* The parts of a formula that are computed once per call: those of numbers and parameters only. */

#include "law/formula.h"

enum { root_count = 19 };

static void list_roots(const struct law_formula *formula, int32_t roots[root_count])
{
    int32_t count = 0;
    roots[count++] = formula->value;
    roots[count++] = formula->radial;
    roots[count++] = formula->slope;
    for (int32_t c = 0; c < 3; c++) {
        roots[count++] = formula->along[c];
        roots[count++] = formula->cross[c];
    }
    for (int32_t c = 0; c < 6; c++)
        roots[count++] = formula->curve[c];
    roots[count++] = formula->value_product.outer;
    roots[count++] = formula->value_product.inner;
    roots[count++] = formula->radial_product.outer;
    roots[count++] = formula->radial_product.inner;
}

int32_t formula_constant_of(const struct law_formula *formula, int32_t node)
{
    for (int32_t k = 0; k < formula->constant_count; k++)
        if (formula->constants[k] == node)
            return k;
    return -1;
}

static bool add(struct law_formula *formula, int32_t node)
{
    if (formula_constant_of(formula, node) >= 0)
        return true;
    if (formula->constant_count == law_constant_count)
        return false;
    formula->constants[formula->constant_count++] = node;
    return true;
}

static bool is_worth_it(const struct law_formula *formula, int32_t node)
{
    return node >= 0 && formula->is_constant[node] &&
           formula->nodes[node].operation != formula_number;
}

/* In the order in which the nodes are computed. */
static bool add_constants_of(struct law_formula *formula, int32_t root)
{
    bool used[formula_most_nodes] = {false};
    if (is_worth_it(formula, root))
        return add(formula, root);
    formula_mark(formula, root, used);
    for (int32_t k = 0; k <= root; k++)
        for (int c = 0; used[k] && !formula->is_constant[k] && c < 3; c++)
            if (is_worth_it(formula, formula->nodes[k].argument[c]) &&
                !add(formula, formula->nodes[k].argument[c]))
                return false;
    return true;
}

/* Where there are too many: the parameters themselves. */
static void take_parameters(struct law_formula *formula)
{
    formula->constant_count = 0;
    for (int32_t k = 0; k < formula->count; k++)
        if (formula->nodes[k].operation == formula_parameter)
            add(formula, k);
}

void formula_find_constants_of(struct law_formula *formula, const int32_t *roots, int32_t count)
{
    formula->constant_count = 0;
    for (int32_t k = 0; k < count; k++)
        if (!add_constants_of(formula, roots[k])) {
            take_parameters(formula);
            return;
        }
}

void formula_find_constants(struct law_formula *formula)
{
    int32_t roots[root_count];
    list_roots(formula, roots);
    formula_find_constants_of(formula, roots, root_count);
}
