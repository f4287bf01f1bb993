/* Formulas as functions of law_body.h: one statement for each operation. Nothing of the user's text
 * is written, only what it was read as: names are the program's own, numbers are written anew. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "law/formula.h"

bool formula_is_truth(const struct law_formula *formula, int32_t node)
{
    const int32_t operation = formula->nodes[node].operation;
    return operation >= (int32_t)formula_less && operation <= (int32_t)formula_not;
}

/* As a hexadecimal whole number and a power of 2: no digit is lost, and no locale matters. */
static void write_number(FILE *to, double number)
{
    int exponent = 0;
    const double fraction = frexp(fabs(number), &exponent);
    fprintf(to, "law_all((REAL)%s0x%" PRIx64 "p%d)", number < 0 ? "-" : "",
            (uint64_t)ldexp(fraction, 53), exponent - 53);
}

static void write_variable(FILE *to, int32_t variable)
{
    static const char *const texts[formula_variable_count] = {
        [formula_dx] = "pair->d[0]", [formula_dy] = "pair->d[1]", [formula_dz] = "pair->d[2]",
        [formula_m_i] = "pair->w_i", [formula_m_j] = "pair->w_j", [formula_q_i] = "pair->q_i",
        [formula_q_j] = "pair->q_j"};
    fputs(texts[variable], to);
}

/* Which powers of r stand in a function already. */
struct powers {
    FILE *to;
    const char *floor; /* what is added to r² so that 1/r is finite at r = 0, or nothing */
    bool is_there[2 * formula_greatest_power + 5];
};

static void write_power_name(FILE *to, int32_t power)
{
    if (power == 2)
        fputs("pair->s2", to);
    else
        fprintf(to, "%s_%d", power < 0 ? "inverse_r" : "r", abs(power));
}

/* Powers of 1/r are products of others; so are those of r, of r² as far as possible. */
static void write_power(struct powers *powers, int32_t power)
{
    bool *is_there = &powers->is_there[power + formula_greatest_power + 2];
    if (*is_there || power == 2)
        return;
    *is_there = true;
    const int32_t half = power / 2, even = half % 2 ? half + 1 : half;
    const int32_t first = power == 1                    ? 2
                          : power == -1                 ? 0
                          : power > 2 && power % 2 == 0 ? even
                          : power > 2                   ? power - 1
                                                        : half;
    if (first != 0) {
        write_power(powers, first);
        write_power(powers, power - first);
    }
    fputs("    const VREAL ", powers->to);
    write_power_name(powers->to, power);
    if (first == 0) {
        fprintf(powers->to, " = law_rsqrt(pair->s2%s);\n", powers->floor);
        return;
    }
    fputs(" = ", powers->to);
    write_power_name(powers->to, first);
    fputs(" * ", powers->to);
    write_power_name(powers->to, power - first);
    fputs(";\n", powers->to);
}

/* Node k as a number, or as a truth. */
static void write_argument(FILE *to, const struct law_formula *formula, int32_t k, bool truth)
{
    const bool is_truth = formula_is_truth(formula, k);
    if (is_truth && !truth)
        fprintf(to, "law_select(t%d, law_all((REAL)1), law_all((REAL)0))", (int)k);
    else if (!is_truth && truth)
        fprintf(to, "(t%d != law_all((REAL)0))", (int)k);
    else
        fprintf(to, "t%d", (int)k);
}

static void write_infix(FILE *to, const struct law_formula *formula,
                        const struct formula_node *node, const char *operator, bool truths)
{
    write_argument(to, formula, node->argument[0], truths);
    fprintf(to, " %s ", operator);
    write_argument(to, formula, node->argument[1], truths);
}

/* name(a, b, c), the first a truth if so. */
static void write_prefix(FILE *to, const struct law_formula *formula,
                         const struct formula_node *node, const char *name, bool first_is_truth)
{
    fprintf(to, "%s(", name);
    for (int c = 0; c < 3 && node->argument[c] >= 0; c++) {
        fputs(c ? ", " : "", to);
        write_argument(to, formula, node->argument[c], c == 0 && first_is_truth);
    }
    fputs(")", to);
}

static void write_operation(FILE *to, const struct law_formula *formula, int32_t k)
{
    const struct formula_node *node = &formula->nodes[k];
    static const char *const infix[] = {
        [formula_add] = "+",    [formula_subtract] = "-", [formula_multiply] = "*",
        [formula_divide] = "/", [formula_less] = "<",     [formula_less_equal] = "<=",
        [formula_equal] = "==", [formula_and] = "&",      [formula_or] = "|",
        [formula_not] = NULL};
    char name[32];
    switch (node->operation) {
    case formula_number:
        write_number(to, node->number);
        break;
    case formula_variable:
        write_variable(to, node->which);
        break;
    case formula_power_of_r:
        write_power_name(to, node->which);
        break;
    case formula_parameter:
        fprintf(to, "law_all(law->c[%d])", (int)node->which);
        break;
    case formula_negate:
        write_prefix(to, formula, node, "-", false);
        break;
    case formula_call:
        snprintf(name, sizeof name, "law_%s%s", formula_function_names[node->which],
                 node->which == formula_rsqrt ? "_of_any" : "");
        write_prefix(to, formula, node, name, false);
        break;
    case formula_select:
        write_prefix(to, formula, node, "law_select", true);
        break;
    case formula_not:
        write_prefix(to, formula, node, "law_not", true);
        break;
    default:
        write_infix(to, formula, node, infix[node->operation],
                    node->operation == formula_and || node->operation == formula_or);
    }
}

/* What the roots need. */
static void write_statements(struct powers *powers, const struct law_formula *formula,
                             const int32_t *roots, int32_t count)
{
    FILE *to = powers->to;
    bool used[formula_most_nodes] = {false};
    for (int32_t k = 0; k < count; k++)
        formula_mark(formula, roots[k], used);
    for (int32_t k = 0; k < formula->count; k++) {
        if (!used[k])
            continue;
        if (formula->nodes[k].operation == formula_power_of_r)
            write_power(powers, formula->nodes[k].which);
        fprintf(to, "    const %s t%d = ", formula_is_truth(formula, k) ? "VMASK" : "VREAL",
                (int)k);
        write_operation(to, formula, k);
        fputs(";\n", to);
    }
}

static void write_root(FILE *to, const struct law_formula *formula, int32_t root)
{
    if (root < 0)
        fputs("law_all((REAL)0)", to);
    else
        write_argument(to, formula, root, false);
}

static void write_head(FILE *to, const char *type, const char *name, const char *last)
{
    fprintf(to,
            "LAW_INLINE %s NAME(%s)(const struct NAME(law_constants) * law,\n"
            "    const struct NAME(law_pair) * pair%s)\n"
            "{\n"
            "    (void)law, (void)pair;\n",
            type, name, last);
}

/* floor: 1/r must be finite at r = 0. */
static void write_function_of(FILE *to, const struct law_formula *formula, const char *name,
                              int32_t root, const char *floor)
{
    struct powers powers = {.to = to, .floor = floor};
    write_head(to, "VREAL", name, "");
    write_statements(&powers, formula, &root, 1);
    fputs("    return ", to);
    write_root(to, formula, root);
    fputs(";\n}\n\n", to);
}

static void write_force(FILE *to, const struct law_formula *formula)
{
    const int32_t roots[] = {formula->radial, formula->along[0], formula->along[1],
                             formula->along[2]};
    struct powers powers = {.to = to, .floor = ""};
    write_head(to, "void", "law_custom_force", ", VREAL force[3]");
    write_statements(&powers, formula, roots, 4);
    for (int c = 0; c < 3; c++) {
        fprintf(to, "    force[%d] = law_fma(", c);
        write_root(to, formula, formula->radial);
        fprintf(to, ", pair->d[%d], ", c);
        write_root(to, formula, formula->along[c]);
        fputs(");\n", to);
    }
    fputs("}\n", to);
}

/* Adds u[k] times node root[k] for each k, and ends the statement. */
static void write_along_u(FILE *to, const struct law_formula *formula, const int32_t root[3])
{
    for (int k = 0; k < 3; k++)
        if (root[k] >= 0) {
            fputs(" + ", to);
            write_root(to, formula, root[k]);
            fprintf(to, " * u[%d]", k);
        }
    fputs(";\n", to);
}

/* What the second derivatives need, and their common factors. */
static void write_rate_statements(FILE *to, const struct law_formula *formula)
{
    int32_t roots[11] = {formula->radial, formula->slope};
    for (int c = 0; c < 3; c++)
        roots[2 + c] = formula->cross[c];
    for (int k = 0; k < 6; k++)
        roots[5 + k] = formula->curve[k];
    struct powers powers = {.to = to, .floor = ""};
    write_statements(&powers, formula, roots, 11);
    fputs("    const VREAL *d = pair->d;\n"
          "    const VREAL d_dot_u = law_fma(d[0], u[0], law_fma(d[1], u[1], d[2] * u[2]));\n"
          "    const VREAL radial = ",
          to);
    write_root(to, formula, formula->radial);
    fputs(";\n    const VREAL along_d = d_dot_u * ", to);
    write_root(to, formula, formula->slope);
    write_along_u(to, formula, formula->cross);
}

/* formula_derive.c says what this is. */
static void write_rate(FILE *to, const struct law_formula *formula)
{
    static const int32_t row[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    write_head(to, "void", "law_custom_rate", ", const VREAL u[3], VREAL rate[3]");
    write_rate_statements(to, formula);
    for (int c = 0; c < 3; c++) {
        const int32_t curve[3] = {formula->curve[row[c][0]], formula->curve[row[c][1]],
                                  formula->curve[row[c][2]]};
        fprintf(to, "    rate[%d] = law_fma(radial, u[%d], along_d * d[%d])", c, c, c);
        if (formula->cross[c] >= 0) {
            fputs(" + d_dot_u * ", to);
            write_root(to, formula, formula->cross[c]);
        }
        write_along_u(to, formula, curve);
    }
    fputs("}\n\n", to);
}

/* Whether what a node is made of has a power of r that a kernel computes by 1/r, or any. */
static bool has_power(const struct law_formula *formula, int32_t root, bool any)
{
    bool used[formula_most_nodes] = {false};
    formula_mark(formula, root, used);
    for (int32_t k = 0; k < formula->count; k++) {
        const int32_t power = formula->nodes[k].which;
        if (used[k] && formula->nodes[k].operation == formula_power_of_r &&
            (any || power < 0 || power % 2 != 0))
            return true;
    }
    return false;
}

/* Whether the force has 1/r³ and no other power of 1/r: that costs less than its three factors, but
 * for a number, which is then left to what is not summed. */
static bool is_scaled(const struct law_formula *formula)
{
    return formula->radial >= 0 && formula->radial_product.power == -3 &&
           !has_power(formula, formula->radial_product.inner, false);
}

/* Whether the value is the force's factor times r², but for what depends on i. */
static bool value_follows_factor(const struct law_formula *formula)
{
    const struct formula_product *of = &formula->value_product, *factor = &formula->radial_product;
    return formula->radial >= 0 && of->inner == factor->inner && of->power == factor->power + 2 &&
           of->power != 0 && !has_power(formula, of->inner, true);
}

/* What is summed of a product; scaled: with the number that is_scaled is about. */
static void write_inner(FILE *to, const struct law_formula *formula, const char *name, int32_t root,
                        const struct formula_product *product, const char *floor, bool scaled)
{
    struct powers powers = {.to = to, .floor = floor};
    const bool cubed = scaled && product->power == -3;
    write_head(to, "VREAL", name, "");
    write_statements(&powers, formula, &product->inner, 1);
    if (product->power != 0 && !cubed)
        write_power(&powers, product->power);
    fputs("    return ", to);
    if (root < 0 || product->inner >= 0)
        write_root(to, formula, root < 0 ? -1 : product->inner);
    else
        fputs("law_all((REAL)1)", to);
    if (scaled && !cubed)
        fputs(" * (law_all((REAL)1) / law_rsqrt3_unscaled(law_all((REAL)1)))", to);
    if (cubed)
        fputs(" * law_rsqrt3_scaled(pair->s2)", to);
    else if (product->power != 0)
        fputs(" * ", to), write_power_name(to, product->power);
    fputs(";\n}\n\n", to);
}

/* What is multiplied by at the end, of w_i and q_i alone. */
static void write_outer(FILE *to, const struct law_formula *formula, const char *name,
                        int32_t outer, bool scaled)
{
    struct powers powers = {.to = to, .floor = ""};
    write_head(to, "VREAL", name, "");
    write_statements(&powers, formula, &outer, 1);
    fputs(scaled ? "    return law_rsqrt3_unscaled(" : "    return (", to);
    if (outer >= 0)
        write_root(to, formula, outer);
    else
        fputs("law_all((REAL)1)", to);
    fputs(");\n}\n\n", to);
}

static void write_products(FILE *to, const struct law_formula *formula)
{
    const bool scaled = is_scaled(formula), follows = value_follows_factor(formula);
    const struct formula_product *value = &formula->value_product;
    const struct formula_product *factor = &formula->radial_product;
    /* With the same floor both have the same 1/r, which is then computed once. */
    write_inner(to, formula, "law_custom_factor_inner", formula->radial, factor, " + LAW_FLOOR",
                scaled);
    write_outer(to, formula, "law_custom_factor_outer", factor->outer, scaled);
    write_inner(to, formula, "law_custom_value_inner", formula->value, value, " + LAW_FLOOR",
                scaled && follows);
    write_outer(to, formula, "law_custom_value_outer", value->outer, scaled && follows);
    fprintf(to, "enum { NAME(law_custom_value_follows) = %d };\n", follows);
}

static void write_functions(FILE *to, const struct law_formula *formula)
{
    write_function_of(to, formula, "law_custom_value", formula->value, " + LAW_FLOOR");
    write_function_of(to, formula, "law_custom_factor", formula->radial, "");
    write_force(to, formula);
    write_rate(to, formula);
    write_products(to, formula);
}

kith_status formula_write(const struct law_formula *formula, char **text)
{
    size_t length = 0;
    *text = NULL;
    FILE *to = open_memstream(text, &length);
    if (!to)
        return kith_fail(KITH_OUT_OF_MEMORY, "formula: no memory for its code");
    write_functions(to, formula);
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed) {
        free(*text);
        *text = NULL;
        return kith_fail(KITH_OUT_OF_MEMORY, "formula: no memory for its code");
    }
    return KITH_OK;
}
