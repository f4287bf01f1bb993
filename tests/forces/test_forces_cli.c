/* kith forces with an accuracy, as a user runs it. */

#include "program.h"

#include <math.h>
#include <stdlib.h>

static void make_plummer(void)
{
    if (!program_exists("plummer.csv"))
        assert_succeeded(program_run("make plummer -n 5000 -o @plummer.csv"));
}

static double json_of(const struct program_result *result, const char *key)
{
    return program_json_number(result->out, key);
}

static void test_the_error_is_kept_and_json_reports_what_was_chosen(void **state)
{
    (void)state;
    static const char *const solvers[] = {"tree", "fmm"};
    make_plummer();
    for (int k = 0; k < 2; k++) {
        const struct program_result *result = program_run(
            "forces @plummer.csv --solver %s --error 1e-4 --check 300 --json", solvers[k]);
        assert_succeeded(result);
        assert_true(json_of(result, "rms") > 0 && json_of(result, "rms") <= 1e-4);
        assert_true(json_of(result, "p99") <= 4e-4 && json_of(result, "max") <= 30e-4);
        assert_true(json_of(result, "error_requested") == 1e-4);
        assert_true(json_of(result, "order") > 0 && json_of(result, "leaf") > 0);
        assert_true(json_of(result, "theta") == 0.8 && json_of(result, "p2p_per_body") > 0);
        assert_true(json_of(result, "error_estimated") > 0);
        assert_non_null(strstr(result->out, solvers[k]));
    }
    const struct program_result *result =
        program_run("forces @plummer.csv --solver fmm --theta 0.5 --order 6 -o @a.csv --check 10");
    assert_succeeded(result);
    assert_true(has_fields(result->err, "10 bodies"));
}

/* The forces on the middle of a lattice cancel: errors are relative to a tenth of their sum. */
static void test_a_check_is_relative_to_the_absolute_forces_of_any_law(void **state)
{
    (void)state;
    static const char *const laws[] = {"gravity", "coulomb", "yukawa:3", "expr:m_i*m_j*exp(-r)"};
    enum { side = 15, bytes_of_row = 32 };
    static char rows[side * side * side * bytes_of_row];
    int length = snprintf(rows, sizeof rows, "x,y,z,m,q,softening\n");
    for (int k = 0; k < side * side * side; k++)
        length += snprintf(rows + length, sizeof rows - (size_t)length, "%d,%d,%d,2,1,0.1\n",
                           k / side / side, k / side % side, k % side);
    program_write("lattice.csv", rows);
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        const struct program_result *result = program_run(
            "forces @lattice.csv --law %s --solver fmm --error 1e-4 --check 3375 --json", laws[k]);
        assert_succeeded(result);
        assert_true(json_of(result, "max") > 0 && json_of(result, "max") <= 30e-4);
    }
    const struct program_result *result = program_run(
        "forces @lattice.csv --softening file --solver tree --error 1e-4 --check 3375 --json");
    assert_succeeded(result);
    assert_true(json_of(result, "max") > 0 && json_of(result, "max") <= 30e-4);
}

static void test_targets_of_another_file_have_a_row_each(void **state)
{
    (void)state;
    double expected[4], found[4];
    make_plummer();
    program_write("two.csv", "x,y,z\n3,0,0\n0,-2,1\n");
    for (int k = 0; k < 2; k++) {
        const struct program_result *result = program_run(
            "forces @plummer.csv --targets @two.csv -o - %s", k ? "--solver fmm --error 1e-6" : "");
        assert_succeeded(result);
        double *row = k ? found : expected;
        const char *line = strchr(result->out, '\n') + 1;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf", row, row + 1, row + 2, row + 3), 4);
    }
    for (int c = 0; c < 4; c++)
        assert_true(fabs(found[c] - expected[c]) < 1e-5 * fabs(expected[0]));
    assert_succeeded(program_run("forces @plummer.csv --targets @two.csv --check 2 --json"));
    program_write("plane.csv", "x,y\n3,0\n");
    assert_refused(program_run("forces @plummer.csv --targets @plane.csv -o -"), 1, "3");
}

/* The columns of a file without rows are those that the other file has. */
static void test_sources_or_targets_may_be_none(void **state)
{
    (void)state;
    make_plummer();
    program_write("none.csv", "x,y,z\n");
    program_write("one.csv", "x,y,z\n3,0,0\n");
    const struct program_result *result =
        program_run("forces @plummer.csv --targets @none.csv -o -");
    assert_succeeded(result);
    assert_string_equal(result->out, "ax,ay,az,potential\n");
    result = program_run("forces @none.csv --targets @one.csv -o -");
    assert_succeeded(result);
    assert_string_equal(result->out, "ax,ay,az,potential\n0,0,0,0\n");
}

static void test_an_accuracy_that_cannot_be_is_refused(void **state)
{
    (void)state;
    make_plummer();
    assert_refused(program_run("forces @plummer.csv --precision single --error 1e-9"), 1,
                   "error 1e-09 1e-06");
    assert_refused(program_run("forces @plummer.csv --precision single --solver fmm --error 1e-6"),
                   1, "error 1e-06 3e-06");
    assert_refused(program_run("forces @plummer.csv --error 1e-3 --theta 0.5"), 2, "");
    assert_refused(program_run("forces @plummer.csv --theta 1"), 2, "1");
    assert_refused(program_run("forces @plummer.csv --error 0"), 2, "--error");
    assert_refused(program_run("forces @plummer.csv --law expr:m_j*dx/r --solver tree"), 1,
                   "solver tree");
    assert_refused(program_run("forces @plummer.csv --sum value --check 5"), 2, "--check");
}

/* Two runs of one step each are one of two, and the accuracy is the file's. */
/* Gravity has units of its own, and needs no squares of these. */
static void test_points_whose_squared_distances_overflow_have_gravity_alone(void **state)
{
    (void)state;
    program_write("far.csv", "x,y,z,q\n0,0,0,1\n-1e200,0,0,1\n");
    for (int k = 0; k < 2; k++) {
        const char *solver = k ? "reference" : "direct";
        assert_refused(
            program_run("forces @far.csv --law coulomb --device cpu --solver %s -o @a.csv", solver),
            1, "row 1 positions -1e+200 double 1e153");
    }
    assert_succeeded(program_run("forces @far.csv --device cpu -o @a.csv"));
    assert_succeeded(
        program_run("forces @far.csv --law coulomb --cutoff 1 --device cpu -o @a.csv"));
}

/* Direct sums multiply charges in their precision; trees do so at the end. */
static void test_charges_whose_products_overflow_are_refused(void **state)
{
    (void)state;
    program_write("large.csv", "x,y,q\n0,0,1\n3,0,-1e30\n5,0,2\n");
    static const char *const refused[] = {
        "coulomb --precision single", "coulomb --precision single --cutoff 4",
        "coulomb --precision single --error 0.01", "yukawa:2 --precision single",
        "log2d --precision single"};
    static const char *const accepted[] = {"coulomb", "coulomb --precision single --solver fmm",
                                           "coulomb --precision single --solver reference",
                                           "gravity --precision single"};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        assert_refused(program_run("forces @large.csv --law %s --device cpu -o @a.csv", refused[k]),
                       1, "row 1 q -1e+30 single double");
    for (size_t k = 0; k < sizeof accepted / sizeof *accepted; k++)
        assert_succeeded(
            program_run("forces @large.csv --law %s --device cpu -o @a.csv", accepted[k]));
}

static void test_a_run_by_fmm_resumes_bit_for_bit(void **state)
{
    (void)state;
    static const char begin[] =
        "run @plummer.csv --dt 0.01 --softening 0.02 --solver fmm --error 1e-3 -o @%s --until %s";
    make_plummer();
    if (program_run(begin, "whole.h5", "0.02")->exit_code != 0)
        skip(); /* without HDF5 */
    assert_succeeded(program_run(begin, "parts.h5", "0.01"));
    assert_succeeded(program_run("run --resume --until 0.02 -o @parts.h5"));
    assert_succeeded(program_run("convert @whole.h5 @whole.csv"));
    assert_succeeded(program_run("convert @parts.h5 @parts.csv"));
    char *whole = program_read("whole.csv"), *parts = program_read("parts.csv");
    assert_string_equal(whole, parts);
    free(whole);
    free(parts);
    assert_refused(program_run("run @plummer.csv --resume --until 0.03 --dt 0.01 --softening 0.02 "
                               "--solver fmm --error 1e-2 -o @parts.h5"),
                   1, "error 0.01");
}

/* Where fmm takes less than a fifth of the time a note says what to type; never with --quiet. */
static void test_what_would_be_faster_is_noted(void **state)
{
    (void)state;
    assert_succeeded(program_run("make uniform-cube -n 100000 -o @cube.npy"));
    const struct program_result *result =
        program_run("forces @cube.npy --device cpu --precision single -o @direct.npy");
    assert_succeeded(result);
    assert_true(has_fields(result->err, "note --error 0.0001"));
    result = program_run("forces @cube.npy --device cpu --precision single -q -o @direct.npy");
    assert_succeeded(result);
    assert_string_equal(result->err, "");
    result =
        program_run("forces @cube.npy --device cpu --precision single --error 1e-4 -o @direct.npy");
    assert_succeeded(result);
    assert_false(has_fields(result->err, "--error"));
    result = program_run("run @cube.npy --device cpu --dt 1 --until 0 -o @cube.h5");
    assert_succeeded(result);
    assert_true(has_fields(result->err, "note --error 0.0001"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_error_is_kept_and_json_reports_what_was_chosen),
        cmocka_unit_test(test_a_check_is_relative_to_the_absolute_forces_of_any_law),
        cmocka_unit_test(test_targets_of_another_file_have_a_row_each),
        cmocka_unit_test(test_sources_or_targets_may_be_none),
        cmocka_unit_test(test_an_accuracy_that_cannot_be_is_refused),
        cmocka_unit_test(test_points_whose_squared_distances_overflow_have_gravity_alone),
        cmocka_unit_test(test_charges_whose_products_overflow_are_refused),
        cmocka_unit_test(test_a_run_by_fmm_resumes_bit_for_bit),
        cmocka_unit_test(test_what_would_be_faster_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
