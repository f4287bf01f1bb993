/* Interaction matrices, kept and reduced. */

#include "property.h"

#include "matrix_checks.h"

static kith_matrix_options any_options(struct property *p, bool one_set)
{
    kith_matrix_options options = {.method =
                                       chance(p, 0.5) ? KITH_MATRIX_AUTO : KITH_MATRIX_DIRECT};
    options.diagonal = (kith_matrix_diagonal)whole(p, 0, 2);
    options.diagonal_value = options.diagonal == KITH_DIAGONAL_VALUE ? 0.25 : 0;
    if (options.diagonal == KITH_DIAGONAL_KEEP || chance(p, 0.4))
        options.softening = random_uniform(&p->random, 0.05, 0.3);
    options.symmetric = one_set && chance(p, 0.3);
    return options;
}

void matrices_are_those_of_the_reference(struct property *p)
{
    const int64_t n = any_size(p, 150), m = chance(p, 0.5) ? any_size(p, 150) : 0;
    const char *law = matrix_laws[whole(p, 0, matrix_table_law_count - 1)];
    check_all(p->context, &p->random, law, any_real(p), n, m, any_options(p, m == 0));
    property_calls += 12;
}

/* A formula as it is written. */
struct formula {
    char text[400];
    size_t used;
};

static void put_text(struct formula *formula, const char *text)
{
    formula->used += (size_t)snprintf(formula->text + formula->used,
                                      sizeof formula->text - formula->used, "%s", text);
    assert_true(formula->used < sizeof formula->text);
}

/* Smooth where its variables are, so that rounding them changes it little; conditions are on what
 * is not rounded. */
static void put_formula(struct property *p, int depth, struct formula *formula)
{
    static const char *const leaves[] = {"r",   "r2",  "dx",  "dy",   "dz", "m_i",
                                         "m_j", "q_i", "q_j", "0.75", "pi", "2"};
    static const char *const begins[] = {"sin(",  "cos(",         "tanh(",       "exp(-fabs(",
                                         "atan(", "erf(",         "log1p(fabs(", "sqrt(1 + fabs(",
                                         "-(",    "(1/(1 + r)*(", "fmin(2, ",    "(r2 + 0.5)*("};
    static const char *const ends[] = {")",  ")",  ")", "))", ")", ")",
                                       "))", "))", ")", "))", ")", ")"};
    static const char *const operators[] = {" + ", " - ", " * "};
    const int64_t way = depth == 0 ? 0 : whole(p, 1, 5), k = whole(p, 0, 11);
    if (way == 0) {
        put_text(formula, leaves[k]);
    } else if (way <= 2) {
        put_text(formula, "(");
        put_formula(p, depth - 1, formula);
        put_text(formula, operators[whole(p, 0, 2)]);
        put_formula(p, depth - 1, formula);
        put_text(formula, ")");
    } else if (way == 3) {
        put_text(formula, "(q_i > 0.1 || m_i < m_j ? ");
        put_formula(p, depth - 1, formula);
        put_text(formula, " : ");
        put_formula(p, depth - 1, formula);
        put_text(formula, ")");
    } else {
        put_text(formula, begins[k]);
        put_formula(p, depth - 1, formula);
        put_text(formula, ends[k]);
    }
}

void matrices_of_formulas_are_those_of_the_reference(struct property *p)
{
    struct formula formula = {"expr:", 5};
    kith_law *law = NULL;
    put_formula(p, 2, &formula);
    if (counted(kith_law_parse(formula.text, 0, NULL, &law)) != KITH_OK)
        fail_msg("%s: %s", formula.text, kith_error_message());
    struct matrix_set rows = matrix_set_create(&p->random, any_real(p), whole(p, 1, 40), 3);
    const struct matrix_case c = {p->context, formula.text, law, {.softening = 0.1}, &rows, NULL};
    check_elements(&c);
    check_sums(&c, &p->random);
    property_calls += 5;
    kith_law_free(law);
    matrix_set_free(&rows);
}
