#ifndef LAW_FORMULA_NODES_H
#define LAW_FORMULA_NODES_H

#include "law/formula.h"

/* What the files that build nodes share. */

bool formula_is_number(const struct law_formula *formula, int32_t node, double *number);

/* A node unchanged, or the number that it is. */
int32_t formula_plain(struct law_formula *formula, enum formula_operation operation, int32_t which,
                      int32_t a, int32_t b, int32_t c);

int32_t formula_multiply_nodes(struct law_formula *formula, int32_t a, int32_t b);
int32_t formula_divide_nodes(struct law_formula *formula, int32_t a, int32_t b);
int32_t formula_negate_node(struct law_formula *formula, int32_t a);

/* a to the power exponent, a number, of which b is the node; a is no number. */
int32_t formula_raise(struct law_formula *formula, int32_t a, double exponent, int32_t b);

static inline bool formula_is(const struct law_formula *formula, int32_t node, int32_t operation)
{
    return node >= 0 && formula->nodes[node].operation == operation;
}

static inline bool formula_is_call(const struct law_formula *formula, int32_t node,
                                   int32_t function)
{
    return formula_is(formula, node, formula_call) && formula->nodes[node].which == function;
}

#endif
