/* Built-in laws: the reference and the vector kernels against tables that mpmath made. */

#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "law_testing.h"
#include "law_values.h"
#include "random_numbers.h"

static void test_laws_reference_agrees_with_mpmath(void **state)
{
    (void)state;
    for (int k = 0; k < row_count; k++) {
        const struct table_row *row = &law_table[k];
        kith_law_pair pair = {.softening = row->pair.softening,
                              .mass_i = row->pair.m_i,
                              .mass_j = row->pair.m_j,
                              .charge_i = row->pair.q_i,
                              .charge_j = row->pair.q_j};
        memcpy(pair.d, row->pair.d, sizeof pair.d);
        kith_law *law = law_of(row->law);
        double value = 0, force[3];
        assert_ok(kith_law_evaluate(law, &pair, &value, force));
        assert_agrees(row, "reference", value, force, DBL_EPSILON);
        kith_law_free(law);
    }
}

static void test_laws_table_has_every_law(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    for (int64_t k = 0; k < count; k++) {
        bool found = false;
        for (int row = 0; row < row_count; row++) {
            const size_t length = strlen(list[k].name);
            const char next = law_table[row].law[length < strlen(law_table[row].law) ? length : 0];
            found |= strncmp(law_table[row].law, list[k].name, length) == 0 &&
                     (next == ':' || strlen(law_table[row].law) == length);
        }
        if (!found)
            fail_msg("no row for %s", list[k].name);
    }
}

/* The vector kernels: every row in each lane of its own vector, to see all lanes. */
#define DEFINE_CHECK(real, epsilon)                                                                \
    static void check_##real(const struct law_values_kernels *kernels, const char *isa)            \
    {                                                                                              \
        for (int k = 0; k < row_count; k++) {                                                      \
            const struct table_row *row = &law_table[k];                                           \
            real columns[10][column_length];                                                       \
            kith_law *law = law_of(row->law);                                                      \
            struct law_view view;                                                                  \
            law_look(law, &view);                                                                  \
            const bool charged = view.weight == law_weight_charge;                                 \
            for (int lane = 0; lane < column_length; lane++) {                                     \
                for (int c = 0; c < 3; c++)                                                        \
                    columns[c][lane] = (real)row->pair.d[c];                                       \
                columns[3][lane] = (real)(charged ? row->pair.q_i : row->pair.m_i);                \
                columns[4][lane] = (real)(charged ? row->pair.q_j : row->pair.m_j);                \
            }                                                                                      \
            const struct law_values_problem problem = {                                            \
                .numbers = view.numbers,                                                           \
                .weighting = view.form.weighting,                                                  \
                .softening2 = row->pair.softening * row->pair.softening,                           \
                .count = column_length - 1,                                                        \
                .d = {columns[0], columns[1], columns[2]},                                         \
                .w_i = columns[3],                                                                 \
                .w_j = columns[4],                                                                 \
                .value = columns[5],                                                               \
                .force = {columns[6], columns[7], columns[8]}};                                    \
            kernels->in_##real[view.form.kind](&problem);                                          \
            for (int lane = 0; lane < column_length; lane++) {                                     \
                const double force[3] = {columns[6][lane], columns[7][lane], columns[8][lane]};    \
                assert_agrees(row, isa, columns[5][lane], force, epsilon);                         \
            }                                                                                      \
            kith_law_free(law);                                                                    \
        }                                                                                          \
    }

DEFINE_CHECK(float, FLT_EPSILON)
DEFINE_CHECK(double, DBL_EPSILON)

static void test_laws_vectors_agree_with_mpmath(void **state)
{
    (void)state;
#define ADDRESS(isa) &law_values_##isa,
    static const struct law_values_kernels *const each[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++) {
        if (!list[k].supported)
            continue;
        check_float(each[k], list[k].name);
        check_double(each[k], list[k].name);
    }
}

static kith_law_pair random_pair(struct random_numbers *random)
{
    kith_law_pair pair = {.softening = random_uniform(random, 0, 0.5)};
    for (int c = 0; c < 3; c++)
        pair.d[c] = random_uniform(random, 0.3, 1.5);
    pair.mass_i = random_uniform(random, 0.5, 2);
    pair.mass_j = random_uniform(random, 0.5, 2);
    pair.charge_i = random_uniform(random, -2, 2);
    pair.charge_j = random_uniform(random, -2, 2);
    return pair;
}

/* d grows as x_i falls: −∂V/∂x_i = ∂V/∂d. */
static void test_laws_force_is_minus_the_gradient(void **state)
{
    for (int k = 0; k < row_count; k++) {
        const kith_law_pair pair = random_pair(*state);
        kith_law *law = law_of(law_table[k].law);
        double force[3];
        assert_ok(kith_law_evaluate(law, &pair, NULL, force));
        for (int c = 0; c < 3; c++) {
            const double h = 1e-5;
            kith_law_pair more = pair, less = pair;
            more.d[c] += h;
            less.d[c] -= h;
            double above = 0, below = 0;
            assert_ok(kith_law_evaluate(law, &more, &above, NULL));
            assert_ok(kith_law_evaluate(law, &less, &below, NULL));
            const double slope = (above - below) / (2 * h);
            if (fabs(slope - force[c]) > 1e-6 * (1 + fabs(force[c]) + fabs(above)))
                fail_msg("%s: force %.10g, slope %.10g", law_table[k].law, force[c], slope);
        }
        kith_law_free(law);
    }
}

static void test_laws_act_equally_on_both_sides(void **state)
{
    for (int k = 0; k < row_count; k++) {
        const kith_law_pair pair = random_pair(*state);
        kith_law_pair turned = pair;
        for (int c = 0; c < 3; c++)
            turned.d[c] = -pair.d[c];
        turned.mass_i = pair.mass_j, turned.mass_j = pair.mass_i;
        turned.charge_i = pair.charge_j, turned.charge_j = pair.charge_i;
        kith_law *law = law_of(law_table[k].law);
        double value[2], force[2][3];
        assert_ok(kith_law_evaluate(law, &pair, &value[0], force[0]));
        assert_ok(kith_law_evaluate(law, &turned, &value[1], force[1]));
        assert_true(value[0] == value[1]);
        for (int c = 0; c < 3; c++)
            assert_true(force[0][c] == -force[1][c]);
        kith_law_free(law);
    }
}

static void test_laws_at_the_same_place_are_finite(void **state)
{
    (void)state;
    static const struct {
        const char *law;
        double value;
    } expected[] = {{"gravity", 0},    {"coulomb", 0},        {"power:1", 0},
                    {"power:2", 0},    {"power:3", 0},        {"power:0.5", 0},
                    {"power:2.7", 0},  {"power:0", 1},        {"power:-0.5", 0},
                    {"power:-2", 0},   {"power:-1.3", 0},     {"yukawa:1", 0},
                    {"thin-plate", 0}, {"lennard-jones", 0},  {"morse:1,1,0", -1},
                    {"gaussian:2", 1}, {"multiquadric:2", 2}, {"multiquadric:0", 0},
                    {"distance", 0},   {"distance2", 0},      {"sum", 5},
                    {"product", 6}};
    const kith_law_pair pair = {.mass_i = 2, .mass_j = 3, .charge_i = 1, .charge_j = -1};
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
        kith_law *law = law_of(expected[k].law);
        double value = NAN, force[3];
        assert_ok(kith_law_evaluate(law, &pair, &value, force));
        if (value != expected[k].value)
            fail_msg("%s at 0 is %g", expected[k].law, value);
        for (int c = 0; c < 3; c++)
            assert_true(force[c] == 0);

        struct law_view view;
        law_look(law, &view);
        double zero[column_length] = {0}, w_i[column_length], w_j[column_length],
               values[column_length], forces[3][column_length];
        for (int lane = 0; lane < column_length; lane++)
            w_i[lane] = 2, w_j[lane] = 3;
        const struct law_values_problem problem = {.numbers = view.numbers,
                                                   .weighting = view.form.weighting,
                                                   .count = column_length,
                                                   .d = {zero, zero, zero},
                                                   .w_i = w_i,
                                                   .w_j = w_j,
                                                   .value = values,
                                                   .force = {forces[0], forces[1], forces[2]}};
#define RUN(isa)                                                                                   \
    if (kith_isa_list(&(int64_t){0})[index++].supported) {                                         \
        law_values_##isa.in_double[view.form.kind](&problem);                                      \
        if (values[1] != expected[k].value || forces[0][2] != 0)                                   \
            fail_msg("%s at 0 is %g, %g", expected[k].law, values[1], forces[0][2]);               \
    }
        int index = 0;
        KITH_EACH_ISA(RUN)
#undef RUN
        kith_law_free(law);
    }
}

static void test_laws_with_parameters_by_name(void **state)
{
    (void)state;
    kith_law *law = NULL;
    const kith_law_parameter given[] = {{"L", 2}, {"k", 3}};
    assert_ok(kith_law_parse("yukawa", 2, given, &law));
    double value = 0;
    assert_ok(kith_law_get(law, "L", &value));
    assert_true(value == 2);
    const kith_law_pair pair = {.d = {2, 0, 0}, .charge_i = 1, .charge_j = 1};
    assert_ok(kith_law_evaluate(law, &pair, &value, NULL));
    assert_true(fabs(value - 1.5 * exp(-1)) < 1e-15);
    assert_ok(kith_law_set(law, "k", 6));
    assert_ok(kith_law_evaluate(law, &pair, &value, NULL));
    assert_true(fabs(value - 3 * exp(-1)) < 1e-15);
    assert_string_equal(kith_law_text(law), "yukawa");
    assert_fails(kith_law_set(law, "L", 0), KITH_INVALID_ARGUMENT, "0");
    assert_fails(kith_law_set(law, "M", 0), KITH_INVALID_ARGUMENT, "L, k");
    kith_law_free(law);
    kith_law_free(NULL);
}

static void test_laws_refuse_nonsense(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {{"", "gravity"},
                 {"gravitas", "'gravitas'"},
                 {"gravity:", "gravity"},
                 {"gravity:2", "gravity"},
                 {"yukawa", "L yukawa:L"},
                 {"yukawa:", "yukawa:L"},
                 {"yukawa:x", "yukawa:L"},
                 {"yukawa:1,", "yukawa:L"},
                 {"yukawa:1,2", "yukawa:L"},
                 {"yukawa:-1", "0"},
                 {"yukawa:inf", "finite"},
                 {"yukawa:nan", "finite"},
                 {"morse:1,2", "morse:D,A,R0"},
                 {"lennard-jones:1", "lennard-jones[:EPS,SIGMA]"},
                 {"power:1e400", "finite"},
                 {"gaussian:0", "0"},
                 {"'; system(\"rm\")", "gravity"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_law *law = NULL;
        assert_fails(kith_law_parse(cases[k].text, 0, NULL, &law), KITH_INVALID_ARGUMENT,
                     cases[k].words);
        assert_null(law);
    }
    kith_law *law = NULL;
    const kith_law_parameter twice[] = {{"k", 1}, {"k", 2}}, unknown = {"m", 1}, both = {"L", 1};
    assert_fails(kith_law_parse(NULL, 0, NULL, &law), KITH_INVALID_ARGUMENT, "NULL");
    assert_fails(kith_law_parse("coulomb", 1, NULL, &law), KITH_INVALID_ARGUMENT, "NULL");
    assert_fails(kith_law_parse("coulomb", 2, twice, &law), KITH_INVALID_ARGUMENT, "twice");
    assert_fails(kith_law_parse("coulomb", 1, &unknown, &law), KITH_INVALID_ARGUMENT, "k");
    assert_fails(kith_law_parse("yukawa:2", 1, &both, &law), KITH_INVALID_ARGUMENT, "twice");
    assert_fails(kith_law_parse("sum", 1, &both, &law), KITH_INVALID_ARGUMENT, "parameters");
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("law");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws_reference_agrees_with_mpmath),
        cmocka_unit_test(test_laws_table_has_every_law),
        cmocka_unit_test(test_laws_vectors_agree_with_mpmath),
        cmocka_unit_test_prestate(test_laws_force_is_minus_the_gradient, &random),
        cmocka_unit_test_prestate(test_laws_act_equally_on_both_sides, &random),
        cmocka_unit_test(test_laws_at_the_same_place_are_finite),
        cmocka_unit_test(test_laws_with_parameters_by_name),
        cmocka_unit_test(test_laws_refuse_nonsense),
    };
    return cmocka_run_group_tests_name("law", tests, NULL, NULL);
}
