/* Runs of ias15 into files: when there are frames, and resuming. */

#include "testing.h"

#include "running.h"

static kith_bodies *comet(void)
{
    return made("two-body", (kith_initial_options){.eccentricity = 0.9});
}

static kith_run_options adaptive(double dt, double until, const char *output)
{
    kith_run_options options = run_options(dt, until, 0, output);
    options.simulation.integrator = "ias15";
    return options;
}

static void assert_times(const char *path, double every, double until)
{
    int64_t frames = 0;
    double *times = frame_times(path, &frames);
    assert_int_equal(frames, (int64_t)ceil(until / every - 1e-6) + 1);
    for (int64_t k = 0; k < frames; k++)
        assert_true(times[k] == (k + 1 < frames ? (double)k * every : until));
    free(times);
}

static void test_frames_are_at_equal_times(void **state)
{
    (void)state;
    kith_bodies *bodies = comet();
    kith_run_options options = adaptive(0.01, 10, in_files("times.h5"));
    options.every_time = 0.1;
    const kith_run_summary summary = run(options, bodies);
    assert_times(options.output, 0.1, 10);
    assert_true(summary.time == 10 && summary.max_relative_energy_error < 1e-13);
    assert_true(summary.dt == 0.01 && summary.dt_min <= 0.01 && summary.dt_max > 0.01);
    assert_int_equal(summary.body_steps, 2 * summary.steps);
    assert_true(summary.evaluations > 14 * summary.steps);
    options.until = 0.35;
    run(options, bodies);
    assert_times(options.output, 0.1, 0.35);
    kith_bodies_free(bodies);
}

static kith_run_summary end_of(double every_time, const kith_bodies *bodies, kith_bodies **end)
{
    kith_run_options options = adaptive(0.01, 30, in_files("every.h5"));
    options.every_time = every_time;
    assert_ok(kith_bodies_create(bodies->count, bodies->dimensions, KITH_VELOCITY, end));
    options.last = *end;
    return run(options, bodies);
}

/* None, less than one, and several a step. */
static void test_frames_at_equal_times_change_no_bit_of_what_comes_after(void **state)
{
    (void)state;
    static const double times[] = {0.1, 30, 1.7, 0.003};
    kith_bodies *bodies = comet(), *expected = NULL;
    const kith_run_summary without = end_of(0, bodies, &expected);
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        kith_bodies *end = NULL;
        const kith_run_summary with = end_of(times[k], bodies, &end);
        assert_same_state(expected, end);
        assert_int_equal(with.steps, without.steps);
        assert_true(with.evaluations == without.evaluations && with.dt_min == without.dt_min);
        assert_true(with.max_relative_energy_error < 1e-13);
        assert_times(in_files("every.h5"), times[k], 30);
        kith_bodies_free(end);
    }
    kith_bodies_free(expected);
    kith_bodies_free(bodies);
}

/* As accurate as ends of steps: the comet is on its orbit. */
static void test_a_frame_within_a_step_is_where_it_should_be(void **state)
{
    (void)state;
    kith_bodies *bodies = comet();
    kith_run_options options = adaptive(0.01, 20, in_files("within.h5"));
    options.every_time = 0.01;
    run(options, bodies);
    kith_trajectory *trajectory = NULL;
    assert_ok(kith_trajectory_open(options.output, &trajectory));
    assert_int_equal(kith_trajectory_frames(trajectory), 2001);
    for (int64_t frame = 0; frame < 2001; frame += 13) {
        kith_bodies *now = NULL;
        assert_ok(kith_trajectory_read(trajectory, frame, &now));
        assert_true(kepler_error(now, 0.9, now->time) < 1e-12);
        kith_bodies_free(now);
    }
    kith_trajectory_close(trajectory);
    kith_bodies_free(bodies);
}

/* Collisions are at the ends of steps, and so are frames then. */
static void test_steps_of_runs_with_collisions_end_at_frames(void **state)
{
    (void)state;
    kith_bodies *bodies = comet();
    kith_run_options options = adaptive(0.01, 10, in_files("steps.h5"));
    const int64_t steps = run(options, bodies).steps;
    options.every_time = 0.01;
    options.simulation.escape = 1e6;
    assert_true(run(options, bodies).steps > 2 * steps);
    assert_times(options.output, 0.01, 10);
    kith_bodies_free(bodies);
}

static void test_a_fixed_step_goes_to_frames_at_equal_times_if_it_divides_them(void **state)
{
    (void)state;
    kith_bodies *bodies = comet();
    kith_run_options options = run_options(0.01, 2, 0, in_files("fixed.h5"));
    options.every_time = 0.1;
    const kith_run_summary summary = run(options, bodies);
    assert_int_equal(frames_of(options.output), 21);
    assert_true(summary.dt_min == 0.01 && summary.dt_max == 0.01);
    options.every_time = 0.015;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "0.015 1.5");
    options.every = 3;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "every 3 0.015");
    options.every = 0;
    options.every_time = -1;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "-1");
    kith_bodies_free(bodies);
}

/* They do not change the steps. */
static void test_frames_come_every_k_steps_or_about_a_thousand_times(void **state)
{
    (void)state;
    kith_bodies *bodies = comet();
    kith_run_options options = adaptive(0.01, 1000, in_files("steps.h5"));
    const kith_run_summary all = run(options, bodies);
    const int64_t frames = frames_of(options.output);
    assert_true(all.steps > 5000 && frames > 800 && frames <= 1001);
    options.every = 100;
    const kith_run_summary some = run(options, bodies);
    assert_int_equal(frames_of(options.output), some.steps / 100 + 1 + (some.steps % 100 > 0));
    assert_true(some.steps == all.steps && some.energy_final == all.energy_final);
    kith_bodies_free(bodies);
}

/* Interrupted at any time, three times. */
static int resume_three_times(struct random_numbers *numbers, kith_run_options options,
                              const kith_bodies *bodies)
{
    const char *whole = in_files("whole.h5"), *pieces = in_files("pieces.h5");
    int interruptions = 0;
    options.output = whole;
    const kith_run_summary undisturbed = run(options, bodies);
    options.output = pieces;
    options.resume = true;
    remove(pieces);
    for (int k = 0; k < 3; k++)
        interruptions +=
            run_and_cancel(options, bodies, random_uniform(numbers, 0, undisturbed.seconds / 2))
                .interrupted;
    const kith_run_summary summary = run(options, bodies);
    assert_same_files(whole, pieces, "none");
    assert_int_equal(summary.steps, undisturbed.steps);
    assert_true(summary.dt_min == undisturbed.dt_min && summary.dt_max == undisturbed.dt_max);
    assert_true(summary.max_relative_energy_error == undisturbed.max_relative_energy_error);
    return interruptions;
}

static void test_resume_goes_on_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("resume");
    kith_bodies *bodies = comet();
    kith_run_options options = adaptive(0.01, 20000.00033, NULL);
    int interruptions = resume_three_times(&numbers, options, bodies);
    options.every = 70;
    interruptions += resume_three_times(&numbers, options, bodies);
    options.every = 0;
    options.every_time = 12.3;
    interruptions += resume_three_times(&numbers, options, bodies);
    options.until = 300.00033;
    options.every_time = 0.011;
    interruptions += resume_three_times(&numbers, options, bodies);
    assert_true(interruptions > 0);

    options.output = in_files("pieces.h5");
    options.resume = true;
    options.every_time = 5;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "5");
    options.every_time = 0;
    options.until = 301;
    assert_true(run(options, bodies).time == 301);
    options.until = 3;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "until 3");
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_at_equal_times),
        cmocka_unit_test(test_frames_at_equal_times_change_no_bit_of_what_comes_after),
        cmocka_unit_test(test_a_frame_within_a_step_is_where_it_should_be),
        cmocka_unit_test(test_steps_of_runs_with_collisions_end_at_frames),
        cmocka_unit_test(test_a_fixed_step_goes_to_frames_at_equal_times_if_it_divides_them),
        cmocka_unit_test(test_frames_come_every_k_steps_or_about_a_thousand_times),
        cmocka_unit_test(test_resume_goes_on_bit_for_bit),
    };
    return cmocka_run_group_tests_name("run ias15", tests, make_files_directory,
                                       remove_files_directory);
}
