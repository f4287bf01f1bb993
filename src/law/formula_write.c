/* The functions of a formula that law_body.h needs of a custom law. */

#include "law/formula_write.h"

#include <stdlib.h>

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
    struct formula_writer writer;
    formula_writer_begin(&writer, to, formula, "pair->s2", floor);
    write_head(to, "VREAL", name, "");
    formula_write_statements(&writer, &root, 1, 0);
    fputs("    return ", to);
    formula_write_root(&writer, root);
    fputs(";\n}\n\n", to);
}

static void write_force(FILE *to, const struct law_formula *formula)
{
    const int32_t roots[] = {formula->radial, formula->along[0], formula->along[1],
                             formula->along[2]};
    struct formula_writer writer;
    formula_writer_begin(&writer, to, formula, "pair->s2", "");
    write_head(to, "void", "law_custom_force", ", VREAL force[3]");
    formula_write_statements(&writer, roots, 4, 0);
    for (int c = 0; c < 3; c++) {
        fprintf(to, "    force[%d] = law_fma(", c);
        formula_write_root(&writer, formula->radial);
        fprintf(to, ", pair->d[%d], ", c);
        formula_write_root(&writer, formula->along[c]);
        fputs(");\n", to);
    }
    fputs("}\n", to);
}

/* Adds u[k] times node root[k] for each k, and ends the statement. */
static void write_along_u(const struct formula_writer *writer, const int32_t root[3])
{
    FILE *to = writer->to;
    for (int k = 0; k < 3; k++)
        if (root[k] >= 0) {
            fputs(" + ", to);
            formula_write_root(writer, root[k]);
            fprintf(to, " * u[%d]", k);
        }
    fputs(";\n", to);
}

/* What the second derivatives need, and their common factors. */
static void write_rate_statements(struct formula_writer *writer)
{
    const struct law_formula *formula = writer->formula;
    FILE *to = writer->to;
    int32_t roots[11] = {formula->radial, formula->slope};
    for (int c = 0; c < 3; c++)
        roots[2 + c] = formula->cross[c];
    for (int k = 0; k < 6; k++)
        roots[5 + k] = formula->curve[k];
    formula_write_statements(writer, roots, 11, 0);
    fputs("    const VREAL *d = pair->d;\n"
          "    const VREAL d_dot_u = law_fma(d[0], u[0], law_fma(d[1], u[1], d[2] * u[2]));\n"
          "    const VREAL radial = ",
          to);
    formula_write_root(writer, formula->radial);
    fputs(";\n    const VREAL along_d = d_dot_u * ", to);
    formula_write_root(writer, formula->slope);
    write_along_u(writer, formula->cross);
}

/* see formula_derive.c. */
static void write_rate(FILE *to, const struct law_formula *formula)
{
    static const int32_t row[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    struct formula_writer writer;
    formula_writer_begin(&writer, to, formula, "pair->s2", "");
    write_head(to, "void", "law_custom_rate", ", const VREAL u[3], VREAL rate[3]");
    write_rate_statements(&writer);
    for (int c = 0; c < 3; c++) {
        const int32_t curve[3] = {formula->curve[row[c][0]], formula->curve[row[c][1]],
                                  formula->curve[row[c][2]]};
        fprintf(to, "    rate[%d] = law_fma(radial, u[%d], along_d * d[%d])", c, c, c);
        if (formula->cross[c] >= 0) {
            fputs(" + d_dot_u * ", to);
            formula_write_root(&writer, formula->cross[c]);
        }
        write_along_u(&writer, curve);
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
    struct formula_writer writer;
    const bool cubed = scaled && product->power == -3;
    formula_writer_begin(&writer, to, formula, "pair->s2", floor);
    write_head(to, "VREAL", name, "");
    formula_write_statements(&writer, &product->inner, 1, cubed ? 0 : product->power);
    fputs("    return ", to);
    if (root < 0 || product->inner >= 0)
        formula_write_root(&writer, root < 0 ? -1 : product->inner);
    else
        fputs("law_all((REAL)1)", to);
    if (scaled && !cubed)
        fputs(" * (law_all((REAL)1) / law_rsqrt3_unscaled(law_all((REAL)1)))", to);
    if (cubed)
        fputs(" * law_rsqrt3_scaled(pair->s2)", to);
    else if (product->power != 0)
        fputs(" * ", to), formula_write_power_name(&writer, product->power);
    fputs(";\n}\n\n", to);
}

/* What is multiplied by at the end, of w_i and q_i alone. */
static void write_outer(FILE *to, const struct law_formula *formula, const char *name,
                        int32_t outer, bool scaled)
{
    struct formula_writer writer;
    formula_writer_begin(&writer, to, formula, "pair->s2", "");
    write_head(to, "VREAL", name, "");
    formula_write_statements(&writer, &outer, 1, 0);
    fputs(scaled ? "    return law_rsqrt3_unscaled(" : "    return (", to);
    if (outer >= 0)
        formula_write_root(&writer, outer);
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
    write_inner(to, formula, "law_custom_factor_inner", formula->radial, factor, " + S2_FLOOR",
                scaled);
    write_outer(to, formula, "law_custom_factor_outer", factor->outer, scaled);
    write_inner(to, formula, "law_custom_value_inner", formula->value, value, " + S2_FLOOR",
                scaled && follows);
    write_outer(to, formula, "law_custom_value_outer", value->outer, scaled && follows);
    fprintf(to, "enum { NAME(law_custom_value_follows) = %d };\n", follows);
}

static void write_functions(FILE *to, const struct law_formula *formula)
{
    write_function_of(to, formula, "law_custom_value", formula->value, " + S2_FLOOR");
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
    if (fclose(to) != 0 || failed || !*text) { /* closing it may leave no memory, and no error */
        free(*text);
        *text = NULL;
        return kith_fail(KITH_OUT_OF_MEMORY, "formula: no memory for its code");
    }
    return KITH_OK;
}
