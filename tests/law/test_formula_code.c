/* What formulas become before a compiler sees them: constants, powers, common factors; and the rows
 * of the table of laws as formulas. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "law/formula.h"
#include "law/law.h"
#include "law/law_rows.h"

static struct law_formula *parsed(const char *text)
{
    const kith_law_parameter parameters[] = {{"eps", 0.25}, {"L", 2.5}};
    struct law_formula *formula = NULL;
    assert_ok(formula_parse(text, 2, parameters, &formula));
    return formula;
}

/* How often the words stand in the code of a formula. */
static int count_in_code(const struct law_formula *formula, const char *words)
{
    char *code = NULL;
    int count = 0;
    assert_ok(formula_write(formula, &code));
    for (const char *at = code; (at = strstr(at, words)); at++)
        count++;
    free(code);
    return count;
}

static void test_what_depends_on_parameters_alone_is_computed_once_a_call(void **state)
{
    (void)state;
    struct law_formula *formula = parsed("exp(-r/L)*sin(eps + L)/sqrt(L*eps)");
    const double parameter[] = {0.25, 2.5};
    double constants[law_constant_count];
    formula_constants(formula, parameter, constants);
    bool has_strength = false;
    for (int k = 0; k < formula->constant_count; k++)
        has_strength |= fabs(constants[k] - sin(2.75) / sqrt(0.625)) < 1e-15;
    assert_true(has_strength);
    assert_int_equal(count_in_code(formula, "law_sin"), 0);
    assert_int_equal(count_in_code(formula, " / "), 0);
    formula_free(formula);
}

/* The parameters themselves take their place. */
static void test_more_constants_than_there_is_room_for(void **state)
{
    (void)state;
    char text[8192] = "r";
    for (int k = 0; k < 3 * law_constant_count; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " + cos(L*%d)*pow(r, %d)", k + 2,
                 k % 60 + 2);
    struct law_formula *formula = parsed(text);
    double constants[law_constant_count];
    formula_constants(formula, (const double[]){0.25, 2.5}, constants);
    assert_int_equal(formula->constant_count, 1);
    assert_true(constants[0] == 2.5);
    assert_true(count_in_code(formula, "law_cos") > 0);
    formula_free(formula);
}

static void test_even_powers_of_the_distance_need_no_root(void **state)
{
    (void)state;
    static const char *const texts[] = {"4*(pow(1/r, 12) - pow(1/r, 6))",
                                        "4*eps*(pow(L/r, 12) - pow(L/r, 6))", "r2*log(r)",
                                        "exp(-r2/L)"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        struct law_formula *formula = parsed(texts[k]);
        if (count_in_code(formula, "sqrt(") != 0)
            fail_msg("%s has a root", texts[k]);
        formula_free(formula);
    }
}

static void test_sums_have_their_common_factors_taken_out(void **state)
{
    (void)state;
    struct law_formula *formula = parsed("m_i*exp(q_i)");
    const int32_t m = formula_make_variable(formula, formula_m_i);
    const int32_t q = formula_make_variable(formula, formula_q_j);
    const int32_t y3 = formula_make_power_of_r(formula, -3),
                  y5 = formula_make_power_of_r(formula, -5);
    const int32_t a =
        formula_make(formula, formula_multiply, 0, formula_make_power(formula, m, 3), y3, -1);
    const int32_t b = formula_make(formula, formula_multiply, 0,
                                   formula_make(formula, formula_multiply, 0, q, m, -1), y5, -1);
    const int32_t sum = formula_make_sum(formula, formula_subtract, a, b);

    double variable[formula_variable_count] = {
        [formula_r] = 2, [formula_r2] = 4, [formula_m_i] = 3, [formula_q_j] = 5};
    double values[formula_most_nodes];
    int32_t nodes[formula_most_nodes];
    for (int32_t node = 0; node <= sum; node++)
        nodes[node] = node;
    const struct formula_list all = {nodes, sum + 1};
    formula_evaluate(formula, NULL, variable, &all, values);
    assert_true(fabs(values[sum] - (27.0 / 8 - 15.0 / 32)) < 1e-15);
    /* (m (m² − q r⁻²)) r⁻³ */
    assert_int_equal(formula->nodes[sum].operation, formula_multiply);
    assert_int_equal(formula->nodes[sum].argument[1], y3);
    /* All of it is common. */
    const int32_t twice =
        formula_make(formula, formula_multiply, 0, formula_make_number(formula, 2), a, -1);
    const int32_t thrice = formula_make_sum(formula, formula_add, a, twice);
    assert_int_equal(
        thrice, formula_make(formula, formula_multiply, 0, formula_make_number(formula, 3), a, -1));
    formula_free(formula);
}

/* f(i, j) and f(j, i) are to have the same bits. */
static void test_products_of_two_particles_are_not_fused_one_sided(void **state)
{
    (void)state;
    struct law_formula *formula = parsed("m_i*q_j + m_j*q_i");
    assert_int_equal(count_in_code(formula, "law_fma(t"), 0);
    formula_free(formula);
    formula = parsed("exp2(r)*r + log(r2)*r2");
    assert_true(count_in_code(formula, "law_fma(t") > 0);
    formula_free(formula);
}

/* What --help shows may be typed. */
static void test_rows_of_the_table_are_formulas(void **state)
{
    (void)state;
    const kith_law_pair pair = {{1, -0.5, 0.25}, 0.1, 2, 3, -1.5, 0.5};
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    for (int64_t k = 0; k < count; k++) {
        struct law_row row;
        kith_law_parameter parameters[law_most_parameters];
        char text[200];
        double value[2] = {0}, force[2][3];
        assert_ok(law_row_read(&list[k], &row));
        for (int32_t p = 0; p < row.parameter_count; p++)
            parameters[p] = (kith_law_parameter){row.parameters[p].name, 0.75 + 0.5 * p};
        snprintf(text, sizeof text, "expr:%s", list[k].formula);
        for (int side = 0; side < 2; side++) {
            kith_law *law = NULL;
            assert_ok(
                kith_law_parse(side ? text : list[k].name, row.parameter_count, parameters, &law));
            assert_ok(kith_law_evaluate(law, &pair, &value[side], force[side]));
            kith_law_free(law);
        }
        assert_true(value[0] == value[1] && value[0] != 0);
        assert_memory_equal(force[0], force[1], sizeof force[0]);
    }
}

static void test_rows_of_the_table_say_their_parameters(void **state)
{
    (void)state;
    struct law_row row;
    kith_law_info info = {.name = "x", .arguments = "[A,B]", .parameters = "A = 2 > 0, B"};
    assert_ok(law_row_read(&info, &row));
    assert_int_equal(row.parameter_count, 2);
    assert_int_equal(row.arguments, 2);
    assert_string_equal(row.parameters[1].name, "B");
    assert_true(row.parameters[0].otherwise == 2 && row.parameters[0].is_positive);
    assert_true(isnan(row.parameters[1].otherwise) && !row.parameters[1].is_positive);
    static const char *const wrong[] = {"A = 2 > 1", "A B", ", A", "A, B, C, D, E", "A"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        info.parameters = wrong[k];
        assert_int_equal(law_row_read(&info, &row), KITH_INTERNAL_ERROR);
    }
}

static void test_rows_of_the_table_are_weighted(void **state)
{
    (void)state;
    static const struct {
        const char *formula;
        kith_status status;
        enum law_weighting weighting;
    } cases[] = {{"-m_i*m_j/r", KITH_OK, law_product},
                 {"2*q_i*q_j*r", KITH_OK, law_product},
                 {"(m_i + m_j)*r", KITH_OK, law_sum},
                 {"exp(-r)", KITH_OK, law_unweighted},
                 {"m_i*r", KITH_INTERNAL_ERROR, law_unweighted},
                 {"m_i*q_j/r", KITH_INTERNAL_ERROR, law_unweighted}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const kith_law_info info = {
            .name = "x", .arguments = "", .formula = cases[k].formula, .parameters = ""};
        struct law_row row;
        struct law_formula *formula = NULL;
        enum law_weighting weighting = law_unweighted;
        assert_ok(law_row_read(&info, &row));
        assert_ok(law_row_parse(&row, &formula));
        assert_int_equal(law_row_weighting(&row, formula, &weighting), cases[k].status);
        if (cases[k].status == KITH_OK)
            assert_int_equal(weighting, cases[k].weighting);
        formula_free(formula);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_depends_on_parameters_alone_is_computed_once_a_call),
        cmocka_unit_test(test_more_constants_than_there_is_room_for),
        cmocka_unit_test(test_even_powers_of_the_distance_need_no_root),
        cmocka_unit_test(test_sums_have_their_common_factors_taken_out),
        cmocka_unit_test(test_products_of_two_particles_are_not_fused_one_sided),
        cmocka_unit_test(test_rows_of_the_table_are_formulas),
        cmocka_unit_test(test_rows_of_the_table_say_their_parameters),
        cmocka_unit_test(test_rows_of_the_table_are_weighted),
    };
    return cmocka_run_group_tests_name("formula_code", tests, NULL, NULL);
}
