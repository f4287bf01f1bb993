/* Notes on results that are valid, and that nobody can want. */

#include "testing.h"

#include "program.h"

static bool has_note(const char *command, const char *part)
{
    const struct program_result *result = program_run("%s", command);
    assert_succeeded(result);
    return strstr(result->err, part) != NULL;
}

/* Astronomical units and days, or years, under G = 1. */
static void test_orbits_of_another_constant_are_noted(void **state)
{
    (void)state;
    program_write("days.csv", "x,y,vx,vy,m\n0,0,0,0,1\n1,0,0,0.0172,0\n");
    program_write("years.csv", "x,y,vx,vy,m\n0,0,0,0,1\n1,0,0,6.28,0\n");
    assert_true(has_note("orbits @days.csv", "--g"));
    assert_true(has_note("orbits @years.csv", "--g"));
    assert_false(has_note("orbits @days.csv -q", "--g"));
    assert_false(has_note("orbits @days.csv --g 2.959e-4", "--g"));
    assert_succeeded(program_run("make solar-system -q -o @solar.csv"));
    assert_false(has_note("orbits @solar.csv", "--g"));
    assert_succeeded(program_run("make two-body --eccentricity 0.99 -q -o @comet.csv"));
    assert_false(has_note("orbits @comet.csv", "--g"));
}

static void test_a_cluster_has_no_star_for_whfast(void **state)
{
    (void)state;
    assert_true(has_note("run plummer -n 10 --dt 1e-3 --until 2e-3 --integrator whfast", "star"));
    assert_true(has_note("run plummer -n 10 --dt 1e-3 --until 2e-3 --integrator hybrid", "star"));
    assert_false(has_note("run plummer -n 10 --dt 1e-3 --until 2e-3", "star"));
    assert_false(has_note("run solar-system --dt 1 --until 2 --integrator whfast", "star"));
    assert_false(has_note("run two-body --dt 1e-3 --until 2e-3 --integrator whfast", "star"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orbits_of_another_constant_are_noted),
        cmocka_unit_test(test_a_cluster_has_no_star_for_whfast),
    };
    return cmocka_run_group_tests_name("notes", tests, NULL, NULL);
}
