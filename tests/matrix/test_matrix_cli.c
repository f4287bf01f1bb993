/* kith matrix as a user runs it. */

#include "program.h"

#include <stdlib.h>

static const char three[] = "x,y,z,m\n0,0,0,1\n1,0,0,2\n3,0,0,4\n"; /* distances 1, 3, 2 */

static void assert_prints(const char *arguments, const char *expected)
{
    program_write("three.csv", three);
    const struct program_result *result = program_run("matrix @three.csv %s", arguments);
    assert_succeeded(result);
    assert_string_equal(result->out, expected);
}

static void test_rows_are_reduced_without_the_diagonal(void **state)
{
    (void)state;
    assert_prints("--law distance --reduce argmin", "argmin\n1\n0\n1\n");
    assert_prints("--law distance --reduce max", "max\n3\n2\n3\n");
    assert_prints("--law distance2 --reduce sum", "sum\n10\n5\n13\n");
    assert_prints("--law gravity --g 6 --reduce min", "min\n-12\n-24\n-24\n");
    assert_prints("--law expr:a*(m_i+m_j) --param a=2 --reduce sum", "sum\n16\n18\n22\n");
}

static void test_the_diagonal_counts_where_it_is_asked_for(void **state)
{
    const double b[] = {1, 10, 100};
    (void)state;
    assert_prints("--law distance --reduce argmin --diagonal keep", "argmin\n0\n1\n2\n");
    assert_prints("--law distance --reduce argmin --diagonal 2", "argmin\n1\n0\n1\n");
    assert_prints("--law distance --reduce max --diagonal 2.5", "max\n3\n2.5\n3\n");
    assert_prints("--law product --reduce sum --diagonal keep", "sum\n7\n14\n28\n");
    assert_prints("--law product --reduce sum --diagonal -1", "sum\n5\n9\n11\n");
    assert_prints("--law distance --histogram 3,0,3 --diagonal keep",
                  "low,high,count\n0,1,3\n1,2,1\n2,3,2\n");
    assert_prints("--law distance --histogram 3,0,3 --diagonal 2",
                  "low,high,count\n0,1,0\n1,2,1\n2,3,5\n");
    assert_ok(kith_npy_write(program_file("b.npy"), kith_array_vector((void *)b, KITH_F64, 3)));
    assert_prints("--law product --times @b.npy --diagonal keep", "product\n421\n842\n1684\n");
    assert_prints("--law product --times @b.npy --diagonal 3 --method reference",
                  "product\n423\n832\n384\n");
    program_write("two.csv", "x,y,z\n5,0,0\n9,0,0\n");
    assert_int_equal(
        program_run("matrix @three.csv --columns @two.csv --law distance --reduce sum --diagonal 1")
            ->exit_code,
        2);
}

static void test_histograms_count_each_pair_once(void **state)
{
    (void)state;
    assert_prints("--law distance --histogram 2,1,3", "low,high,count\n1,2,1\n2,3,2\n");
}

static void test_matrices_are_files_of_the_precision(void **state)
{
    (void)state;
    kith_array matrix;
    program_write("three.csv", three);
    assert_succeeded(program_run("matrix @three.csv --law product --diagonal -1 -o @v.npy"));
    assert_ok(kith_npy_read(program_file("v.npy"), &matrix));
    static const double expected[] = {-1, 2, 4, 2, -1, 8, 4, 8, -1};
    assert_memory_equal(matrix.data, expected, sizeof expected);
    free(matrix.data);
    assert_succeeded(program_run(
        "matrix @three.csv --law product --diagonal -1 --precision single --symmetric -o @w.npy"));
    assert_ok(kith_npy_read(program_file("w.npy"), &matrix));
    assert_memory_equal(matrix.data, expected, sizeof expected);
    free(matrix.data);
}

static void test_two_sets_and_a_vector(void **state)
{
    (void)state;
    const double b[] = {1, -1};
    program_write("three.csv", three);
    program_write("two.csv", "x,y,z\n5,0,0\n9,0,0\n");
    assert_ok(kith_npy_write(program_file("b.npy"), kith_array_vector((void *)b, KITH_F64, 2)));
    const struct program_result *result =
        program_run("matrix @three.csv --columns @two.csv --law distance --times @b.npy");
    assert_succeeded(result);
    assert_string_equal(result->out, "product\n-4\n-4\n-4\n");
}

static void test_json_tells_what_was_done(void **state)
{
    (void)state;
    program_write("three.csv", three);
    const char *json = program_run("matrix @three.csv --law power:1 --json")->out;
    assert_true(program_json_number(json, "rows") == 3);
    assert_true(program_json_number(json, "columns") == 3);
    assert_true(program_json_number(json, "bytes_per_second") > 0);
    assert_true(program_json_number(json, "seconds") > 0);
    assert_non_null(strstr(json, "\"law\":\t\"power:1\""));
    assert_non_null(strstr(json, "\"device\""));
    assert_non_null(strstr(json, "\"precision\":\t\"double\""));
}

static void test_wrong_usage_is_told(void **state)
{
    (void)state;
    program_write("three.csv", three);
    assert_refused(program_run("matrix @three.csv -o @v.npy"), 2, "--law");
    assert_refused(program_run("matrix @three.csv --law power:1"), 2, "-o");
    assert_refused(program_run("matrix @three.csv --law power:1 --reduce mean"), 2, "mean");
    assert_refused(program_run("matrix @three.csv --law power:1 --histogram 3,1"), 2, "BINS,LO,HI");
    assert_refused(program_run("matrix @three.csv --law power:1 --reduce sum --histogram 3,0,1"), 2,
                   "--reduce --histogram");
    assert_refused(program_run("matrix @none.csv --law power:1 -o @v.npy"), 1, "none.csv");
    assert_refused(program_run("matrix @three.csv --law nonsense -o @v.npy"), 2, "nonsense");
    assert_refused(
        program_run("matrix @three.csv --law power:1 --device cpu --method tile-p -o @v.npy"), 1,
        "GPU");
}

static void test_points_whose_squared_distances_overflow_are_refused(void **state)
{
    (void)state;
    program_write("far.csv", "x,y,z,m\n0,0,0,1\n1e25,0,0,2\n-1e200,0,0,4\n");
    for (int k = 0; k < 2; k++) {
        const char *result = k ? "--reduce sum" : "-o @v.npy";
        assert_refused(program_run("matrix @far.csv --law gravity --device cpu %s", result), 1,
                       "row 2 positions -1e+200 double 1e153");
    }
    assert_string_equal(program_run("matrix @far.csv --law sum --device cpu --reduce sum")->out,
                        "sum\n8\n9\n11\n");
    program_write("far.csv", "x,y,z,m\n0,0,0,1\n1e25,0,0,2\n");
    assert_refused(
        program_run("matrix @far.csv --law distance --precision single --device cpu -o @v.npy"), 1,
        "row 1 positions 1e+25 single 1e18");
}

static void test_memory_that_is_missing_is_that_of_what_is_large(void **state)
{
    (void)state;
    program_write("three.csv", three);
    const struct program_result *result =
        program_run("matrix @three.csv --law distance --histogram 9999999999999999,0,1");
    assert_refused(result, 1, "--histogram");
    assert_null(strstr(result->err, "particles"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_reduced_without_the_diagonal),
        cmocka_unit_test(test_the_diagonal_counts_where_it_is_asked_for),
        cmocka_unit_test(test_histograms_count_each_pair_once),
        cmocka_unit_test(test_matrices_are_files_of_the_precision),
        cmocka_unit_test(test_two_sets_and_a_vector),
        cmocka_unit_test(test_json_tells_what_was_done),
        cmocka_unit_test(test_wrong_usage_is_told),
        cmocka_unit_test(test_points_whose_squared_distances_overflow_are_refused),
        cmocka_unit_test(test_memory_that_is_missing_is_that_of_what_is_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
