#ifndef LAW_FORMULA_WRITE_H
#define LAW_FORMULA_WRITE_H

#include <stdio.h>

#include "law/formula.h"

/* How a node is written: in one statement with some of its arguments where that takes fewer
 * operations or has fewer dependencies. */
enum formula_form {
    formula_as_it_is,
    formula_with_another, /* in the statement of the only node that uses it */
    formula_first_fused,  /* x y + c: law_fma(x, y, c) */
    formula_second_fused, /* c + x y */
    formula_times_sum,    /* x (y + 1): law_fma(x, y, x) */
    formula_power_scaled, /* c (x rⁿ): x (c rⁿ), whose second factor does not wait for x */
};

/* A function of a formula's, in C for law_body.h, as it is written. */
struct formula_writer {
    FILE *to;
    const struct law_formula *formula;
    const char *s2;    /* the name of r² */
    const char *floor; /* added to r² so that 1/r is finite at r = 0, or nothing */
    bool has_roots;    /* there are odd powers of r */
    bool has_distance; /* r is law_distance(r²): the caller's, of formulas without powers of 1/r */
    bool is_there[2 * formula_greatest_power + 5]; /* that power of r */
    int32_t uses[formula_most_nodes];              /* how often a node is used */
    int32_t number[formula_most_nodes];            /* of the statement that computes a node */
    bool is_radial[formula_most_nodes];            /* made of numbers, parameters and r only */
    int8_t form[formula_most_nodes];               /* formula_form: how a node is written */
};

/* Begins a function. */
void formula_writer_begin(struct formula_writer *writer, FILE *to,
                          const struct law_formula *formula, const char *s2, const char *floor);

/* Writes the statements that compute roots, and power of r, unless that is 0. */
void formula_write_statements(struct formula_writer *writer, const int32_t *roots, int32_t count,
                              int32_t power);

/* Variables of a scope are pair->column[column_0], column_1, …: columns' _i and _j in turn. */

/* Writes the name of a root; of −1 the number 0. */
void formula_write_root(const struct formula_writer *writer, int32_t root);

void formula_write_power_name(const struct formula_writer *writer, int32_t power);

/* Chooses the forms of the nodes that are used (formula_forms.c). */
void formula_choose_forms(struct formula_writer *writer);

/* The two nodes that a product multiplies. */
void formula_factors_of(const struct formula_node *node, int32_t factors[2]);

bool formula_is_one(const struct law_formula *formula, int32_t node);

/* Which argument of a product is a sum with 1 that nothing else uses; −1: none. */
int formula_times_sum_at(const struct formula_writer *writer, const struct formula_node *node);

#endif
