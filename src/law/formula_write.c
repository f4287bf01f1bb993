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
        [formula_r] = "pair->s2 * inverse_r", [formula_r2] = "pair->s2",
        [formula_dx] = "pair->d[0]",          [formula_dy] = "pair->d[1]",
        [formula_dz] = "pair->d[2]",          [formula_m_i] = "pair->w_i",
        [formula_m_j] = "pair->w_j",          [formula_q_i] = "pair->q_i",
        [formula_q_j] = "pair->q_j",          [formula_inverse_r] = "inverse_r"};
    fputs(texts[variable], to);
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

/* What the roots need. floor: 1/r must be finite at r = 0. */
static void write_statements(FILE *to, const struct law_formula *formula, const int32_t *roots,
                             int32_t count, const char *floor)
{
    bool used[formula_most_nodes] = {false};
    for (int32_t k = 0; k < count; k++)
        formula_mark(formula, roots[k], used);
    for (int32_t k = 0; k < formula->count; k++)
        if (used[k] && formula->nodes[k].operation == formula_variable &&
            (formula->nodes[k].which == formula_r ||
             formula->nodes[k].which == formula_inverse_r)) {
            fprintf(to, "    const VREAL inverse_r = law_rsqrt(pair->s2%s);\n", floor);
            break;
        }
    for (int32_t k = 0; k < formula->count; k++) {
        if (!used[k])
            continue;
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

static void write_functions(FILE *to, const struct law_formula *formula)
{
    write_head(to, "VREAL", "law_custom_value", "");
    write_statements(to, formula, &formula->value, 1, " + LAW_FLOOR");
    fputs("    return ", to);
    write_root(to, formula, formula->value);
    fputs(";\n}\n\n", to);

    write_head(to, "VREAL", "law_custom_factor", "");
    write_statements(to, formula, &formula->radial, 1, "");
    fputs("    return ", to);
    write_root(to, formula, formula->radial);
    fputs(";\n}\n\n", to);

    const int32_t roots[] = {formula->radial, formula->along[0], formula->along[1],
                             formula->along[2]};
    write_head(to, "void", "law_custom_force", ", VREAL force[3]");
    write_statements(to, formula, roots, 4, "");
    for (int c = 0; c < 3; c++) {
        fprintf(to, "    force[%d] = law_fma(", c);
        write_root(to, formula, formula->radial);
        fprintf(to, ", pair->d[%d], ", c);
        write_root(to, formula, formula->along[c]);
        fputs(");\n", to);
    }
    fputs("}\n", to);
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
