/* kith sum as a user runs it. */

#include "program.h"

#include <stdlib.h>

static const char three[] = "x,y,z,m,h,comment\n0,0,0,1,2,a\n0.9,0,0,2,3,b\n0.5,0,0,4,5,c\n";

static void test_columns_of_a_file_are_in_formulas_by_their_names(void **state)
{
    (void)state;
    program_write("three.csv", three);
    assert_string_equal(program_run("sum @three.csv --out a=h_j*m_i --out b=x_j")->out,
                        "a,b\n8,1.3999999999999999\n14,0.5\n20,0.90000000000000002\n");
    program_write("two.xyz", "2\nProperties=species:S:1:pos:R:3:charge:R:1:weight:R:1:n:I:1\n"
                             "Ar 0 0 0 1 2 3\nAr 0 2 0 4 5 6\n");
    assert_string_equal(program_run("sum @two.xyz --out a=weight_j+q_i --out b=n_j*dy")->out,
                        "a,b\n6,12\n6,-6\n");
}

static void test_boxes_and_their_axes_are_those_of_pairs(void **state)
{
    (void)state;
    program_write("three.csv", three);
    assert_string_equal(
        program_run("sum @three.csv --cutoff 0.3 --box 1,1,1 --reduce count --out n=1")->out,
        "n\n1\n1\n0\n");
    assert_string_equal(program_run("sum @three.csv --cutoff 0.3 --box 1,1,1 --periodic yz --out "
                                    "n=1")
                            ->out,
                        "n\n0\n0\n0\n");
    assert_string_equal(
        program_run("sum @three.csv --cutoff 1.05 --box 1,1,1 --periodic y --self --out n=1")->out,
        "n\n5\n5\n5\n");
}

static void test_lets_parameters_and_targets(void **state)
{
    (void)state;
    program_write("three.csv", three);
    program_write("at.csv", "x,y,z\n0,0,1\n0,0,2\n");
    assert_string_equal(
        program_run("sum @three.csv --targets @at.csv --cutoff 1.01 --param a=2 --let "
                    "u=a*m_j --let v=u+1 --out s=v --out t=u*v")
            ->out,
        "s,t\n3,6\n0,0\n");
    const struct program_result *result =
        program_run("sum @three.csv --targets @at.csv --out f=h_i");
    assert_refused(result, 1, "targets formula h_i");
}

static void test_precisions_threads_and_methods_agree(void **state)
{
    (void)state;
    assert_succeeded(program_run("make uniform-cube -n 500 --seed 3 -o @cube.csv"));
    assert_succeeded(program_run("sum @cube.csv --cutoff 0.2 --out f=r*m_j --threads 1 -o @a.csv"));
    assert_succeeded(program_run("sum @cube.csv --cutoff 0.2 --out f=r*m_j --threads 5 -o @b.csv"));
    char *a = program_read("a.csv"), *b = program_read("b.csv");
    assert_string_equal(a, b);
    free(a);
    free(b);
    for (int k = 0; k < 3; k++) {
        static const char *const others[] = {"", " --method reference", " --precision single"};
        const char *json =
            program_run("sum @cube.csv --cutoff 0.2 --out f=1%s --json", others[k])->out;
        assert_true(program_json_number(json, "particles") == 500);
        assert_true(program_json_number(json, "pairs") > 6000);
        assert_true(program_json_number(json, "outputs") == 1);
    }
}

static void test_mistakes_are_one_line(void **state)
{
    (void)state;
    program_write("three.csv", three);
    program_write("nan.csv", "x,y,h\n0,0,1\n1,1,nan\n");
    program_write("empty.csv", "x,y,h\n");
    assert_string_equal(program_run("sum @empty.csv --out a=h_j*x_i")->out, "a\n");
    static const struct {
        const char *arguments;
        int code;
        const char *words;
    } mistakes[] = {
        {"@three.csv", 2, "--out"},
        {"@three.csv --out r", 2, "--out 'r' NAME=FORMULA"},
        {"@three.csv --out a=1 --param h", 2, "--param 'h' NAME=VALUE"},
        {"@three.csv --out a=1 --cutoff -1", 2, "--cutoff -1"},
        {"@three.csv --out a=1 --reduce mean", 2, "--reduce"},
        {"@three.csv --out a=1 --cutoff 1 --box 1,1,-1", 2, "--box '1,1,-1'"},
        {"@three.csv --out a=1 --box 1,1,1", 1, "cutoff 0"},
        {"@three.csv --out a=w_j", 1, "'w_j'"},
        {"@three.csv --out a=comment_j", 1, "'a'"},
        {"@three.csv --out a=(r", 1, "output a: formula"},
        {"@three.csv --let h=r* --out a=r", 1, "let h: formula"},
        {"@nan.csv --out a=h_j", 1, "h line 3 'nan'"},
        {"@three.csv --out a=1 --periodic x", 1, "--periodic"},
    };
    for (size_t k = 0; k < sizeof mistakes / sizeof mistakes[0]; k++)
        assert_refused(program_run("sum %s", mistakes[k].arguments), mistakes[k].code,
                       mistakes[k].words);
}

/* Formulas without a distance, and pairs within a cutoff, need no squares of it. */
static void test_points_whose_squared_distances_overflow_are_refused(void **state)
{
    (void)state;
    program_write("three.csv", three);
    program_write("far.csv", "x,y,z,m\n0,0,0,1\n1e25,0,0,1\n-1e200,0,0,1\n");
    for (int k = 0; k < 2; k++) {
        const char *method = k ? "--method reference" : "--device cpu";
        assert_refused(program_run("sum @far.csv --out s=m_j/r %s", method), 1,
                       "row 2 positions -1e+200 double 1e153");
        assert_refused(program_run("sum @three.csv --targets @far.csv --out s=r2 %s", method), 1,
                       "row 2 targets.positions");
        assert_string_equal(program_run("sum @far.csv --out s=m_j %s", method)->out,
                            "s\n2\n2\n2\n");
    }
    program_write("far.csv", "x,y,z,m\n0,0,0,1\n1e25,0,0,1\n");
    assert_refused(program_run("sum @far.csv --out s=m_j/r --precision single --device cpu"), 1,
                   "row 1 positions 1e+25 single 1e18");
    assert_succeeded(program_run("sum @far.csv --out s=m_j/r --device cpu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_of_a_file_are_in_formulas_by_their_names),
        cmocka_unit_test(test_boxes_and_their_axes_are_those_of_pairs),
        cmocka_unit_test(test_lets_parameters_and_targets),
        cmocka_unit_test(test_precisions_threads_and_methods_agree),
        cmocka_unit_test(test_mistakes_are_one_line),
        cmocka_unit_test(test_points_whose_squared_distances_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
