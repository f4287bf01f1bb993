/* kith forces --cutoff. */

#include "program.h"

static const char two[] = "x,y,z,vx,vy,vz,m\n0,0,0,1,0,0,1\n3,0,0,0,0,0,1\n";

static void test_totals_and_pressure_are_printed(void **state)
{
    (void)state;
    program_write("two.csv", two);
    const struct program_result *result =
        program_run("forces @two.csv --law distance2 --cutoff 1.5 --box 4,10,10 --json");
    assert_succeeded(result); /* one pair, at distance 1 across the cell */
    assert_non_null(strstr(result->out, "\"energy\":\t1,"));
    assert_non_null(strstr(result->out, "\"virial\":\t[-2, 0, 0, 0, 0, 0, 0, 0, 0]"));
    assert_non_null(strstr(result->out, "\"solver\":\t\"cutoff\""));
    assert_non_null(strstr(result->out, "\"pressure\":\t-0.00083333333333333"));
    result =
        program_run("forces @two.csv --law distance2 --cutoff 1.5 --box 4,10,10 --shift energy "
                    "--json");
    assert_non_null(strstr(result->out, "\"energy\":\t-1.25,"));
}

static void test_accelerations_are_of_pairs_within_the_cutoff(void **state)
{
    (void)state;
    program_write("two.csv", two);
    const struct program_result *result =
        program_run("forces @two.csv --law distance2 --cutoff 1.5 --box 4,10,10");
    assert_succeeded(result);
    assert_string_equal(result->out, "ax,ay,az,potential\n-2,0,0,1\n2,0,0,1\n");
    result = program_run("forces @two.csv --cutoff 1.5 --solver reference");
    assert_string_equal(result->out, "ax,ay,az,potential\n0,0,0,0\n0,0,0,0\n");
}

static void test_pairs_of_a_file_are_excluded(void **state)
{
    (void)state;
    program_write("two.csv", two);
    program_write("bonds.csv", "i,j\n1,0\n");
    const char *job = "@two.csv --law distance2 --cutoff 3.5 --exclude @bonds.csv";
    const struct program_result *result = program_run("forces %s", job);
    assert_succeeded(result);
    assert_string_equal(result->out, "ax,ay,az,potential\n0,0,0,0\n0,0,0,0\n");
    result = program_run("forces %s --box 4,10,10", job); /* the other image, at distance 3 */
    assert_string_equal(result->out, "ax,ay,az,potential\n6,0,0,9\n-6,0,0,9\n");
    result = program_run("run %s --dt 0.5 --until 1 --json", job);
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "\"energy_final\":\t0.5,"));
    assert_refused(program_run("forces @two.csv --exclude @bonds.csv"), 2, "--exclude --cutoff");
    assert_refused(program_run("run @two.csv --dt 1 --until 1 --exclude @bonds.csv"), 2,
                   "--exclude --cutoff");
}

static void test_mistakes_are_told_in_one_line(void **state)
{
    (void)state;
    program_write("two.csv", two);
    assert_refused(program_run("forces @two.csv --cutoff -1"), 2, "--cutoff");
    assert_refused(program_run("forces @two.csv --box 4,4,4"), 2, "--cutoff R");
    assert_refused(program_run("forces @two.csv --cutoff 1 --periodic xyz"), 1, "--box --cell");
    assert_refused(program_run("forces @two.csv --cutoff 1 --box 4,-4,4"), 2, "0");
    assert_refused(program_run("forces @two.csv --shift force"), 2, "--cutoff");
    assert_refused(program_run("forces @two.csv --cutoff 1 --shift some"), 2, "--shift");
    assert_refused(program_run("forces @two.csv --cutoff 1 --shift force --tail"), 2,
                   "--shift --tail");
    assert_refused(program_run("forces @two.csv --cutoff 1 --check 2"), 2, "--check");
    assert_refused(program_run("run @two.csv --dt 1 --until 1 --skin 1"), 2, "--cutoff");
    assert_refused(program_run("run @two.csv --dt 1 --until 1 --cutoff 1 --skin -1"), 2, "--skin");
    assert_refused(program_run("forces @two.csv --cutoff 1 --solver direct"), 1, "solver");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals_and_pressure_are_printed),
        cmocka_unit_test(test_accelerations_are_of_pairs_within_the_cutoff),
        cmocka_unit_test(test_pairs_of_a_file_are_excluded),
        cmocka_unit_test(test_mistakes_are_told_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
