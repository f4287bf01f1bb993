/* Writes what kernels include of the table of laws, when the library is built:
 *
 *     law_writer FOLDER
 *
 * law_list.h has the kinds, law_bodies.h for each that is not computed by hand u(s²), the value of
 * a pair of weights 1, f(s²) = (du/ds)/s and g(s²) = (df/ds)/s, made of the laws' formulas. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "law/formula_nodes.h"
#include "law/formula_write.h"
#include "law/law_rows.h"

enum { most_kinds = 64 };

struct kind {
    char name[law_kind_bytes];
    char *body; /* NULL: by hand */
    bool may_be_product, is_finite, is_infinite;
};

struct kinds {
    struct kind kind[most_kinds];
    int32_t count;
};

static kith_status find_kind(struct kinds *kinds, const char *name, struct kind **kind)
{
    int32_t k = 0;
    while (k < kinds->count && strcmp(kinds->kind[k].name, name) != 0)
        k++;
    if (k == most_kinds)
        return kith_fail(KITH_INTERNAL_ERROR, "more than %d kinds of laws", most_kinds);
    kinds->count = k < kinds->count ? kinds->count : k + 1;
    *kind = &kinds->kind[k];
    snprintf((*kind)->name, law_kind_bytes, "%s", name);
    return KITH_OK;
}

/* Whether a node is c / r³, c made of numbers and parameters. */
static bool is_inverse_cube(const struct law_formula *formula, int32_t node)
{
    return formula_is(formula, node, formula_multiply) &&
           formula->is_constant[formula->nodes[node].argument[0]] &&
           formula_is(formula, formula->nodes[node].argument[1], formula_power_of_r) &&
           formula->nodes[formula->nodes[node].argument[1]].which == -3;
}

/* 1/s³ times a constant costs less than its three factors. */
static void write_inverse_cube(const struct formula_writer *writer, int32_t root)
{
    fputs("    return law_rsqrt3_scaled(s2) * law_rsqrt3_unscaled(", writer->to);
    formula_write_root(writer, writer->formula->nodes[root].argument[0]);
    fputs(");\n}\n\n", writer->to);
}

static void write_function(FILE *to, const struct law_formula *formula, const char *kind,
                           const char *which, int32_t root, const char *floor)
{
    struct formula_writer writer;
    const bool is_cube = is_inverse_cube(formula, root);
    const int32_t needed = is_cube ? formula->nodes[root].argument[0] : root;
    formula_writer_begin(&writer, to, formula, "s2", floor);
    fprintf(to,
            "LAW_INLINE VREAL NAME(law_%s_%s)(const struct NAME(law_constants) * law, VREAL s2)\n"
            "{\n"
            "    (void)law, (void)s2;\n",
            kind, which);
    formula_write_statements(&writer, &needed, 1, 0);
    if (is_cube) {
        write_inverse_cube(&writer, root);
        return;
    }
    fputs("    return ", to);
    formula_write_root(&writer, root);
    fputs(";\n}\n\n", to);
}

/* 1/s has to be finite at s = 0 if the value is. */
static kith_status write_body(const struct law_formula *formula, const struct kind *kind,
                              char **text)
{
    size_t length = 0;
    FILE *to = open_memstream(text, &length);
    if (!to)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the bodies of laws");
    write_function(to, formula, kind->name, "u", formula->value,
                   kind->is_finite ? " + S2_FLOOR" : "");
    write_function(to, formula, kind->name, "f", formula->radial, "");
    write_function(to, formula, kind->name, "g", formula->slope, "");
    return fclose(to) == 0 ? KITH_OK : kith_fail(KITH_OUT_OF_MEMORY, "no memory for a body");
}

/* Whether a body is the one that these parameters choose. */
static bool is_chosen(const struct law_row *row, int32_t k, const double *parameter)
{
    struct law_body body;
    char name[law_kind_bytes];
    for (int32_t each = 0; law_row_body(row, each, &body, name); each++)
        if (!body.suits || body.suits(parameter))
            return each == k;
    return false;
}

/* Whether V is finite at s = 0, infinite or both, with all kinds of parameters. */
static void look_at_zero(const struct law_row *row, int32_t k, const struct law_formula *value,
                         struct kind *kind)
{
    static const double samples[] = {1, 2, 3, 0.5, 2.5, 0.3, 0, -1, -2, -0.5, -0.3};
    enum { count = sizeof samples / sizeof samples[0] };
    int32_t combinations = 1;
    for (int32_t p = 0; p < row->parameter_count; p++)
        combinations *= count;
    for (int32_t combination = 0; combination < combinations; combination++) {
        double parameter[law_constant_count] = {0};
        bool is_allowed = true;
        for (int32_t p = 0, left = combination; p < row->parameter_count; p++, left /= count) {
            parameter[p] = samples[left % count];
            is_allowed &= parameter[p] > 0 || !row->parameters[p].is_positive;
        }
        if (!is_allowed || !is_chosen(row, k, parameter))
            continue;
        const bool diverges = law_formula_diverges(value, parameter);
        kind->is_infinite |= diverges;
        kind->is_finite |= !diverges;
    }
}

static kith_status check_body(const struct law_row *row, const struct law_formula *formula,
                              enum law_weighting weighting)
{
    if (weighting == law_sum && formula->radial >= 0)
        return kith_fail(KITH_INTERNAL_ERROR, "%s is a sum of weights times what depends on r",
                         row->info->name);
    for (int c = 0; c < 3; c++)
        if (formula->along[c] >= 0)
            return kith_fail(KITH_INTERNAL_ERROR, "%s is not central", row->info->name);
    return KITH_OK;
}

/* Body k of a law. */
static kith_status add_body(struct kinds *kinds, const struct law_row *row, int32_t k,
                            const struct law_body *body, const char *name)
{
    struct law_formula *value = NULL, *formula = NULL;
    struct kind *kind = NULL;
    enum law_weighting weighting = law_unweighted;
    char *text = NULL;
    KITH_TRY(law_row_parse(row, &value));
    KITH_TRY(law_row_weighting(row, value, &weighting));
    KITH_TRY(find_kind(kinds, name, &kind));
    kind->may_be_product |= weighting == law_product;
    look_at_zero(row, k, value, kind);
    formula_free(value);
    if (body->resolve)
        return KITH_OK;
    KITH_TRY(law_row_parse_body(row, body, weighting, &formula));
    KITH_TRY(check_body(row, formula, weighting));
    KITH_TRY(write_body(formula, kind, &text));
    formula_free(formula);
    if (kind->body && strcmp(kind->body, text) != 0)
        return kith_fail(KITH_INTERNAL_ERROR, "%s is of kind %s, but not computed as others of it",
                         row->info->name, name);
    free(kind->body);
    kind->body = text;
    return KITH_OK;
}

static kith_status read_rows(struct kinds *kinds)
{
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    for (int64_t k = 0; k < count; k++) {
        struct law_row row;
        struct law_body body;
        char name[law_kind_bytes];
        KITH_TRY(law_row_read(&list[k], &row));
        for (int32_t each = 0; law_row_body(&row, each, &body, name); each++)
            KITH_TRY(add_body(kinds, &row, each, &body, name));
    }
    return KITH_OK;
}

/* #define NAME(kind) (… || (kind) == law_yukawa …) */
static void write_condition(FILE *to, const struct kinds *kinds, const char *name,
                            bool (*holds)(const struct kind *kind))
{
    fprintf(to, "#define %s(kind) \\\n    ((kind) == law_custom", name);
    for (int32_t k = 0; k < kinds->count; k++)
        if (holds(&kinds->kind[k]))
            fprintf(to, " || \\\n     (kind) == law_%s", kinds->kind[k].name);
    fputs(")\n", to);
}

static bool may_be_product(const struct kind *kind)
{
    return kind->may_be_product;
}

static bool may_diverge(const struct kind *kind)
{
    return kind->is_infinite;
}

static void write_list(FILE *to, const struct kinds *kinds)
{
    fputs("#ifndef LAW_LAW_LIST_H\n#define LAW_LAW_LIST_H\n\n"
          "/* The kinds of laws, written by law_writer.c. */\n\n#define LAW_EACH_BUILT_IN(ROW)",
          to);
    for (int32_t k = 0; k < kinds->count; k++)
        fprintf(to, " \\\n    ROW(%s)", kinds->kind[k].name);
    fputs("\n\n", to);
    write_condition(to, kinds, "LAW_MAY_BE_PRODUCT", may_be_product);
    write_condition(to, kinds, "LAW_MAY_DIVERGE", may_diverge);
    fputs("#define LAW_ALWAYS_DIVERGES(kind) \\\n    (0", to);
    for (int32_t k = 0; k < kinds->count; k++)
        if (kinds->kind[k].is_infinite && !kinds->kind[k].is_finite)
            fprintf(to, " || \\\n     (kind) == law_%s", kinds->kind[k].name);
    fputs(")\n\n#endif\n", to);
}

static void write_bodies(FILE *to, const struct kinds *kinds)
{
    fputs("/* The laws' bodies, written by law_writer.c; part of law_body.h. */\n\n", to);
    for (int32_t k = 0; k < kinds->count; k++)
        if (kinds->kind[k].body)
            fputs(kinds->kind[k].body, to);
}

static kith_status write_file(const char *folder, const char *name, const struct kinds *kinds,
                              void (*write)(FILE *to, const struct kinds *kinds))
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *to = fopen(path, "w");
    if (!to)
        return kith_fail(KITH_IO_ERROR, "cannot open '%s'", path);
    write(to, kinds);
    const bool failed = ferror(to) != 0;
    return fclose(to) == 0 && !failed ? KITH_OK
                                      : kith_fail(KITH_IO_ERROR, "cannot write '%s'", path);
}

static kith_status write_all(const char *folder)
{
    struct kinds kinds = {0};
    kith_status status = read_rows(&kinds);
    if (status == KITH_OK)
        status = write_file(folder, "law_list.h", &kinds, write_list);
    if (status == KITH_OK)
        status = write_file(folder, "law_bodies.h", &kinds, write_bodies);
    for (int32_t k = 0; k < kinds.count; k++)
        free(kinds.kind[k].body);
    return status;
}

int main(int count, char **arguments)
{
    if (count == 2 && write_all(arguments[1]) == KITH_OK)
        return 0;
    fprintf(stderr, "law_writer: %s\n",
            count == 2 ? kith_error_message() : "give the folder to write to");
    return 1;
}
