/* Nodes of a formula as statements of C, one an operation. Nothing of the user's text is written,
 * only what it was read as: names are the program's own, numbers are formatted again. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "law/formula_nodes.h"
#include "law/formula_write.h"

static bool is_truth_at(const struct law_formula *formula, int32_t node)
{
    const int32_t operation = formula->nodes[node].operation;
    return operation >= (int32_t)formula_less && operation <= (int32_t)formula_not;
}

void formula_writer_begin(struct formula_writer *writer, FILE *to,
                          const struct law_formula *formula, const char *s2, const char *floor)
{
    *writer = (struct formula_writer){.to = to, .formula = formula, .s2 = s2, .floor = floor};
    for (int32_t k = 0; k < formula->count; k++) {
        const struct formula_node *node = &formula->nodes[k];
        bool all = node->operation != formula_variable;
        for (int c = 0; c < 3; c++)
            all = all && (node->argument[c] < 0 || writer->is_radial[node->argument[c]]);
        writer->is_radial[k] = all;
    }
}

/* As a hexadecimal integer and a power of 2: no digit is lost, and no locale matters. */
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
    if (variable < (int32_t)formula_variable_count)
        fputs(texts[variable], to);
    else
        fprintf(to, "pair->column[column_%d]", (int)(variable - (int32_t)formula_variable_count));
}

void formula_write_power_name(const struct formula_writer *writer, int32_t power)
{
    if (power == 2)
        fputs(writer->s2, writer->to);
    else
        fprintf(writer->to, "%s_%d", power < 0 ? "inverse_r" : "r", abs(power));
}

/* The one of two lower powers that a power of r is the product of; 0: it is not a product. Without
 * roots all are powers of r² and 1/r²; with them powers of 1/r are those of one root. */
static int32_t first_power(const struct formula_writer *writer, int32_t power)
{
    const int32_t half = power / 2, even = half % 2 ? half + (power < 0 ? -1 : 1) : half;
    if (power == -1 || (power == -2 && !writer->has_roots))
        return 0;
    if (power == 1)
        return 2;
    if (power % 2 == 0 && (power > 0 || !writer->has_roots))
        return even;
    return power > 0 ? power - 1 : half;
}

static void write_power(struct formula_writer *writer, int32_t power)
{
    FILE *to = writer->to;
    bool *is_there = &writer->is_there[power + formula_greatest_power + 2];
    if (*is_there || power == 2)
        return;
    *is_there = true;
    if (power == 1 && writer->has_distance) {
        fprintf(to, "    const VREAL r_1 = law_distance(%s);\n", writer->s2);
        return;
    }
    const int32_t first = first_power(writer, power);
    if (first != 0) {
        write_power(writer, first);
        write_power(writer, power - first);
    }
    fputs("    const VREAL ", to);
    formula_write_power_name(writer, power);
    if (first == 0) {
        fprintf(to, " = %s(%s%s);\n", power == -1 ? "law_rsqrt" : "law_reciprocal", writer->s2,
                writer->floor);
        return;
    }
    fputs(" = ", to);
    formula_write_power_name(writer, first);
    fputs(" * ", to);
    formula_write_power_name(writer, power - first);
    fputs(";\n", to);
}

/* Whether a node has a name without a statement. */
static bool is_leaf(const struct formula_writer *writer, int32_t k)
{
    const int32_t operation = writer->formula->nodes[k].operation;
    return operation == formula_number || operation == formula_variable ||
           operation == formula_power_of_r || formula_constant_of(writer->formula, k) >= 0;
}

static void write_leaf(const struct formula_writer *writer, int32_t k)
{
    const struct formula_node *node = &writer->formula->nodes[k];
    const int constant = formula_constant_of(writer->formula, k);
    if (constant >= 0)
        fprintf(writer->to, "law_all(law->c[%d])", constant);
    else if (node->operation == formula_number)
        write_number(writer->to, node->number);
    else if (node->operation == formula_variable)
        write_variable(writer->to, node->which);
    else
        formula_write_power_name(writer, node->which);
}

/* Node k as a number, or as a truth. */
static void write_argument(const struct formula_writer *writer, int32_t k, bool truth)
{
    FILE *to = writer->to;
    const int number = (int)writer->number[k];
    const bool is_truth = is_truth_at(writer->formula, k);
    if (is_truth && !truth)
        fprintf(to, "law_select(t%d, law_all((REAL)1), law_all((REAL)0))", number);
    else if (is_truth)
        fprintf(to, "t%d", number);
    else {
        fputs(truth ? "(" : "", to);
        if (is_leaf(writer, k))
            write_leaf(writer, k);
        else
            fprintf(to, "t%d", number);
        fputs(truth ? " != law_all((REAL)0))" : "", to);
    }
}

static void write_infix(const struct formula_writer *writer, int32_t a, int32_t b,
                        const char *operator, bool truths)
{
    write_argument(writer, a, truths);
    fprintf(writer->to, " %s ", operator);
    write_argument(writer, b, truths);
}

/* name(a, b, c), the first a truth if so. */
static void write_prefix(const struct formula_writer *writer, const struct formula_node *node,
                         const char *name, bool first_is_truth)
{
    fprintf(writer->to, "%s(", name);
    for (int c = 0; c < 3 && node->argument[c] >= 0; c++) {
        fputs(c ? ", " : "", writer->to);
        write_argument(writer, node->argument[c], c == 0 && first_is_truth);
    }
    fputs(")", writer->to);
}

/* Whether a node is a square, or a sum of squares. */
static bool is_square(const struct law_formula *formula, int32_t k)
{
    const struct formula_node *node = &formula->nodes[k];
    if (node->operation == formula_add)
        return is_square(formula, node->argument[0]) && is_square(formula, node->argument[1]);
    return (node->operation == formula_number && node->number >= 0) ||
           (node->operation == formula_power && node->which % 2 == 0);
}

/* Whether a node is r² and a sum of squares: its root is that of a normal number but at r = 0. */
static bool is_softened(const struct law_formula *formula, int32_t k)
{
    const struct formula_node *node = &formula->nodes[k];
    const int32_t a = node->argument[0], b = node->argument[1];
    if (node->operation == formula_power_of_r)
        return node->which == 2;
    return node->operation == formula_add && ((is_softened(formula, a) && is_square(formula, b)) ||
                                              (is_square(formula, a) && is_softened(formula, b)));
}

static void write_call(const struct formula_writer *writer, const struct formula_node *node)
{
    const bool softened = is_softened(writer->formula, node->argument[0]);
    char name[32];
    if (softened && node->which == formula_sqrt) {
        write_argument(writer, node->argument[0], false);
        fputs(" * law_rsqrt(", writer->to);
        write_argument(writer, node->argument[0], false);
        fputs(" + S2_FLOOR)", writer->to);
    } else if (softened && node->which == formula_rsqrt) {
        fputs("law_rsqrt(", writer->to);
        write_argument(writer, node->argument[0], false);
        fprintf(writer->to, "%s)", writer->floor);
    } else {
        snprintf(name, sizeof name, "law_%s%s", formula_function_names[node->which],
                 node->which == formula_rsqrt ? "_of_any" : "");
        write_prefix(writer, node, name, false);
    }
}

static void write_fused(const struct formula_writer *writer, const struct formula_node *node,
                        int term)
{
    int32_t factors[2];
    formula_factors_of(&writer->formula->nodes[node->argument[term]], factors);
    const bool is_difference = node->operation == formula_subtract;
    fputs(is_difference && term == 1 ? "law_fma(-" : "law_fma(", writer->to);
    write_argument(writer, factors[0], false);
    fputs(", ", writer->to);
    write_argument(writer, factors[1], false);
    fputs(is_difference && term == 0 ? ", -" : ", ", writer->to);
    write_argument(writer, node->argument[1 - term], false);
    fputs(")", writer->to);
}

/* x (y ± 1) or x (1 − y), x the first argument. */
static void write_times_sum(const struct formula_writer *writer, const struct formula_node *node)
{
    const struct law_formula *formula = writer->formula;
    const int sum_at = formula_times_sum_at(writer, node);
    const struct formula_node *sum = &formula->nodes[node->argument[sum_at]];
    const bool is_difference = sum->operation == formula_subtract;
    const bool first_is_one = formula_is_one(formula, sum->argument[0]);
    const int32_t x = node->argument[1 - sum_at], y = sum->argument[first_is_one ? 1 : 0];
    fputs(is_difference && first_is_one ? "law_fma(-" : "law_fma(", writer->to);
    write_argument(writer, x, false);
    fputs(", ", writer->to);
    write_argument(writer, y, false);
    fputs(is_difference && !first_is_one ? ", -" : ", ", writer->to);
    write_argument(writer, x, false);
    fputs(")", writer->to);
}

static void write_power_scaled(const struct formula_writer *writer, const struct formula_node *node)
{
    const struct formula_node *inner = &writer->formula->nodes[node->argument[1]];
    write_argument(writer, inner->argument[0], false);
    fputs(" * (", writer->to);
    write_infix(writer, node->argument[0], inner->argument[1], "*", false);
    fputs(")", writer->to);
}

static void write_operation(const struct formula_writer *writer, int32_t k)
{
    const struct formula_node *node = &writer->formula->nodes[k];
    const int8_t form = writer->form[k];
    static const char *const infix[] = {
        [formula_add] = "+",    [formula_subtract] = "-", [formula_multiply] = "*",
        [formula_divide] = "/", [formula_less] = "<",     [formula_less_equal] = "<=",
        [formula_equal] = "==", [formula_and] = "&",      [formula_or] = "|",
        [formula_not] = NULL};
    if (form == formula_first_fused || form == formula_second_fused)
        write_fused(writer, node, form == formula_second_fused);
    else if (form == formula_times_sum)
        write_times_sum(writer, node);
    else if (form == formula_power_scaled)
        write_power_scaled(writer, node);
    else if (node->operation == formula_negate)
        write_prefix(writer, node, "-", false);
    else if (node->operation == formula_power)
        write_infix(writer, node->argument[1], node->argument[2], "*", false);
    else if (node->operation == formula_call)
        write_call(writer, node);
    else if (node->operation == formula_select)
        write_prefix(writer, node, "law_select", true);
    else if (node->operation == formula_not)
        write_prefix(writer, node, "law_not", true);
    else
        write_infix(writer, node->argument[0], node->argument[1], infix[node->operation],
                    node->operation == formula_and || node->operation == formula_or);
}

/* Counts what roots need, from them downwards: what uses a node has a greater index. */
static void count_uses(struct formula_writer *writer, const int32_t *roots, int32_t count,
                       int32_t power)
{
    const struct law_formula *formula = writer->formula;
    memset(writer->uses, 0, sizeof writer->uses);
    writer->has_roots = power % 2 != 0;
    for (int32_t k = 0; k < count; k++)
        if (roots[k] >= 0)
            writer->uses[roots[k]] += 2; /* its name is needed */
    for (int32_t k = formula->count - 1; k >= 0; k--) {
        const struct formula_node *node = &formula->nodes[k];
        if (writer->uses[k] == 0 || formula_constant_of(formula, k) >= 0)
            continue;
        writer->has_roots |= node->operation == formula_power_of_r && node->which % 2 != 0;
        for (int c = node->operation == formula_power ? 1 : 0; c < 3; c++)
            if (node->argument[c] >= 0)
                writer->uses[node->argument[c]]++;
    }
}

void formula_write_statements(struct formula_writer *writer, const int32_t *roots, int32_t count,
                              int32_t power)
{
    const struct law_formula *formula = writer->formula;
    count_uses(writer, roots, count, power);
    formula_choose_forms(writer);
    for (int32_t k = 0, number = 0; k < formula->count; k++) {
        if (writer->uses[k] == 0 || writer->form[k] == formula_with_another)
            continue;
        if (formula->nodes[k].operation == formula_power_of_r)
            write_power(writer, formula->nodes[k].which);
        if (is_leaf(writer, k))
            continue;
        writer->number[k] = number++;
        fprintf(writer->to, "    const %s t%d = ", is_truth_at(formula, k) ? "VMASK" : "VREAL",
                (int)writer->number[k]);
        write_operation(writer, k);
        fputs(";\n", writer->to);
    }
    if (power != 0)
        write_power(writer, power);
}

void formula_write_root(const struct formula_writer *writer, int32_t root)
{
    if (root < 0)
        fputs("law_all((REAL)0)", writer->to);
    else
        write_argument(writer, root, false);
}
