/* The formulas of a call as C for its kernel. */

#include "sums/write.h"

#include <stdlib.h>

#include "law/formula_write.h"
#include "sums/columns.h"

static bool diverges(const struct sums_formulas *formulas, int32_t k)
{
    return formulas->diverges[k];
}

static bool is_product(const struct sums_formulas *formulas, int32_t k)
{
    return formulas->formula->nodes[formulas->output[k]].operation == (int32_t)formula_multiply;
}

/* A macro of the number of an output. */
static void write_choice(FILE *to, const char *name, const struct sums_formulas *formulas,
                         bool (*chooses)(const struct sums_formulas *formulas, int32_t k))
{
    fprintf(to, "#define %s(k) (0", name);
    for (int32_t k = 0; k < formulas->output_count; k++)
        if (chooses(formulas, k))
            fprintf(to, " || (k) == %d", (int)k);
    fputs(")\n", to);
}

static void write_numbers(FILE *to, const struct sums_problem *problem)
{
    bool periodic = problem->list.shifts != NULL;
    const bool is_listed = problem->list.offsets || sums_has_rows(problem);
    for (int k = 0; k < 3; k++)
        periodic = periodic || (!is_listed && problem->lattice.periodic[k]);
    fprintf(to,
            "#ifdef SUMS_NUMBERS\n"
            "#define SUMS_IN_FLOAT %d\n"
            "#define SUMS_DIMENSIONS %d\n"
            "#define SUMS_MORE_AXES %d\n"
            "#define SUMS_ALL_PAIRS %d\n"
            "#define SUMS_LISTED %d\n"
            "#define SUMS_FLAT %d\n"
            "#define SUMS_PERIODIC %d\n"
            "#define SUMS_OUTPUTS %d\n"
            "#define SUMS_COLUMNS_I %d\n"
            "#define SUMS_COLUMNS_J %d\n"
            "#define SUMS_REDUCTION %d\n",
            problem->dtype == KITH_F32, (int)(problem->dimensions - sums_more_axes(problem)),
            (int)sums_more_axes(problem), problem->cutoff == 0 && !is_listed, is_listed,
            sums_is_flat(problem), periodic, (int)problem->formulas->output_count,
            (int)sums_column_count(problem->formulas->uses_i),
            (int)sums_column_count(problem->formulas->uses_j), (int)problem->reduction);
    write_choice(to, "SUMS_DIVERGES", problem->formulas, diverges);
    write_choice(to, "SUMS_IS_PRODUCT", problem->formulas, is_product);
    fputs("#else\n", to);
}

/* The formula writer names a column by its variable; the pair has those that are used. */
static void write_columns(FILE *to, const struct sums_formulas *formulas)
{
    const int32_t of_i = sums_column_count(formulas->uses_i);
    int32_t at_i = 0, at_j = 0;
    for (int32_t k = 0; k < formulas->scope.column_count; k++) {
        if (formulas->uses_i[k])
            fprintf(to, "enum { column_%d = %d };\n", (int)(2 * k), (int)at_i++);
        if (formulas->uses_j[k])
            fprintf(to, "enum { column_%d = %d };\n", (int)(2 * k + 1), (int)(of_i + at_j++));
    }
}

static void write_root(const struct formula_writer *writer, const char *name, int32_t k,
                       int32_t root)
{
    fprintf(writer->to, "    %s[%d] = ", name, (int)k);
    formula_write_root(writer, root);
    fputs(";\n", writer->to);
}

/* Whether no power of 1/r is needed. */
static bool lack_inverse(const struct sums_formulas *formulas)
{
    for (int32_t k = 0; k < formulas->needed.count; k++) {
        const struct formula_node *node = &formulas->formula->nodes[formulas->needed.nodes[k]];
        if (node->operation == (int32_t)formula_power_of_r && node->which < 0)
            return false;
    }
    return true;
}

/* Of a product its two factors, so that a sum of it takes one fused operation. */
static void write_values(FILE *to, const struct sums_formulas *formulas)
{
    struct formula_writer writer;
    int32_t roots[2 * KITH_SUMS_MAX_OUTPUTS], count = 0;
    for (int32_t k = 0; k < formulas->output_count; k++) {
        roots[count++] = formulas->output[k];
        if (is_product(formulas, k)) {
            formula_factors_of(&formulas->formula->nodes[formulas->output[k]], &roots[count - 1]);
            count++;
        }
    }
    formula_writer_begin(&writer, to, formulas->formula, "pair->s2", " + S2_FLOOR");
    writer.has_distance = lack_inverse(formulas);
    fputs("LAW_INLINE void sums_values(const struct sums_constants *law,\n"
          "    const struct sums_pair *pair, VREAL value[SUMS_OUTPUTS],\n"
          "    VREAL factor[SUMS_OUTPUTS])\n"
          "{\n"
          "    (void)law, (void)pair;\n",
          to);
    formula_write_statements(&writer, roots, count, 0);
    for (int32_t k = 0, at = 0; k < formulas->output_count; k++) {
        write_root(&writer, "value", k, roots[at++]);
        if (is_product(formulas, k))
            write_root(&writer, "factor", k, roots[at++]);
        else
            fprintf(to, "    factor[%d] = law_all((REAL)1);\n", (int)k);
    }
    fputs("}\n#endif\n", to);
}

kith_status sums_write(const struct sums_problem *problem, char **text)
{
    size_t length = 0;
    *text = NULL;
    FILE *to = open_memstream(text, &length);
    if (!to)
        return kith_fail(KITH_OUT_OF_MEMORY, "formulas: no memory for their code");
    write_numbers(to, problem);
    write_columns(to, problem->formulas);
    write_values(to, problem->formulas);
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed || !*text) { /* closing it may leave no memory, and no error */
        free(*text);
        *text = NULL;
        return kith_fail(KITH_OUT_OF_MEMORY, "formulas: no memory for their code");
    }
    return KITH_OK;
}
