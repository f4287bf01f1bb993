/* kith forces with the solver ewald, as a user runs it. */

#include "program.h"

#include <math.h>

static double json_of(const struct program_result *result, const char *key)
{
    return program_json_number(result->out, key);
}

static void write_crystal(void)
{
    program_write("salt.csv", "x,y,z,q\n0,0,0,1\n0.5,0.5,0.5,-1\n");
}

static void test_json_reports_the_setting_and_the_totals(void **state)
{
    (void)state;
    static const char *const keys[] = {"cutoff", "alpha", "error_estimated", "seconds"};
    write_crystal();
    const struct program_result *result = program_run(
        "forces @salt.csv --law coulomb --solver ewald --box 1,1,1 --error 1e-10 --json");
    assert_succeeded(result);
    const double energy = json_of(result, "energy");
    assert_true(fabs(energy + 2 * 1.762674773070988 / sqrt(3)) < 1e-9);
    assert_true(json_of(result, "error") == 1e-10);
    for (int k = 0; k < 4; k++)
        assert_true(json_of(result, keys[k]) > 0);
    assert_non_null(strstr(result->out, "\"virial\":\t[["));
    assert_non_null(strstr(result->out, "\"grid\":\t[0, 0, 0]"));
    assert_non_null(strstr(result->out, "\"solver\":\t\"ewald\""));
}

static void test_pairs_of_a_file_are_excluded(void **state)
{
    (void)state;
    write_crystal();
    program_write("bonds.csv", "i,j\n# a bond\n0,1\n\n1,0\n");
    const char *job = "forces @salt.csv --law coulomb --solver ewald --cell 1,0,0,0,1,0,0,0,1";
    const struct program_result *result = program_run("%s --json", job);
    const double energy = json_of(result, "energy");
    result = program_run("%s --exclude @bonds.csv --json", job);
    assert_succeeded(result);
    assert_true(fabs(json_of(result, "energy") - energy - 2 / sqrt(3)) < 1e-11);
    program_write("bonds.csv", "0,1\n0;1\n");
    assert_refused(program_run("%s --exclude @bonds.csv", job), 1, "line 2");
    program_write("bonds.csv", "0,2\n");
    assert_refused(program_run("%s --exclude @bonds.csv", job), 1, "0 1");
    assert_refused(program_run("%s --exclude @none.csv", job), 1, "");
}

static void test_a_given_setting_that_misses_the_error_is_noted(void **state)
{
    (void)state;
    write_crystal();
    const char *job =
        "forces @salt.csv --law coulomb --solver ewald --box 1,1,1 --device cpu -o @f.csv";
    const struct program_result *result = program_run("%s --cutoff 0.5 --alpha 2", job);
    assert_succeeded(result);
    assert_true(has_fields(result->err, "1e-12 --alpha"));
    result = program_run("%s", job);
    assert_succeeded(result);
    assert_string_equal(result->err, "");
}

/* A build without FFTW refuses it in one line. */
static void test_the_mesh_has_the_energy_of_madelung(void **state)
{
    (void)state;
    assert_succeeded(program_run("make nacl -n 512 --density 1 -o @salt.xyz"));
    const struct program_result *result =
        program_run("forces @salt.xyz --law coulomb --solver pme --error 1e-6 --json");
    if (result->exit_code != 0) {
        assert_refused(result, 1, "FFTW");
        return;
    }
    const double expected = -512 * 1.747564594633182 / 2;
    assert_true(fabs(json_of(result, "energy") / expected - 1) < 1e-5);
    assert_true(json_of(result, "prepare_seconds") > 0);
    assert_true(json_of(result, "order") >= 4);
    assert_non_null(strstr(result->out, "\"solver\":\t\"pme\""));
    assert_refused(program_run("forces @salt.xyz --law coulomb --solver pme --error 1e-15"), 1,
                   "1e-11");
    assert_refused(program_run("forces @salt.xyz --law coulomb --solver pme --grid 3,8,8"), 1,
                   "grid 3");
}

/* The cell of an extended XYZ file serves without options. */
static void test_the_cell_of_the_file_serves(void **state)
{
    (void)state;
    program_write("salt.xyz",
                  "2\nLattice=\"1 0 0 0 1 0 0 0 1\" pbc=\"T T T\" "
                  "Properties=species:S:1:pos:R:3:charge:R:1\nNa 0 0 0 1\nCl .5 .5 .5 -1\n");
    const struct program_result *result =
        program_run("forces @salt.xyz --law coulomb --solver ewald --json");
    assert_succeeded(result);
    assert_true(fabs(json_of(result, "energy") + 2 * 1.762674773070988 / sqrt(3)) < 1e-11);
    result = program_run("forces @salt.xyz --law coulomb --solver ewald --periodic xy --json");
    assert_succeeded(result);
    assert_true(json_of(result, "energy") < 0);
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    write_crystal();
    assert_refused(program_run("forces @salt.csv --law coulomb --solver ewald"), 1, "cell");
    assert_refused(program_run("forces @salt.csv --law coulomb --box 1,1,1"), 2, "--box --cutoff");
    assert_refused(program_run("forces @salt.csv --law coulomb --solver ewald --box 1,1,1 "
                               "--periodic z"),
                   1, "periodic");
    assert_refused(program_run("forces @salt.csv --solver ewald --box 1,1,1 --check 5"), 2,
                   "--check");
    assert_refused(program_run("forces @salt.csv --solver ewald --box 1,1,1 --boundary water"), 2,
                   "--boundary");
    assert_refused(program_run("forces @salt.csv --solver ewald --box 1,1,1 --theta 0.5"), 1,
                   "ewald theta");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_reports_the_setting_and_the_totals),
        cmocka_unit_test(test_pairs_of_a_file_are_excluded),
        cmocka_unit_test(test_a_given_setting_that_misses_the_error_is_noted),
        cmocka_unit_test(test_the_mesh_has_the_energy_of_madelung),
        cmocka_unit_test(test_the_cell_of_the_file_serves),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
