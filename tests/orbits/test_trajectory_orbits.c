/* kith orbits of runs in H5MD. */
#include "program.h"
#include "testing.h"
#include "testing_files.h"

#include "testing_hdf5.h"

#include <math.h>
#include <sys/stat.h>

static void make_run(void)
{
    assert_succeeded(program_run("run outer-solar-system --dt 100 --until 20000 --every 50 -q "
                                 "-o @planets.h5"));
}

/* Eight numbers per row. */
static double (*read_table(const char *name, int64_t *rows))[8]
{
    char *text = program_read(name), *at = strchr(text, '\n') + 1;
    double(*table)[8] = calloc(strlen(text), sizeof *table);
    for (*rows = 0; *at; ++*rows)
        for (int k = 0; k < 8; k++) {
            table[*rows][k] = strtod(at, &at);
            at++;
        }
    free(text);
    return table;
}

static void test_every_frame_of_a_run_has_the_orbits_of_its_bodies(void **state)
{
    (void)state;
    make_run();
    assert_succeeded(program_run("orbits @planets.h5 --coordinates jacobi -o @o.csv"));
    int64_t rows = 0;
    double(*table)[8] = read_table("o.csv", &rows);
    assert_int_equal(rows, 5 * 5); /* the times 0, 5000 … 20000 */
    kith_trajectory *trajectory = NULL;
    kith_bodies *bodies = NULL;
    assert_ok(kith_trajectory_open(program_file("planets.h5"), &trajectory));
    for (int64_t frame = 0; frame < 5; frame++) {
        const kith_orbits_options jacobi = {.coordinates = KITH_JACOBI};
        kith_orbit orbits[5];
        assert_ok(kith_trajectory_read(trajectory, frame, &bodies));
        assert_ok(kith_orbits_compute(&jacobi, bodies, orbits));
        for (int64_t k = 0; k < 5; k++) {
            const double *row = table[5 * frame + k];
            assert_true(row[0] == 5000.0 * (double)frame && row[1] == (double)(k + 1));
            assert_true(row[2] == orbits[k].a && row[3] == orbits[k].e && row[4] == orbits[k].i &&
                        row[5] == orbits[k].Omega && row[6] == orbits[k].omega &&
                        row[7] == orbits[k].M);
        }
    }
    kith_bodies_free(bodies);
    kith_trajectory_close(trajectory);
    free(table);
}

static void test_frames_are_chosen_from_a_run(void **state)
{
    (void)state;
    make_run();
    assert_succeeded(program_run("orbits @planets.h5 --frames 2:3 -o @o.csv"));
    int64_t rows = 0;
    double(*table)[8] = read_table("o.csv", &rows);
    assert_int_equal(rows, 2 * 5);
    assert_true(table[0][0] == 5000 && table[9][0] == 10000);
    free(table);
}

static void test_hdf5_output_has_a_dataset_a_column(void **state)
{
    (void)state;
    static const char *const names[] = {"time", "body", "a", "e", "i", "Omega", "omega", "M"};
    make_run();
    assert_succeeded(program_run("orbits @planets.h5 -o @o.csv"));
    assert_succeeded(program_run("orbits @planets.h5 -o @o.h5"));
    int64_t rows = 0;
    double(*table)[8] = read_table("o.csv", &rows);
    const hid_t file = H5Fopen(program_file("o.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int k = 0; k < 8; k++) {
        double column[25];
        const hid_t dataset = H5Dopen2(file, names[k], H5P_DEFAULT);
        assert_true(dataset >= 0);
        assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column) >=
                    0);
        for (int64_t row = 0; row < rows; row++)
            assert_true(column[row] == table[row][k]);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    free(table);
}

/* Body 3 is NaN from frame 2 on, as a run writes a body that was removed. */
static void remove_body(void)
{
    const hid_t file = H5Fopen(program_file("planets.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "particles/trajectory/position/value", H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    const hsize_t start[3] = {2, 3, 0}, count[3] = {3, 1, 3};
    const hid_t memory = H5Screate_simple(3, count, NULL);
    double nans[9];
    for (int k = 0; k < 9; k++)
        nans[k] = NAN;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, nans) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void test_bodies_that_were_removed_are_nan(void **state)
{
    (void)state;
    make_run();
    remove_body();
    const struct program_result *result = program_run("orbits @planets.h5 -o @o.csv --json");
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "removed") == 3);
    assert_true(program_json_number(result->out, "bound") == 22);
    int64_t rows = 0;
    double(*table)[8] = read_table("o.csv", &rows);
    assert_int_equal(rows, 25);
    for (int64_t row = 0; row < rows; row++)
        for (int k = 2; k < 8; k++)
            assert_int_equal(isnan(table[row][k]) != 0, row / 5 >= 2 && table[row][1] == 3);
    char *text = program_read("o.csv");
    assert_non_null(strstr(text, ",3,nan,nan,nan,nan,nan,nan\n"));
    free(text);
    free(table);
}

static void test_an_ensemble_wants_a_system(void **state)
{
    (void)state;
    assert_succeeded(
        program_run("run two-body --ensemble 2 --dt 0.01 --until 0.1 -q -o @ensemble.h5"));
    assert_refused(program_run("orbits @ensemble.h5"), 1, "system");
    assert_succeeded(program_run("orbits @ensemble.h5 --system 1"));
    assert_refused(program_run("orbits @ensemble.h5 --system 2"), 1, "system 2");
}

static void test_g_of_a_run_is_that_of_its_file(void **state)
{
    (void)state;
    make_run();
    const struct program_result *result = program_run("orbits @planets.h5 --json");
    const double k = 0.01720209895;
    assert_true(fabs(program_json_number(result->out, "g") - k * k) < 1e-18);
    assert_succeeded(program_run("run two-body --g 2 --dt 0.01 --until 0.1 -q -o @two.h5"));
    assert_true(program_json_number(program_run("orbits @two.h5 --json")->out, "g") == 2);
}

/* A program in gnuplot's place that keeps its script, and fails. */
static char *script_of(const char *options)
{
    char text[512];
    snprintf(text, sizeof text, "#!/bin/sh\ncat >%s\nexit 1\n", program_file("script"));
    program_write("gnuplot", text);
    chmod(program_file("gnuplot"), 0700);
    setenv("KITH_GNUPLOT", program_file("gnuplot"), 1);
    assert_int_equal(
        program_run("plot @planets.h5 --what elements %s -q -o @e.png", options)->exit_code, 1);
    unsetenv("KITH_GNUPLOT");
    return program_read("script");
}

/* The first point of a planet's curve in a panel, counted from 0. */
static double first_value(const char *script, int panel, int planet)
{
    for (int k = 0; k <= panel; k++)
        script = strstr(script, "<< end_of_elements\n") + strlen("<< end_of_elements\n");
    for (int k = 0; k < planet; k++)
        script = strstr(script, "\n\n\n") + 3;
    double time = NAN, value = NAN;
    assert_int_equal(sscanf(script, "%lf %lf", &time, &value), 2);
    assert_true(time == 0);
    return value;
}

static void test_pictures_of_elements_have_their_values_names_and_units(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_initial_make("outer-solar-system", NULL, &bodies));
    make_run();
    for (int c = 0; c < 2; c++) {
        const kith_orbits_options options = {.coordinates = c ? KITH_JACOBI : KITH_HELIOCENTRIC};
        char *script = script_of(c ? "--coordinates jacobi" : "");
        kith_orbit orbits[5];
        assert_ok(kith_orbits_compute(&options, bodies, orbits));
        for (int k = 0; k < 5; k++) {
            assert_true(fabs(first_value(script, 0, k) - orbits[k].a) < 1e-6 * orbits[k].a);
            assert_true(fabs(first_value(script, 1, k) - orbits[k].e) < 1e-7);
            assert_true(fabs(first_value(script, 2, k) - orbits[k].i * 180 / acos(-1)) < 1e-6);
        }
        assert_non_null(strstr(script, "title \"Jupiter\""));
        assert_non_null(strstr(script, "(AU)"));
        assert_non_null(strstr(script, "day)"));
        free(script);
    }
    kith_bodies_free(bodies);
}

/* A body that is not bound has an eccentricity and no size. */
static void test_pictures_of_elements_leave_out_what_there_is_not(void **state)
{
    (void)state;
    assert_succeeded(program_run("make planets --elements 0,1,0.5,0,0,0,0 --elements "
                                 "0,-1,1.5,0,0,0,0 -q -o @comet.csv"));
    assert_succeeded(program_run("run @comet.csv --dt 0.01 --until 0.1 -q -o @planets.h5"));
    char *script = script_of("");
    assert_non_null(strstr(script, "\n0 1\n"));
    assert_non_null(strstr(script, "\n0 NaN\n"));
    assert_true(fabs(first_value(script, 1, 1) - 1.5) < 1e-7);
    free(script);
    assert_refused(program_run("plot @planets.h5 --what elements --coordinates x -o @e.png"), 2,
                   "heliocentric");
    assert_succeeded(program_run("make planets -q -o @star.h5"));
    assert_refused(program_run("plot @star.h5 --what elements -o @e.png"), 1, "1 bodies");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_frame_of_a_run_has_the_orbits_of_its_bodies),
        cmocka_unit_test(test_frames_are_chosen_from_a_run),
        cmocka_unit_test(test_hdf5_output_has_a_dataset_a_column),
        cmocka_unit_test(test_bodies_that_were_removed_are_nan),
        cmocka_unit_test(test_pictures_of_elements_have_their_values_names_and_units),
        cmocka_unit_test(test_pictures_of_elements_leave_out_what_there_is_not),
        cmocka_unit_test(test_an_ensemble_wants_a_system),
        cmocka_unit_test(test_g_of_a_run_is_that_of_its_file),
    };
    return cmocka_run_group_tests_name("trajectory_orbits", tests, NULL, NULL);
}
