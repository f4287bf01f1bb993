/* Formulas as laws, without a compiler: reading them, their values and their derivatives, and what
 * is no formula. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "law/formula.h"
#include "law/law.h"
#include "random_numbers.h"

static kith_law *formula_of(const char *text)
{
    const kith_law_parameter parameters[] = {{"eps", 0.25}, {"L", 2.5}};
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, 2, parameters, &law));
    return law;
}

static const kith_law_pair plain_pair = {
    .d = {2, -1, 2}, .mass_i = 2, .mass_j = 5, .charge_i = -3, .charge_j = 0.5};

static double value_of(const char *text)
{
    char law_text[400];
    snprintf(law_text, sizeof law_text, "expr:%s", text);
    kith_law *law = formula_of(law_text);
    double value = 0;
    assert_ok(kith_law_evaluate(law, &plain_pair, &value, NULL));
    kith_law_free(law);
    return value;
}

#define assert_value(text, expected)                                                               \
    do {                                                                                           \
        const double assert_got = value_of(text), assert_wanted = expected;                        \
        if (!(fabs(assert_got - assert_wanted) <= 4e-15 * fabs(assert_wanted)))                    \
            fail_msg("%s is %.17g, not %.17g", text, assert_got, assert_wanted);                   \
    } while (0)

static void test_derivatives_and_exchanges_are_functions_of_formulas(void **state)
{
    (void)state;
    assert_value("diff(r, dx)", 2.0 / 3);
    assert_value("diff(r2*dy + dx, dy)", 2 + 9);
    assert_value("diff(m_i*m_i*m_j, m_i)", 20);
    assert_value("diff(m_i*m_i*m_j, q_i) + diff(eps, dx)", 0);
    assert_value("diff(diff(1/r, dx), dx)", 3 * 4 / 243.0 - 1 / 27.0);
    assert_value("diff(exp(-r2*eps)*pow(m_j, L), m_j)", exp(-2.25) * 2.5 * pow(5, 1.5));
    assert_value("swap(m_i + 10*m_j + q_i/r + dx*dy*dz)", 5 + 20 + 0.5 / 3 + 4);
    assert_value("swap(swap(pow(dx, 3)*exp(q_i)*(m_i < m_j)))", 8 * exp(-3));
    assert_value("diff(swap(dx*m_j), dx)", -2);
    assert_value("swap(r < dx + 2 ? m_i : sqrt(m_j))", sqrt(2));
}

static void test_formulas_mean_what_they_mean_in_c(void **state)
{
    (void)state;
    assert_value("1/2", 0.5);
    assert_value("1 - 2 - 3", -4);
    assert_value("2 + 3*4", 14);
    assert_value("(2+3)*4", 20);
    assert_value("12/4/3", 1);
    assert_value("-2 - -3", 1);
    assert_value("- - 2", 2);
    assert_value("!0 + !3", 1);
    assert_value("r", 3);
    assert_value("r2", 9);
    assert_value("dx + 10*dy + 100*dz", 192);
    assert_value("m_i + 10*m_j", 52);
    assert_value("q_i*q_j", -1.5);
    assert_value("eps*L", 0.625);
    assert_value("pi", 3.14159265358979323846);
    assert_value("1e3 + .5 + 2. + 1.5f + 0x10", 1020);
    assert_value("r > 3 ? 1 : r == 3 ? 2 : 3", 2);
    assert_value("r >= 3 && r <= 3 && r != 2", 1);
    assert_value("r < 3 || r > 3", 0);
    assert_value("1 < 2 == 1", 1);
    assert_value("(r > 1)*4", 4);
    assert_value("2 > 1 ? r : m_j", 3);
    assert_value("1 > 2 ? r : m_j", 5);
    assert_value("exp(1) + log(r) + sqrt(2)", exp(1) + log(3) + sqrt(2));
    assert_value("pow(r, 2.5)", pow(3, 2.5));
    assert_value("pow(r, -3)", 1.0 / 27);
    assert_value("pow(r2, -1.5)", 1.0 / 27);
    assert_value("pow(m_j, 0.5) + pow(m_j, -1.5)", sqrt(5) + pow(5, -1.5));
    assert_value("pow(m_j, 3) + pow(m_j, -2) + pow(m_j, 0) + pow(m_j, 1)", 131.04);
    assert_value("pow(m_j, 0.3) + pow(2, m_i)", pow(5, 0.3) + 4);
    assert_value("fmin(r, 2) + fmax(r, 2) + fabs(dy) + fmod(m_j, 3)", 8);
    assert_value("1/sqrt(m_j) + m_i/r2 + 6/r", 1 / sqrt(5) + 2.0 / 9 + 2);
    assert_value("atan2(dy, dx) + hypot(dx, dz)", atan2(-1, 2) + hypot(2, 2));
    assert_value(" \t m_i \n * m_j ", 10);
}

/* The functions, and formulas that bring out each rule of simplification. */
static const char *const formulas[] = {
    "-m_i*m_j/r",
    "-m_i*m_j/sqrt(r2 + eps*eps)",
    "q_i*q_j*exp(-r/L)/r",
    "2*(exp(-3*(r-1.25)) - 2*exp(-1.5*(r-1.25)))",
    "4*(pow(r,-12) - pow(r,-6))",
    "pow(r, 2.7) + pow(2, r) + pow(r, r/4)",
    "pow(r2 + eps, -1.5) + pow(r2 + eps, 2.5)",
    "r2*log(r)/2",
    "exp2(-r) + expm1(r/5) + log2(r) + log10(r) + log1p(r)",
    "cbrt(r) + sin(r) + cos(2*r) + tan(r/4)",
    "asin(r/6) + acos(r/6) + atan(r)",
    "sinh(r/3) + cosh(r/3) + tanh(r)",
    "asinh(r) + acosh(r + 2) + atanh(r/6)",
    "erf(r) + erfc(r/2)/r",
    "fabs(r - 10)*fabs(r)",
    "fmin(r, 100) + fmax(r2, -3) + fmin(2*r, r2 + 40)",
    "atan2(dy, dx)*r + hypot(dz, r)",
    "fmod(r, 50)*floor(r + 0.5) + ceil(dx) + trunc(r) + round(r)",
    "r < 0.1 ? 7 : r2 > 0.01 ? 1/r : 2",
    "(r < 100)*r2",
    "m_i*m_j*(dx*dx*dx - 3*dx*dz)/pow(r, 5)",
    "q_i*q_j*(3*dz*dz - r2)/(r2*r2*r)",
    "-(r - 2)*(2 - r)/(1/r)",
    "1/(1 + exp(r))",
    "0*r + 1*r - r/1"};
enum { formula_count = sizeof formulas / sizeof formulas[0] };

static void random_pair(struct random_numbers *random, kith_law_pair *pair)
{
    *pair = (kith_law_pair){.softening = random_uniform(random, 0, 0.3)};
    for (int c = 0; c < 3; c++)
        pair->d[c] = random_uniform(random, 0.2, 1.3);
    pair->mass_i = random_uniform(random, 0.5, 2);
    pair->mass_j = random_uniform(random, 0.5, 2);
    pair->charge_i = random_uniform(random, -2, 2);
    pair->charge_j = random_uniform(random, -2, 2);
}

static void test_formulas_force_is_minus_the_gradient(void **state)
{
    for (int k = 0; k < formula_count; k++) {
        char text[200];
        snprintf(text, sizeof text, "expr:%s", formulas[k]);
        kith_law *law = formula_of(text);
        kith_law_pair pair;
        double force[3], value = 0;
        random_pair(*state, &pair);
        assert_ok(kith_law_evaluate(law, &pair, &value, force));
        for (int c = 0; c < 3; c++) {
            const double h = 1e-5;
            kith_law_pair more = pair, less = pair;
            more.d[c] += h;
            less.d[c] -= h;
            double above = 0, below = 0;
            assert_ok(kith_law_evaluate(law, &more, &above, NULL));
            assert_ok(kith_law_evaluate(law, &less, &below, NULL));
            /* A step of floor and its like between the two does not belong to the gradient. */
            if (fabs(above - below) > 0.1 && strstr(text, "floor"))
                continue;
            const double slope = (above - below) / (2 * h);
            if (!(fabs(slope - force[c]) <= 2e-6 * (1 + fabs(force[c]) + fabs(value))))
                fail_msg("%s: force %.10g, slope %.10g", text, force[c], slope);
        }
        kith_law_free(law);
    }
}

static void test_formulas_agree_with_the_built_in_laws(void **state)
{
    static const char *const pairs[][2] = {
        {"gravity", "expr:-m_i*m_j/r"},
        {"coulomb", "expr:q_i*q_j/r"},
        {"yukawa:2.5", "expr:q_i*q_j*exp(-r/L)/r"},
        {"morse:2,1.5,1.25", "expr:2*(exp(-2*1.5*(r-1.25)) - 2*exp(-1.5*(r-1.25)))"},
        {"lennard-jones", "expr:4*(pow(1/r,12) - pow(1/r,6))"},
        {"gaussian:2", "expr:exp(-r2/8)"},
        {"multiquadric:0.25", "expr:sqrt(r2 + eps*eps)"},
        {"thin-plate", "expr:r2*log(r)"},
        {"sum", "expr:m_i + m_j"}};
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        kith_law *laws[2] = {formula_of(pairs[k][1]), NULL};
        assert_ok(kith_law_parse(pairs[k][0], 0, NULL, &laws[1]));
        kith_law_pair pair;
        double value[2], force[2][3];
        random_pair(*state, &pair);
        for (int side = 0; side < 2; side++)
            assert_ok(kith_law_evaluate(laws[side], &pair, &value[side], force[side]));
        assert_true(fabs(value[0] - value[1]) <= 1e-13 * (1 + fabs(value[1])));
        for (int c = 0; c < 3; c++)
            if (!(fabs(force[0][c] - force[1][c]) <=
                  1e-13 * (1 + fabs(value[1]) + fabs(force[1][c]))))
                fail_msg("%s: force %.17g, not %.17g", pairs[k][1], force[0][c], force[1][c]);
        kith_law_free(laws[0]);
        kith_law_free(laws[1]);
    }
}

static void test_formulas_at_the_same_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"expr:1/r", 0},        {"expr:exp(-r)", 1},       {"expr:m_i*m_j/(r2+eps)", 24},
                 {"expr:log(r)", 0},     {"expr:r2/r", 0},          {"expr:r*r", 0},
                 {"expr:sqrt(r2+4)", 2}, {"expr:r>0 ? 1/r : 3", 3}, {"expr:dx+5", 5}};
    const kith_law_pair pair = {.mass_i = 2, .mass_j = 3, .charge_i = 1, .charge_j = 1};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_law *law = formula_of(cases[k].text);
        double value = NAN, force[3];
        assert_ok(kith_law_evaluate(law, &pair, &value, force));
        if (value != cases[k].value)
            fail_msg("%s at 0 is %g", cases[k].text, value);
        for (int c = 0; c < 3; c++)
            assert_true(force[c] == 0);
        kith_law_free(law);
    }
}

static struct law_formula *parsed(const char *text)
{
    const kith_law_parameter parameters[] = {{"eps", 0.25}, {"L", 2.5}};
    struct law_formula *formula = NULL;
    assert_ok(formula_parse(text, 2, parameters, &formula));
    return formula;
}

static void test_formulas_that_are_the_same_are_computed_once(void **state)
{
    (void)state;
    static const char *const differences[] = {
        "m_j*m_j - pow(m_j, 2)", "sqrt(m_j) - pow(m_j, 0.5)",
        "1/r - pow(r2, -0.5)",   "m_i/(r*r) - m_i*pow(r, -2)",
        "m_j*r2*r - r2*m_j*r",   "pow(r, 64)*pow(r, 64) - pow(r, 60)*pow(r, 64)*pow(r, 4)"};
    for (size_t k = 0; k < sizeof differences / sizeof differences[0]; k++) {
        struct law_formula *formula = parsed(differences[k]);
        const struct formula_node *difference = &formula->nodes[formula->value];
        assert_int_equal(difference->operation, formula_subtract);
        if (difference->argument[0] != difference->argument[1])
            fail_msg("%s is not of the same", differences[k]);
        formula_free(formula);
    }
}

/* Whether a node uses something of the pair beside m_i and q_i. */
static bool is_of_the_pair(const struct law_formula *formula, int32_t root)
{
    bool used[formula_most_nodes] = {false};
    formula_mark(formula, root, used);
    for (int32_t k = 0; k <= root; k++) {
        const struct formula_node *node = &formula->nodes[k];
        if (used[k] && (node->operation == formula_power_of_r ||
                        (node->operation == formula_variable && node->which != formula_m_i &&
                         node->which != formula_q_i)))
            return true;
    }
    return false;
}

/* What is multiplied with a sum at its end depends on particle i alone, and nothing is lost. */
static void test_formulas_factors_of_one_particle_are_taken_out(void **state)
{
    (void)state;
    static const char *const products[] = {
        "m_i*m_j/r",           "-q_i*q_j*exp(-r/L)/r",   "m_i*q_i*m_j*q_j/r2", "m_j*exp(q_i)*dx*r",
        "m_i/(eps + m_j)*3/r", "m_j/(1 + m_i*q_i)*dz/r", "-(m_j + q_j)*m_i",   "dy*q_i/m_i"};
    const double parameter[] = {0.25, 2.5};
    double variable[formula_variable_count];
    for (int k = 0; k < formula_variable_count; k++)
        variable[k] = 1.25 + k;
    variable[formula_r2] = variable[formula_r] * variable[formula_r];
    for (size_t k = 0; k < sizeof products / sizeof products[0]; k++) {
        struct law_formula *formula = parsed(products[k]);
        const struct formula_product *product = &formula->value_product;
        double values[formula_most_nodes + 1];
        int32_t nodes[formula_most_nodes];
        for (int32_t node = 0; node < formula->count; node++)
            nodes[node] = node;
        const struct formula_list all = {nodes, formula->count};
        formula_evaluate(formula, parameter, variable, &all, values);
        assert_true(product->outer >= 0);
        assert_false(is_of_the_pair(formula, product->outer));
        const double found = values[product->outer] *
                             (product->inner < 0 ? 1 : values[product->inner]) *
                             pow(variable[formula_r], product->power);
        const double expected = values[formula->value];
        if (!(fabs(found - expected) <= 1e-14 * fabs(expected)))
            fail_msg("%s is %.17g, and its factors make %.17g", products[k], expected, found);
        formula_free(formula);
    }
}

static bool contains(const struct formula_list *list, int32_t node)
{
    for (int32_t n = 0; n < list->count; n++)
        if (list->nodes[n] == node)
            return true;
    return false;
}

static void check_list(const struct law_formula *formula, unsigned wants)
{
    const struct formula_list *list = &formula->needed[wants];
    assert_true(!(wants & formula_wants_value) || contains(list, formula->value));
    assert_true(!(wants & formula_wants_force) || contains(list, formula->radial));
    assert_true(!(wants & formula_wants_rate) || contains(list, formula->slope));
    for (int32_t n = 0; n < list->count; n++) {
        const struct formula_list before = {list->nodes, n};
        const struct formula_node *node = &formula->nodes[list->nodes[n]];
        assert_false(contains(&before, list->nodes[n]));
        for (int c = 0; c < 3; c++)
            assert_true(node->argument[c] < 0 || contains(&before, node->argument[c]));
    }
}

/* The lists of nodes have what is requested, each node once and after those it uses; and the value
 * does without the nodes of the force. */
static void test_what_is_needed_is_listed_in_order(void **state)
{
    (void)state;
    static const char *const texts[] = {"q_i*q_j*exp(-r/L)/r", "4*eps*(pow(L/r, 12) - pow(L/r, 6))",
                                        "r < L ? dx*dy*r2 : m_i*log(r)"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        struct law_formula *formula = parsed(texts[k]);
        for (unsigned wants = 1; wants < formula_wants_count; wants++)
            check_list(formula, wants);
        assert_int_equal(formula->needed[0].count, 0);
        assert_false(contains(&formula->needed[formula_wants_value], formula->radial));
        assert_false(contains(&formula->needed[formula_wants_force], formula->slope));
        formula_free(formula);
    }
}

static void assert_refused(const char *text, const char *words)
{
    const kith_law_parameter parameters[] = {{"eps", 0.25}};
    kith_law *law = NULL;
    assert_fails(kith_law_parse(text, 1, parameters, &law), KITH_INVALID_ARGUMENT, words);
    assert_null(law);
}

static void test_formulas_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"expr:", "character 1"},
                                           {"expr:   ", "character 4"},
                                           {"expr:m_i*", "^ m_i*^"},
                                           {"expr:diff(r, 2)", "character 9 diff(F, x)"},
                                           {"expr:diff(r)", "2"},
                                           {"expr:swap r", "character 1 swap(...)"},
                                           {"expr:m_i * foo + 1", "'foo'"},
                                           {"expr:m_i * foo + 1", "^ m_i * ^foo + 1"},
                                           {"expr:m_i * foo + 1", "character 7"},
                                           {"expr:m_i * foo + 1", "q_i q_j C's"},
                                           {"expr:m_i m_j", "character 5"},
                                           {"expr:(r", "character 3"},
                                           {"expr:r)", "character 2"},
                                           {"expr:r^2", "character 2 pow(a, b)"},
                                           {"expr:r**2", "character 2 pow(a, b)"},
                                           {"expr:(r^2)", "character 3 pow(a, b)"},
                                           {"expr:1 + (r**2 + 1)", "character 7 pow(a, b)"},
                                           {"expr:exp(-r^2)", "character 7 pow(a, b)"},
                                           {"expr:pow(r^2, 3)", "character 6 pow(a, b)"},
                                           {"expr:r < 1 ? r^2 : 1", "character 10 pow(a, b)"},
                                           {"expr:r = 2", "character 3 =="},
                                           {"expr:(r = 2)", "character 4 =="},
                                           {"expr:r += 2", "character 3"},
                                           {"expr:r++", "character 2"},
                                           {"expr:++r", "character 1 ++"},
                                           {"expr:--r", "character 1 --"},
                                           {"expr:r ? 1", "character 6"},
                                           {"expr:exp", "character 1 exp(...)"},
                                           {"expr:exp()", "character 5"},
                                           {"expr:exp(1,2)", "1"},
                                           {"expr:pow(1)", "2"},
                                           {"expr:rsqrt(r)", "character 1 'rsqrt'"},
                                           {"expr:1.2.3", "character 4"},
                                           {"expr:1x", "character 2"},
                                           {"expr:1e999", "character 1"},
                                           {"expr:1/0", "character 2 inf"},
                                           {"expr:m_i/(1-1) + 1/(2-2)", "character 14 inf"},
                                           {"expr:0/0", "character 2"},
                                           {"expr:log(-1)", "character 1"},
                                           {"expr:1e300*1e300", "character 6 inf"},
                                           {"expr:system(\"rm -rf /\")", "character 1 'system'"},
                                           {"expr:r; system(\"x\")", "character 2"},
                                           {"expr:\"r\"", "character 1"},
                                           {"expr:'r'", "character 1"},
                                           {"expr:r}", "character 2"},
                                           {"expr:{r", "character 1"},
                                           {"expr:r\\\n", "character 2"},
                                           {"expr:#include <stdio.h>", "character 1"},
                                           {"expr:r /* */", "character 3"},
                                           {"expr:r // x", "character 3"},
                                           {"expr:__asm__(1)", "character 1 '__asm__'"},
                                           {"expr:pair->s2", "character 1 'pair'"},
                                           {"expr:r[0]", "character 2"},
                                           {"expr:&r", "character 1"},
                                           {"expr:*r", "character 1"},
                                           {"expr:r, r", "character 2"},
                                           {"expr:r->x", "character 2"},
                                           {"expr:\xe2\x82\xac", "character 1"},
                                           {"expr:$(id)", "character 1"},
                                           {"expr:`id`", "character 1"},
                                           {"expr:%n%s", "character 1"},
                                           {"expr:nan", "character 1 'nan'"},
                                           {"expr:INFINITY", "character 1 'INFINITY'"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        assert_refused(cases[k][0], cases[k][1]);
}

/* The beginning, count times the text, and the end. */
static char *repeated(const char *beginning, const char *text, size_t count, const char *end)
{
    char *all = malloc(strlen(beginning) + count * strlen(text) + strlen(end) + 1);
    assert_non_null(all);
    char *at = stpcpy(all, beginning);
    for (size_t k = 0; k < count; k++)
        at = stpcpy(at, text);
    stpcpy(at, end);
    return all;
}

static void test_formulas_out_of_all_proportion_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        const char *end, *words;
    } cases[] = {{"r+", 5000000, "r", "65536"},
                 {"(", 30000, "r", "nested"},
                 {"-", 1, "-r", "--"},
                 {"- ", 30000, "r", "nested"},
                 {"!", 30000, "r", "nested"},
                 {"exp(", 10000, "r", "nested"},
                 {"r ? r : ", 5000, "r", "nested"},
                 {"sin(r*r+", 180, "r", ")"},
                 {"x", 50000, "", "character 1"},
                 {"9", 60000, "", "character 1"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char *text = repeated("expr:", cases[k].text, cases[k].count, cases[k].end);
        assert_refused(text, cases[k].words);
        free(text);
    }
    /* Different operations, each with a derivative. */
    char *text = malloc(65536);
    size_t used = (size_t)snprintf(text, 65536, "expr:0");
    for (int k = 1; used < 60000; k++)
        used += (size_t)snprintf(text + used, 65536 - used, "+sin(r*%d)", k);
    assert_refused(text, "operations");
    free(text);
    char *unknown = repeated("EXPR:", "gravity", 2000000, "");
    assert_refused(unknown, "");
    free(unknown);
}

static void test_formulas_of_the_greatest_length_are_read(void **state)
{
    (void)state;
    char *text = repeated("expr:r", " ", 65535, "");
    kith_law_free(formula_of(text));
    free(text);
    char *longer = repeated("expr:r", " ", 65536, "");
    assert_refused(longer, "65536");
    free(longer);
}

static void test_formulas_long_but_in_proportion_are_read(void **state)
{
    (void)state;
    char *text = repeated("expr:", "r+", 2000, "r");
    kith_law *law = formula_of(text);
    double value = 0;
    assert_ok(kith_law_evaluate(law, &plain_pair, &value, NULL));
    kith_law_free(law);
    free(text);
}

static void test_formulas_refuse_strange_parameters(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",    "2x", "a-b", "a b", "r",
        "exp", "pi", "m_i", "x;y", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    kith_law *law = NULL;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const kith_law_parameter parameter = {names[k], 1};
        assert_fails(kith_law_parse("expr:r", 1, &parameter, &law), KITH_INVALID_ARGUMENT,
                     "parameter");
    }
    const kith_law_parameter twice[] = {{"a", 1}, {"a", 2}}, infinite = {"a", INFINITY};
    kith_law_parameter many[17];
    char letters[17][2];
    for (int k = 0; k < 17; k++) {
        snprintf(letters[k], 2, "%c", 'A' + k);
        many[k] = (kith_law_parameter){letters[k], 1};
    }
    assert_fails(kith_law_parse("expr:r", 2, twice, &law), KITH_INVALID_ARGUMENT, "twice");
    assert_fails(kith_law_parse("expr:r", 1, &infinite, &law), KITH_INVALID_ARGUMENT, "finite");
    assert_fails(kith_law_parse("expr:r", 17, many, &law), KITH_INVALID_ARGUMENT, "16");
    assert_ok(kith_law_parse("expr:r + P", 16, many, &law));
    double value = 0;
    assert_ok(kith_law_set(law, "P", 4));
    assert_ok(kith_law_evaluate(law, &plain_pair, &value, NULL));
    assert_true(value == 7);
    kith_law_free(law);
}

static void test_formulas_that_stay_the_same_when_i_and_j_change_places_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_symmetric;
    } cases[] = {
        {"1", true},
        {"r2 - eps*r", true},
        {"-m_i*m_j/r", true},
        {"m_i*exp(-r/L)*m_j", true},
        {"m_i/r + m_j/r", true},
        {"(m_i - m_j)*(m_j - m_i)", true},
        {"1/(1/m_i + 1/m_j)", true},
        {"sqrt(m_i*m_j)*r", true},
        {"hypot(m_i, m_j)*fmin(q_j, q_i)", true},
        {"(m_i == m_j ? 1 : 2)*r", true},
        {"m_i*m_j*(dx*dx - dy*dy)/pow(r, 5)", true},
        {"dx*dy*sin(r)", true},
        {"dx*(q_i - q_j)", true},
        {"sin(dx)*(q_i - q_j)", false}, /* it is; not known */
        {"m_i*q_j/r", false},
        {"dx*m_i*m_j", false},
        {"dx*dy*dz*r", false},
        {"m_i - m_j", false},
        {"(m_i < m_j ? 1 : 2)*r", false},
        {"atan2(m_i, m_j)", false},
        {"pow(m_i, 0.3)*m_j", false},
        {"m_i*m_j + 1e-30*m_i", false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[100];
        snprintf(text, sizeof text, "expr:%s", cases[k].text);
        kith_law *law = formula_of(text);
        struct law_view view;
        law_look(law, &view);
        if (view.is_symmetric != cases[k].is_symmetric)
            fail_msg("%s is %ssymmetric", text, cases[k].is_symmetric ? "not " : "");
        kith_law_free(law);
    }
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("formula");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives_and_exchanges_are_functions_of_formulas),
        cmocka_unit_test(test_formulas_mean_what_they_mean_in_c),
        cmocka_unit_test_prestate(test_formulas_force_is_minus_the_gradient, &random),
        cmocka_unit_test_prestate(test_formulas_agree_with_the_built_in_laws, &random),
        cmocka_unit_test(test_formulas_at_the_same_place),
        cmocka_unit_test(test_formulas_that_are_the_same_are_computed_once),
        cmocka_unit_test(test_formulas_factors_of_one_particle_are_taken_out),
        cmocka_unit_test(test_what_is_needed_is_listed_in_order),
        cmocka_unit_test(test_formulas_that_stay_the_same_when_i_and_j_change_places_are_known),
        cmocka_unit_test(test_formulas_that_are_none_are_refused),
        cmocka_unit_test(test_formulas_out_of_all_proportion_are_refused),
        cmocka_unit_test(test_formulas_of_the_greatest_length_are_read),
        cmocka_unit_test(test_formulas_long_but_in_proportion_are_read),
        cmocka_unit_test(test_formulas_refuse_strange_parameters),
    };
    return cmocka_run_group_tests_name("formula", tests, NULL, NULL);
}
