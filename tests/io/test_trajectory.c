#include "testing.h"

#include "running.h"

static void test_trajectory_reads_every_frame_of_a_run(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    run(run_options(0.1, 2, 4, in_files("run.h5")), bodies);
    kith_trajectory *trajectory = NULL;
    kith_bodies *frame = NULL;
    assert_ok(kith_trajectory_open(in_files("run.h5"), &trajectory));
    assert_int_equal(kith_trajectory_frames(trajectory), 6);
    for (int64_t k = 5; k >= 0; k--) {
        const kith_bodies *const earlier = frame;
        assert_ok(kith_trajectory_read(trajectory, k, &frame));
        assert_true(!earlier || frame == earlier);
        assert_true(fabs(frame->time - 0.4 * (double)k) < 1e-15);
    }
    assert_same_state(frame, bodies);
    assert_memory_equal(frame->mass, bodies->mass, 3 * sizeof *frame->mass);
    kith_bodies_free(frame);
    kith_trajectory_close(trajectory);
    kith_bodies_free(bodies);
}

static void test_trajectory_of_single_precision_is_widened(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.1, 0, 1, in_files("single.h5"));
    options.simulation.precision = KITH_F32;
    run(options, bodies);
    kith_bodies *frame = read_file(options.output);
    for (int k = 0; k < 9; k++)
        assert_true(frame->position[k] == (double)(float)bodies->position[k]);
    kith_bodies_free(frame);
    kith_bodies_free(bodies);
}

static void test_trajectory_has_observables_of_one_and_three_numbers(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    run(run_options(0.1, 2, 4, in_files("observed.h5")), bodies);
    kith_trajectory *trajectory = NULL;
    double *values = NULL, *times = NULL;
    int64_t components = 0;
    assert_ok(kith_trajectory_open(in_files("observed.h5"), &trajectory));
    assert_ok(
        kith_trajectory_observable(trajectory, "angular_momentum", &components, &values, &times));
    assert_int_equal(components, 3);
    for (int k = 0; k < 6; k++) {
        assert_true(times[k] == 0.4 * k || fabs(times[k] - 0.4 * k) < 1e-15);
        assert_true(fabs(values[3 * k + 2] - values[2]) < 1e-14);
    }
    free(values);
    free(times);
    assert_fails(kith_trajectory_observable(trajectory, "beauty", &components, &values, &times),
                 KITH_BAD_FORMAT, "/observables/beauty/value");
    assert_null(values);
    assert_null(times);
    kith_trajectory_close(trajectory);
    kith_bodies_free(bodies);
}

static void test_trajectory_refuses_frames_that_are_not_there(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies(), *frame = NULL;
    run(run_options(0.1, 2, 4, in_files("six.h5")), bodies);
    kith_trajectory *trajectory = NULL;
    assert_ok(kith_trajectory_open(in_files("six.h5"), &trajectory));
    assert_fails(kith_trajectory_read(trajectory, 6, &frame), KITH_INVALID_ARGUMENT, "frame 6");
    assert_fails(kith_trajectory_read(trajectory, -1, &frame), KITH_INVALID_ARGUMENT, "frame -1");
    assert_null(frame);
    kith_bodies *others = made("two-body", (kith_initial_options){0});
    assert_fails(kith_trajectory_read(trajectory, 0, &others), KITH_INVALID_ARGUMENT, "trajectory");
    kith_bodies_free(others);
    kith_trajectory_close(trajectory);
    kith_bodies_free(bodies);
}

static void test_trajectory_refuses_what_is_none(void **state)
{
    (void)state;
    kith_trajectory *trajectory = NULL;
    assert_fails(kith_trajectory_open(in_files("nowhere.h5"), &trajectory), KITH_IO_ERROR,
                 "nowhere.h5");
    assert_null(trajectory);
    assert_fails(kith_trajectory_open(file_of_text("text.h5", "text"), &trajectory),
                 KITH_BAD_FORMAT, "text.h5 HDF5");
    assert_null(trajectory);
    kith_trajectory_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trajectory_reads_every_frame_of_a_run),
        cmocka_unit_test(test_trajectory_of_single_precision_is_widened),
        cmocka_unit_test(test_trajectory_has_observables_of_one_and_three_numbers),
        cmocka_unit_test(test_trajectory_refuses_frames_that_are_not_there),
        cmocka_unit_test(test_trajectory_refuses_what_is_none),
    };
    return cmocka_run_group_tests_name("trajectory", tests, make_files_directory,
                                       remove_files_directory);
}
