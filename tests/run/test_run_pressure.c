/* Runs that record temperature, pressure and virial more often than frames. */

#include "testing.h"

#include <hdf5.h>

#include "running.h"

enum { count = 108, steps = 1100 }; /* more than a chunk of rows */

static kith_bodies *atoms(void)
{
    return made("fcc", (kith_initial_options){
                           .count = count, .density = 0.8442, .temperature = 1.2, .seed = 11});
}

static kith_run_options options_of(const kith_law *law, int64_t until, int64_t every,
                                   int64_t pressure_every, const char *output)
{
    kith_run_options options =
        run_options(1.0 / 512, (double)until / 512, every, output); /* times are exact */
    options.simulation.forces.law = law;
    options.simulation.forces.cutoff = 2.2;
    options.pressure_every = pressure_every;
    return options;
}

/* A dataset below parameters/kith/pressure. */
static int64_t read_pressures(const char *path, const char *name, hid_t type, void *to)
{
    hsize_t size[2] = {0, 1};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t group = H5Gopen2(file, "/parameters/kith/pressure", H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    assert_true(dataset >= 0);
    H5Sget_simple_extent_dims(space, size, NULL);
    assert_true(size[0] <= steps + 1 && size[1] <= 9);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Gclose(group);
    H5Fclose(file);
    return (int64_t)size[0];
}

/* Against the observables of a run with a frame at every step. */
static void test_pressures_are_those_of_frames_at_the_same_steps(void **state)
{
    (void)state;
    enum { until = 60, every = 7 };
    static const char *const names[] = {"temperature", "pressure", "virial"};
    kith_law *law = NULL;
    kith_bodies *bodies = atoms();
    double values[9 * (steps + 1)], time[steps + 1];
    int64_t step[steps + 1];
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    run(options_of(law, until, 1, 0, in_files("frames.h5")), bodies);
    run(options_of(law, until, 25, every, in_files("few.h5")), bodies);
    const int64_t rows = read_pressures(in_files("few.h5"), "step", H5T_NATIVE_INT64, step);
    assert_int_equal(rows, until / every + 1);
    assert_int_equal(read_pressures(in_files("few.h5"), "time", H5T_NATIVE_DOUBLE, time), rows);
    for (int64_t row = 0; row < rows; row++) {
        assert_int_equal(step[row], row * every);
        assert_true(time[row] == (double)step[row] / 512);
    }
    kith_trajectory *trajectory = NULL;
    assert_ok(kith_trajectory_open(in_files("frames.h5"), &trajectory));
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        int64_t components = 0;
        double *observed = NULL;
        assert_ok(kith_trajectory_observable(trajectory, names[k], &components, &observed, NULL));
        assert_int_equal(read_pressures(in_files("few.h5"), names[k], H5T_NATIVE_DOUBLE, values),
                         rows);
        for (int64_t row = 0; row < rows; row++)
            assert_memory_equal(values + row * components, observed + step[row] * components,
                                (size_t)components * sizeof *values);
        free(observed);
    }
    kith_trajectory_close(trajectory);
    kith_bodies *last = read_file(in_files("few.h5")); /* frames are as without it */
    assert_true(last->time == (double)until / 512);
    kith_bodies_free(last);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void test_resumed_runs_go_on_recording(void **state)
{
    (void)state;
    static const int64_t every[] = {1, 3};
    kith_law *law = NULL;
    kith_bodies *bodies = atoms();
    int64_t step[steps + 1];
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    for (int k = 0; k < 2; k++) {
        run(options_of(law, steps, 100, every[k], in_files("whole.h5")), bodies);
        run(options_of(law, 350, 100, every[k], in_files("pieces.h5")), bodies);
        kith_run_options rest = {.output = in_files("pieces.h5"), .resume = true};
        static const double ends[] = {1029, steps}; /* one within the second chunk */
        for (int piece = 0; piece < 2; piece++) {
            rest.until = ends[piece] / 512;
            run(rest, NULL);
        }
        assert_int_equal(read_pressures(in_files("pieces.h5"), "step", H5T_NATIVE_INT64, step),
                         steps / every[k] + 1);
        for (int64_t row = 0; row <= steps / every[k]; row++)
            assert_int_equal(step[row], row * every[k]);
        double of_whole[9 * (steps + 1)], of_pieces[9 * (steps + 1)];
        const int64_t rows =
            read_pressures(in_files("whole.h5"), "virial", H5T_NATIVE_DOUBLE, of_whole);
        read_pressures(in_files("pieces.h5"), "virial", H5T_NATIVE_DOUBLE, of_pieces);
        assert_memory_equal(of_whole, of_pieces, (size_t)rows * 9 * sizeof(double));
        rest.until = 3;
        rest.pressure_every = 2;
        run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "pressure-every 2");
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void test_wrong_cadences_are_refused(void **state)
{
    (void)state;
    kith_law *law = NULL;
    kith_bodies *bodies = atoms();
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    kith_run_options options = options_of(law, 10, 1, -3, in_files("none.h5"));
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "pressure-every -3");
    options.pressure_every = 3;
    options.simulation.integrator = "ias15";
    run_fails(options, bodies, KITH_UNSUPPORTED, "pressure-every 3 ias15");
    options.simulation.integrator = NULL;
    options.simulation.forces.cutoff = 0;
    for (int k = 0; k < 3; k++)
        bodies->periodic[k] = false;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "pressure-every 3 cutoff");
    kith_law_free(law);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pressures_are_those_of_frames_at_the_same_steps),
        cmocka_unit_test(test_resumed_runs_go_on_recording),
        cmocka_unit_test(test_wrong_cadences_are_refused),
    };
    return cmocka_run_group_tests_name("run_pressure", tests, make_files_directory,
                                       remove_files_directory);
}
