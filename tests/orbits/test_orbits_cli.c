/* kith orbits and kith make planets as a user runs them. */
#include "program.h"

#include <math.h>
#include <stdlib.h>

static const char header[] = "time,body,a,e,i,Omega,omega,M\n";

static const char two_planets[] =
    "make planets --elements 1e-3,1,0.25,0.5,1,2,3 --elements 0,-2,1.5,2.5,3,4,-5 --star 2 ";

static void test_elements_given_to_make_come_out_of_orbits(void **state)
{
    (void)state;
    const char *const coordinates[] = {"heliocentric", "jacobi", "barycentric"};
    for (int c = 0; c < 3; c++) {
        assert_succeeded(
            program_run("%s --g 3 --coordinates %s -o @planets.csv", two_planets, coordinates[c]));
        const struct program_result *result =
            program_run("orbits @planets.csv --coordinates %s", coordinates[c]);
        double row[2][8];
        assert_succeeded(result);
        assert_int_equal(strncmp(result->out, header, strlen(header)), 0);
        const char *at = result->out + strlen(header);
        for (int k = 0; k < 16; k++) {
            char *end = NULL;
            row[k / 8][k % 8] = strtod(at, &end);
            at = end + 1;
        }
        const double expected[2][8] = {{0, 1, 1, 0.25, 0.5, 1, 2, 3},
                                       {0, 2, -2, 1.5, 2.5, 3, 4, -5}};
        for (int k = 0; k < 16; k++)
            assert_true(fabs(row[k / 8][k % 8] - expected[k / 8][k % 8]) < 1e-13);
        assert_string_equal(at, "");
    }
}

static void test_heliocentric_is_the_default(void **state)
{
    (void)state;
    assert_succeeded(program_run("orbits @planets.csv --coordinates heliocentric -o @h.csv"));
    char *heliocentric = program_read("h.csv");
    assert_string_equal(program_run("orbits @planets.csv")->out, heliocentric);
    free(heliocentric);
}

static void test_g_of_the_option_is_taken_before_that_of_the_file(void **state)
{
    (void)state;
    program_write("circle.csv", "# gravitational_constant=4\nm,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n"
                                "0,1,0,0,0,2,0\n");
    assert_string_equal(program_run("orbits @circle.csv")->out,
                        "time,body,a,e,i,Omega,omega,M\n0,1,1,0,0,0,0,0\n");
    assert_string_equal(program_run("orbits @circle.csv --g 2")->out,
                        "time,body,a,e,i,Omega,omega,M\n0,1,inf,1,0,0,0,0\n");
}

static void test_json_counts_orbits_and_says_what_was_taken(void **state)
{
    (void)state;
    assert_succeeded(program_run("%s --g 3 -o @planets.csv", two_planets));
    const struct program_result *result =
        program_run("orbits @planets.csv --coordinates jacobi --json -o @o.csv");
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "bodies") == 3);
    assert_true(program_json_number(result->out, "frames") == 1);
    assert_true(program_json_number(result->out, "orbits") == 2);
    assert_true(program_json_number(result->out, "bound") == 1);
    assert_true(program_json_number(result->out, "unbound") == 1);
    assert_true(program_json_number(result->out, "removed") == 0);
    assert_true(program_json_number(result->out, "g") == 3);
    assert_true(program_json_number(result->out, "seconds") >= 0);
    assert_non_null(strstr(result->out, "\"jacobi\""));
    char *table = program_read("o.csv");
    assert_int_equal(strncmp(table, header, strlen(header)), 0);
    free(table);
    assert_int_equal(program_run("orbits @planets.csv --json")->out[0], '{');
}

static void test_records_of_npy_files_keep_the_names_of_the_columns(void **state)
{
    (void)state;
    assert_succeeded(program_run("orbits @planets.csv -o @o.npy"));
    FILE *stream = fopen(program_file("o.npy"), "rb");
    char content[256] = {0};
    assert_non_null(stream);
    assert_int_equal(fread(content, 1, sizeof content - 1, stream), sizeof content - 1);
    fclose(stream);
    assert_non_null(strstr(content + 10,
                           "[('time', '<f8'), ('body', '<i8'), ('a', '<f8'), ('e', '<f8'), ('i', "
                           "'<f8'), ('Omega', '<f8'), ('omega', '<f8'), ('M', '<f8')]"));
}

/* The frames of extended XYZ may have any numbers of bodies. */
static void test_every_frame_of_a_file_has_rows(void **state)
{
    (void)state;
#define LINE "Properties=species:S:1:pos:R:3:velo:R:3:masses:R:1 Time="
    program_write("frames.xyz", "2\n" LINE "1\nA 0 0 0 0 0 0 1\nB 1 0 0 0 1 0 0\n"
                                "3\n" LINE "2\nA 0 0 0 0 0 0 1\nB 4 0 0 0 0 0.5 0\n"
                                "C 0 1 0 -1 0 0 0\n"
                                "1\n" LINE "3\nA 0 0 0 0 0 0 1\n");
#undef LINE
    const char *const rows[] = {"1,1,1,0,0,0,0,0\n", "2,1,4,0,1.5707963267948966,0,0,0\n",
                                "2,2,1,0,0,0,0,1.5707963267948966\n"};
    char expected[512];
    snprintf(expected, sizeof expected, "%s%s%s%s", header, rows[0], rows[1], rows[2]);
    assert_string_equal(program_run("orbits @frames.xyz")->out, expected);
    snprintf(expected, sizeof expected, "%s%s%s", header, rows[1], rows[2]);
    assert_string_equal(program_run("orbits @frames.xyz --frames 2:3")->out, expected);
    const char *json = program_run("orbits @frames.xyz --json")->out;
    assert_true(program_json_number(json, "frames") == 3);
    assert_true(program_json_number(json, "orbits") == 3);
}

static void test_resonance_angles_are_sums_of_longitudes(void **state)
{
    (void)state;
    assert_succeeded(program_run("%s -o @planets.csv", two_planets));
    /* Omega, omega, M are 1, 2, 3 and 3, 4, -5. */
    static const struct {
        const char *angle;
        double expected;
    } each[] = {{"l2-l1", 2 - 6},   {"2l1-l2-w1", 12 - 2 - 3},   {"w2-w1", 7 - 3},
                {"-3O1+2O2+w1", 6}, {"+3l2-2l1-w2", 6 - 12 - 7}, {"0l1", 0}};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        const struct program_result *result =
            program_run("orbits @planets.csv --resonance %s", each[k].angle);
        double time, angle;
        assert_succeeded(result);
        assert_int_equal(sscanf(result->out, "time,angle\n%lf,%lf", &time, &angle), 2);
        assert_true(time == 0 && angle >= 0 && angle < 6.2832);
        assert_true(fabs(remainder(angle - each[k].expected, 6.283185307179586)) < 1e-13);
    }
    const struct program_result *result =
        program_run("orbits @planets.csv --resonance l2-l1 --json");
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "angles") == 1);
    assert_refused(program_run("orbits @planets.csv --resonance 3l2-2l1"), 2,
                   "--resonance '3l2-2l1'");
    assert_refused(program_run("orbits @planets.csv --resonance 3x2"), 2, "--resonance '3x2'");
    assert_refused(program_run("orbits @planets.csv --resonance l0-l1"), 2, "--resonance 'l0-l1'");
    assert_refused(program_run("orbits @planets.csv --resonance l2l1"), 2, "--resonance 'l2l1'");
    assert_refused(program_run("orbits @planets.csv --resonance l1-l"), 2, "--resonance 'l1-l'");
    assert_refused(program_run("orbits @planets.csv --resonance l3-l1"), 1, "resonance 3 2");
}

static void test_bodies_without_velocities_are_refused(void **state)
{
    (void)state;
    program_write("still.csv", "m,x,y,z\n1,0,0,0\n1,1,0,0\n");
    assert_refused(program_run("orbits @still.csv"), 1, "velocities");
}

static void test_wrong_elements_are_wrong_usage(void **state)
{
    (void)state;
    assert_refused(program_run("make planets --elements 1,2,0.5,0,0,0"), 2, "--elements 6");
    assert_refused(program_run("make planets --elements 1,2,0.5,0,0,0,0,0"), 2, "--elements 8");
    assert_refused(program_run("make planets --elements 1,2,-0.5,0,0,0,0"), 2, "e -0.5");
    assert_refused(program_run("make planets --elements 1,-2,0.5,0,0,0,0"), 2, "a -2");
    assert_refused(program_run("make planets --elements 1,0,0.5,0,0,0,0"), 2, "a 0");
    assert_refused(program_run("make planets --elements 1,2,1.5,0,0,0,0"), 2, "a 2");
    assert_refused(program_run("make planets --elements 1,2,1,0,0,0,0"), 2, "e 1");
    assert_refused(program_run("make planets --elements -1,2,0.5,0,0,0,0"), 2, "m -1");
    assert_refused(program_run("make planets --elements 1,2,x,0,0,0,0"), 2, "'x'");
    assert_refused(program_run("make planets --star 0"), 2, "--star 0");
    assert_refused(program_run("make planets --coordinates galactic"), 2, "galactic");
    assert_refused(program_run("make plummer --star 2"), 1, "elements");
    assert_refused(program_run("make planets -n 4"), 1, "--number 4");
}

static void test_wrong_options_of_orbits_are_wrong_usage(void **state)
{
    (void)state;
    assert_refused(program_run("orbits"), 2, "RUN");
    assert_refused(program_run("orbits a b"), 2, "'b' RUN");
    assert_refused(program_run("orbits a --coordinates jacobian"), 2, "'jacobi'");
    assert_refused(program_run("orbits a --coordinates cylindrical"), 2, "heliocentric");
    assert_refused(program_run("orbits a --g 0"), 2, "--g 0");
    assert_refused(program_run("orbits a --frames 3:2"), 2, "--frames '3:2'");
    assert_refused(program_run("orbits a --to mtx"), 2, "--to 'mtx'");
    assert_refused(program_run("orbits a --json -o -"), 2, "standard");
    assert_refused(program_run("orbits @none.csv"), 1, "");
    assert_refused(program_run("orbits @planets.csv --frames 2:2"), 1, "frames 2:2");
    assert_refused(program_run("orbits @planets.csv -o @planets.csv"), 1, "planets.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_given_to_make_come_out_of_orbits),
        cmocka_unit_test(test_heliocentric_is_the_default),
        cmocka_unit_test(test_g_of_the_option_is_taken_before_that_of_the_file),
        cmocka_unit_test(test_json_counts_orbits_and_says_what_was_taken),
        cmocka_unit_test(test_records_of_npy_files_keep_the_names_of_the_columns),
        cmocka_unit_test(test_every_frame_of_a_file_has_rows),
        cmocka_unit_test(test_resonance_angles_are_sums_of_longitudes),
        cmocka_unit_test(test_bodies_without_velocities_are_refused),
        cmocka_unit_test(test_wrong_elements_are_wrong_usage),
        cmocka_unit_test(test_wrong_options_of_orbits_are_wrong_usage),
    };
    return cmocka_run_group_tests_name("orbits_cli", tests, NULL, NULL);
}
