/* Units and G travel with the bodies: through files, and into whatever computes gravity. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "program.h"

static const double k2 = 0.00029591220828559115;

/* Largest of the frames of kith run. */
static double energy_error(const char *arguments, const char *name)
{
    const struct program_result *result = program_run("run %s%s --json", name, arguments);
    assert_succeeded(result);
    return program_json_number(result->out, "max_relative_energy_error");
}

static void assert_has_units(const char *name, double g, const char *mass)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_read(program_file(name), NULL, &bodies));
    const double found = bodies->units.gravitational_constant;
    if (found != g)
        fail_msg("%s has G %.17g, not %.17g", name, found, g);
    assert_string_equal(bodies->units.length, "AU");
    assert_string_equal(bodies->units.time, "day");
    assert_string_equal(bodies->units.mass, mass);
    kith_bodies_free(bodies);
}

static void test_units_go_through_every_format_that_has_a_place_for_them(void **state)
{
    (void)state;
    static const char *const names[] = {"sun.csv", "sun.xyz", "sun.h5"};
    for (int k = 0; k < 3; k++) {
        assert_succeeded(program_run("make solar-system -q -o @%s", names[k]));
        assert_has_units(names[k], k2, "Msun");
        for (int to = 0; to < 3; to++) {
            assert_succeeded(program_run("convert @%s @copy-%s", names[k], names[to]));
            char copy[32];
            snprintf(copy, sizeof copy, "copy-%s", names[to]);
            assert_has_units(copy, k2, "Msun");
        }
    }
}

static void test_formats_without_a_place_for_units_say_so(void **state)
{
    (void)state;
    static const char *const names[] = {"sun.tipsy", "sun.npy", "sun.hdf5"};
    assert_succeeded(program_run("make solar-system -q -o @sun.csv"));
    for (int k = 0; k < 3; k++) {
        const struct program_result *result = program_run("convert @sun.csv @%s", names[k]);
        assert_succeeded(result);
        assert_non_null(strstr(result->err, "units"));
    }
    assert_succeeded(program_run("make plummer -n 10 -q -o @one.csv"));
    assert_null(strstr(program_run("convert @one.csv @one.tipsy")->err, "units"));
    char *text = program_read("one.csv"); /* where G is 1 and nothing has a name, no comment */
    assert_int_equal(text[0], 'm');
    free(text);
}

static void test_runs_take_the_bodies_constant(void **state)
{
    (void)state;
    static const char *const names[] = {"sun.csv", "sun.xyz", "sun.h5"};
    assert_true(energy_error(" --dt 1 --until 3650", "solar-system") < 1e-3);
    for (int k = 0; k < 3; k++) {
        assert_succeeded(program_run("make solar-system -q -o @%s", names[k]));
        char path[32];
        snprintf(path, sizeof path, "@%s", names[k]);
        assert_true(energy_error(" --dt 1 --until 3650 -o @run.h5", path) < 1e-3);
    }
    assert_has_units("run.h5", k2, "Msun");
    assert_true(energy_error(" --dt 1 --until 3650 --law gravity", "@sun.csv") < 1e-3);
}

static void test_an_explicit_constant_counts_even_if_it_is_1(void **state)
{
    (void)state;
    assert_succeeded(program_run("make solar-system -q -o @sun.csv"));
    const struct program_result *result =
        program_run("run @sun.csv --g 1 --dt 1 --until 365 -q -o @one.h5");
    assert_succeeded(result);
    assert_has_units("one.h5", 1, "Msun");
    assert_non_null(strstr(result->err, "warning"));
    assert_true(energy_error(" --g 1 --dt 1 --until 365", "@sun.csv") > 1);
    assert_true(energy_error(" --law gravity --param G=1 --dt 1 --until 365", "@sun.csv") > 1);
}

static void test_a_run_whose_energy_is_lost_warns(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("run solar-system --g 1 --dt 1 --until 3650 --json");
    assert_succeeded(result);
    assert_non_null(strstr(result->err, "warning"));
    result = program_run("run solar-system --dt 1 --until 365 --json");
    assert_succeeded(result);
    assert_null(strstr(result->err, "warning"));
}

static void test_units_given_stand_in_place_of_the_bodies(void **state)
{
    (void)state;
    assert_succeeded(program_run("run solar-system --dt 1 --until 9 --units AU,day -q -o @au.h5"));
    assert_has_units("au.h5", k2, "Msun");
    assert_succeeded(
        program_run("run solar-system --dt 1 --until 9 --units AU,day,sol -q -o @sol.h5"));
    assert_has_units("sol.h5", k2, "sol");
}

static void test_a_run_resumes_with_its_constant(void **state)
{
    (void)state;
    assert_succeeded(program_run("make solar-system -q -o @sun.csv"));
    assert_succeeded(program_run("run @sun.csv --dt 1 --until 100 -q -o @again.h5"));
    assert_succeeded(program_run("run --resume --until 200 -q -o @again.h5"));
    assert_succeeded(program_run("run @sun.csv --dt 1 --until 300 --resume -q -o @again.h5"));
    assert_has_units("again.h5", k2, "Msun");
    assert_refused(program_run("run @sun.csv --g 1 --dt 1 --until 400 --resume -q -o @again.h5"), 1,
                   "gravitational");
}

/* The acceleration of the Sun, from the second line. */
static double first_number(const char *out)
{
    const char *line = strchr(out, '\n');
    assert_non_null(line);
    return strtod(line + 1, NULL);
}

static void test_forces_and_matrices_take_the_bodies_constant(void **state)
{
    (void)state;
    assert_succeeded(program_run("make solar-system -q -o @sun.csv"));
    const double with_1 = first_number(program_run("forces @sun.csv --g 1")->out);
    assert_true(fabs(first_number(program_run("forces @sun.csv")->out) / with_1 / k2 - 1) < 1e-12);
    assert_true(fabs(first_number(program_run("forces @sun.csv --law gravity")->out) / with_1 / k2 -
                     1) < 1e-12);
    assert_true(first_number(program_run("forces @sun.csv --param G=1")->out) == with_1);
    const double energy_1 =
        first_number(program_run("matrix @sun.csv --law gravity --g 1 --reduce sum")->out);
    const double energy =
        first_number(program_run("matrix @sun.csv --law gravity --reduce sum")->out);
    assert_true(fabs(energy / energy_1 / k2 - 1) < 1e-12);
    assert_succeeded(program_run("matrix @sun.csv --law distance --reduce sum"));
    assert_succeeded(program_run("make six -q -o @six.csv"));
    assert_refused(program_run("matrix @sun.csv --columns @six.csv --law gravity --reduce sum"), 1,
                   "gravitational");
}

static void test_other_laws_leave_the_constant_alone_and_keep_it(void **state)
{
    (void)state;
    assert_succeeded(program_run("make solar-system -q -o @sun.csv"));
    assert_succeeded(program_run("forces @sun.csv --law yukawa:2"));
    assert_succeeded(
        program_run("run @sun.csv --law power:1 --softening 1 --dt 1 --until 2 -q -o @other.h5"));
    assert_has_units("other.h5", k2, "Msun");
    assert_succeeded(program_run("run --resume --until 3 -q -o @other.h5"));
    assert_has_units("other.h5", k2, "Msun");
}

static void test_ensembles_take_the_bodies_constant(void **state)
{
    (void)state;
    assert_true(energy_error(" --ensemble 3 --dt 1 --until 365 -o @many.h5", "solar-system") <
                1e-3);
    kith_bodies *sun = NULL, *plain = NULL, *all = NULL;
    const kith_read_options second = {.system = 1, .system_given = true};
    assert_ok(kith_bodies_read(program_file("many.h5"), &second, &sun));
    assert_true(sun->units.gravitational_constant == k2);
    assert_ok(kith_bodies_create(sun->count, 3, KITH_VELOCITY, &plain));
    plain->time = sun->time;
    assert_fails(kith_ensemble_join(2, (const kith_bodies *[]){sun, plain}, &all),
                 KITH_INVALID_ARGUMENT, "system 1");
    plain->units = sun->units;
    assert_ok(kith_ensemble_join(2, (const kith_bodies *[]){sun, plain}, &all));
    assert_true(all->units.gravitational_constant == k2);
    kith_bodies_free(all);
    kith_bodies_free(sun);
    kith_bodies_free(plain);
}

static void test_a_simulation_takes_the_bodies_constant(void **state)
{
    (void)state;
    kith_context *context = NULL;
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, &context));
    kith_bodies *bodies = NULL;
    assert_ok(kith_initial_make("outer-solar-system", NULL, &bodies));
    double potential[3];
    const double given[3] = {0, k2, 1};
    for (int k = 0; k < 3; k++) {
        const kith_simulation_options options = {.dt = 1,
                                                 .forces.gravitational_constant = given[k]};
        kith_simulation *simulation = NULL;
        kith_diagnostics sums;
        assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
        assert_ok(kith_simulation_diagnose(simulation, &sums));
        potential[k] = sums.potential_energy;
        kith_simulation_free(simulation);
    }
    assert_true(potential[0] == potential[1]);
    assert_true(fabs(potential[0] / potential[2] / k2 - 1) < 1e-12);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_units_that_are_none_are_refused(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 2, 0, &bodies));
    memcpy(bodies->units.time, "a,b", 4);
    assert_fails(kith_bodies_check(bodies), KITH_INVALID_ARGUMENT, "");
    memset(bodies->units.time, 'x', KITH_NAME_BYTES);
    assert_fails(kith_bodies_check(bodies), KITH_INVALID_ARGUMENT, "");
    bodies->units = (kith_units){.gravitational_constant = NAN};
    assert_fails(kith_bodies_check(bodies), KITH_INVALID_ARGUMENT, "gravitational");
    kith_bodies_free(bodies);

    program_write("odd.csv", "# gravitational_constant=big\nx,y\n1,2\n");
    assert_refused(program_run("forces @odd.csv"), 1, "line 1");
    program_write("odd.csv", "# the units=of what\n# units=one,two\n#units\nx,y\n1,2\n");
    assert_succeeded(program_run("forces @odd.csv"));
    program_write("odd.csv", "# gravitational_constant=4 units=\"km s,,\"\nx,y,m\n0,0,1\n1,0,1\n");
    assert_true(first_number(program_run("forces @odd.csv")->out) == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_go_through_every_format_that_has_a_place_for_them),
        cmocka_unit_test(test_formats_without_a_place_for_units_say_so),
        cmocka_unit_test(test_runs_take_the_bodies_constant),
        cmocka_unit_test(test_an_explicit_constant_counts_even_if_it_is_1),
        cmocka_unit_test(test_a_run_whose_energy_is_lost_warns),
        cmocka_unit_test(test_units_given_stand_in_place_of_the_bodies),
        cmocka_unit_test(test_a_run_resumes_with_its_constant),
        cmocka_unit_test(test_forces_and_matrices_take_the_bodies_constant),
        cmocka_unit_test(test_other_laws_leave_the_constant_alone_and_keep_it),
        cmocka_unit_test(test_ensembles_take_the_bodies_constant),
        cmocka_unit_test(test_a_simulation_takes_the_bodies_constant),
        cmocka_unit_test(test_units_that_are_none_are_refused),
    };
    return cmocka_run_group_tests_name("run_units", tests, NULL, NULL);
}
