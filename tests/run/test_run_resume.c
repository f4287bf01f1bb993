#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "running.h"

/* Cancels a run at random moments, resumes it each time, and compares it with one left alone.
 * Returns how often it was cancelled before its end. */
static int assert_resumes_bit_for_bit(struct random_numbers *numbers, kith_run_options options,
                                      const kith_bodies *bodies)
{
    const char *whole = in_files("whole.h5"), *pieces = in_files("pieces.h5");
    options.output = whole;
    const kith_run_summary undisturbed = run(options, bodies);

    options.output = pieces;
    options.resume = true;
    remove(pieces);
    int interruptions = 0;
    for (int k = 0; k < 3; k++) {
        const double seconds = random_uniform(numbers, 0, undisturbed.seconds / 2);
        interruptions += run_and_cancel(options, bodies, seconds).interrupted;
    }
    const kith_run_summary summary = run(options, bodies);
    assert_same_files(whole, pieces, "none");
    assert_int_equal(summary.steps, undisturbed.steps);
    assert_true(summary.energy_initial == undisturbed.energy_initial);
    assert_true(summary.energy_final == undisturbed.energy_final);
    assert_true(summary.max_relative_energy_error == undisturbed.max_relative_energy_error);
    assert_true(summary.momentum_error == undisturbed.momentum_error);
    return interruptions;
}

static void test_a_run_goes_on_with_the_solver_that_it_was_begun_with(void **state)
{
    (void)state;
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    const kith_solver *reference = NULL;
    assert_ok(kith_solver_find("reference", &reference));
    kith_run_options options = run_options(0.1, 1, 1, in_files("solver.h5"));
    options.simulation.forces.solver = reference;
    assert_string_equal(run(options, bodies).solver, "reference");
    options.resume = true;
    options.until = 2;
    options.simulation.forces.solver = NULL;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "solver direct");
    const kith_run_summary summary =
        run((kith_run_options){.output = options.output, .until = 2, .resume = true}, NULL);
    assert_string_equal(summary.solver, "reference");
    assert_int_equal(summary.steps, 20);
    kith_bodies_free(bodies);
}

/* Forces of the last step are not in a checkpoint with their potentials. */
static void test_frames_after_a_resume_have_the_energies_of_an_undisturbed_run(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("resume by fmm");
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 400, .seed = 3});
    for (int every = 1; every <= 10; every += 9)
        for (int k = 0; k < 2; k++) {
            kith_run_options options = run_options(0.01, 0.4, every, NULL);
            options.simulation.precision = k == 0 ? KITH_F64 : KITH_F32;
            options.simulation.forces.softening = 0.02;
            options.simulation.forces.solver = solver_named("fmm");
            options.simulation.forces.accuracy.error = 1e-3;
            assert_resumes_bit_for_bit(&numbers, options, bodies);
        }
    kith_bodies_free(bodies);
}

static void test_resume_goes_on_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("resume");
    int64_t integrators = 0;
    int interruptions = 0;
    const kith_integrator *list = kith_integrator_list(&integrators);
    kith_bodies *bodies = lagrange_bodies();
    for (int64_t k = 0; k < integrators; k++) {
        if (list[k].adaptive)
            continue; /* test_run_ias15.c */
        kith_run_options options = run_options(0.001, 20.00033, 70, NULL);
        options.simulation.integrator = list[k].name;
        options.simulation.forces.softening = list[k].central ? 0 : 0.1;
        const bool is_whfast = strcmp(list[k].name, "whfast") == 0;
        options.simulation.corrector = is_whfast ? 5 : 0;
        options.simulation.kernel = is_whfast ? "lazy" : NULL;
        interruptions += assert_resumes_bit_for_bit(&numbers, options, bodies);
        if (list[k].central)
            continue;
        options.simulation.precision = KITH_F32;
        interruptions += assert_resumes_bit_for_bit(&numbers, options, bodies);
    }
    assert_true(interruptions > 0);
    kith_bodies_free(bodies);
}

static void test_resume_in_the_plane_goes_on_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("resume in the plane");
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 2, KITH_VELOCITY | KITH_SOFTENING, &bodies));
    bodies->position[0] = 1;
    bodies->velocity[1] = 0.5;
    bodies->softening[0] = 0.1;
    kith_run_options options = run_options(0.001, 30, 110, NULL);
    options.simulation.softening_of_bodies = true;
    assert_resumes_bit_for_bit(&numbers, options, bodies);
    kith_bodies_free(bodies);
}

static void test_resume_begins_where_the_run_was_cancelled_also_far_from_a_frame(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(1e-9, 1000, 1000000000, in_files("far.h5"));
    options.checkpoint_seconds = 0.001;
    kith_run_summary cancelled = {0};
    for (int k = 1; cancelled.steps == 0 && k < 100; k++) {
        remove(options.output); /* of a run that a busy machine did not begin in time */
        cancelled = run_and_cancel(options, bodies, 0.2 * k);
    }
    options.resume = true;
    kith_run_summary resumed = {0};
    for (int k = 1; !resumed.interrupted && k < 100; k++) /* at first before it has begun */
        resumed = run_and_cancel(options, bodies, 0.01 * k);
    assert_true(cancelled.interrupted && cancelled.steps > 0);
    assert_int_equal(resumed.steps_resumed, cancelled.steps);
    kith_bodies_free(bodies);
}

/* Steps and frames take so long that most cancellations come in the middle of one. */
static void test_resume_goes_on_bit_for_bit_after_a_cancelled_step(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("cancelled_steps");
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 6000});
    kith_run_options options = run_options(0.001, 0.0145, 3, NULL);
    options.simulation.forces.softening = 0.1;
    int interruptions = assert_resumes_bit_for_bit(&numbers, options, bodies);
    options.simulation.integrator = "hermite4";
    interruptions += assert_resumes_bit_for_bit(&numbers, options, bodies);
    assert_true(interruptions > 0);
    kith_bodies_free(bodies);
}

/* The polls of a call until it is cancelled; or forever. */
struct polls {
    int64_t left;
    const char *wait_for; /* a file that must be there, or NULL */
};

static bool cancel_at_last(void *user)
{
    struct polls *polls = user;
    if (polls->wait_for && access(polls->wait_for, F_OK) != 0)
        return false;
    return --polls->left < 0;
}

static kith_status run_with_polls(kith_run_options options, const kith_bodies *bodies,
                                  struct polls polls)
{
    kith_context *context = cpu_context(1);
    kith_context_set_poll(context, cancel_at_last, &polls);
    const kith_status status = kith_run(context, &options, bodies, NULL);
    kith_context_free(context);
    return status;
}

/* What is resumed from step 0 has to evaluate its first frame again. */
static void test_a_resume_that_is_cancelled_before_its_first_frame_loses_nothing(void **state)
{
    (void)state;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 7000});
    kith_run_options options = run_options(0.001, 0.001, 1, in_files("start.h5"));
    assert_ok(kith_solver_find("reference", &options.simulation.forces.solver));
    options.checkpoint_seconds = 1e-9;
    options.resume = true;
    assert_int_equal(run_with_polls(options, bodies, (struct polls){0, options.output}),
                     KITH_CANCELLED);
    int64_t frames = 0, cancelled = 0;
    for (int64_t polls = 0; polls < 1000; polls += polls / 2 + 1) {
        const kith_status status = run_with_polls(options, bodies, (struct polls){polls, NULL});
        free(frame_times(options.output, &frames));
        assert_true(frames > 0);
        if (status == KITH_OK)
            break;
        assert_int_equal(status, KITH_CANCELLED);
        cancelled++;
    }
    assert_true(cancelled > 0);
    assert_int_equal(frames, 2);
    kith_bodies_free(bodies);
}

static int64_t size_of(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return found.st_size;
}

static void test_checkpoints_do_not_make_the_file_grow(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(1e-5, 30, 5000, in_files("once.h5"));
    options.checkpoint_seconds = 1000;
    run(options, bodies);
    options.output = in_files("often.h5");
    options.checkpoint_seconds = 0.001;
    run(options, bodies);
    assert_same_files(in_files("once.h5"), in_files("often.h5"), "none");
    assert_int_equal(size_of(in_files("often.h5")), size_of(in_files("once.h5")));
    kith_bodies_free(bodies);
}

static void test_resume_to_a_later_time_is_as_if_it_had_been_meant_from_the_start(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    /* The first end has a frame of its own, or one that is due, at a time that rounds or not. */
    static const double ends[] = {0.3, 0.7, 1.1, 1.6};
    for (size_t k = 0; k < 4; k++) {
        kith_run_options options = run_options(0.1, 2.3, 3, in_files("once.h5"));
        run(options, bodies);
        options.output = in_files("twice.h5");
        options.until = ends[k];
        run(options, bodies);
        options.until = 2.3;
        options.resume = true;
        run(options, bodies);
        assert_same_files(in_files("once.h5"), in_files("twice.h5"), "none");
    }
    kith_bodies_free(bodies);
}

static void test_resume_after_a_shorter_last_step_goes_on_from_there(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.1, 0.25, 1, in_files("shorter.h5"));
    run(options, bodies);
    options.until = 0.6;
    options.resume = true;
    const kith_run_summary summary = run(options, bodies);
    assert_int_equal(summary.steps, 7);
    int64_t frames = 0;
    double *times = frame_times(options.output, &frames);
    static const double expected[] = {0, 0.1, 0.2, 0.25, 0.35, 0.45, 0.55, 0.6};
    assert_int_equal(frames, 8);
    for (int64_t frame = 0; frame < frames; frame++)
        assert_true(fabs(times[frame] - expected[frame]) < 1e-15);
    assert_true(times[7] == 0.6);
    free(times);
    kith_bodies_free(bodies);
}

static void test_resume_of_a_finished_run_changes_nothing(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.1, 1.05, 3, in_files("first.h5"));
    const kith_run_summary first = run(options, bodies);
    options.output = in_files("finished.h5");
    run(options, bodies);
    options.resume = true;
    const kith_run_summary summary = run(options, bodies);
    assert_same_files(in_files("first.h5"), in_files("finished.h5"), "none");
    assert_true(summary.steps == first.steps && summary.energy_final == first.energy_final);
    assert_int_equal(summary.evaluations, 0);
    kith_bodies_free(bodies);
}

static void test_resume_without_bodies_takes_everything_from_the_file(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.001, 30, 7, in_files("whole.h5"));
    options.simulation = (kith_simulation_options){.dt = 0.001,
                                                   .integrator = "hermite4",
                                                   .forces.gravitational_constant = 0.5,
                                                   .forces.softening = 0.01,
                                                   .precision = KITH_F32};
    const double seconds = run(options, bodies).seconds;
    options.output = in_files("bare.h5");
    run_and_cancel(options, bodies, seconds / 2);
    const kith_run_summary summary =
        run((kith_run_options){.output = options.output, .resume = true}, NULL);
    assert_string_equal(summary.integrator, "hermite4");
    assert_same_files(in_files("whole.h5"), options.output, "none");
    kith_bodies_free(bodies);
}

static void test_resume_starts_from_the_bodies_if_there_is_no_output(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.1, 1, 1, in_files("fresh.h5"));
    options.resume = true;
    assert_int_equal(run(options, bodies).steps_resumed, 0);
    options.output = in_files("nowhere.h5");
    run_fails(options, NULL, KITH_INVALID_ARGUMENT, "nowhere.h5");
    options.output = NULL;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "resume");
    kith_bodies_free(bodies);
}

static void test_resume_names_what_differs(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options good = run_options(0.1, 1, 2, in_files("differs.h5"));
    run(good, bodies);
    size_t bytes = 0, bytes_after = 0;
    char *before = content_of(good.output, &bytes);

    good.resume = true;
    kith_run_options bad = good;
    bad.simulation.dt = 0.2;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "dt 0.2");
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "0.1");
    bad = good;
    bad.simulation.integrator = "yoshida4";
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "integrator yoshida4 yoshida4");
    bad = good;
    bad.simulation.forces.softening = 1;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "softening 1");
    bad = good;
    bad.simulation.forces.gravitational_constant = 2;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "2");
    bad = good;
    bad.simulation.precision = KITH_F32;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "precision single");
    bad = good;
    bad.every = 3;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "every 3");
    bad = good;
    bad.until = 0.5;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "until 0.5");
    bodies->velocity[3] = nextafter(bodies->velocity[3], 10);
    run_fails(good, bodies, KITH_INVALID_ARGUMENT, "body 1");
    bodies->mass[2] = 7;
    bodies->velocity[3] = nextafter(bodies->velocity[3], -10);
    run_fails(good, bodies, KITH_INVALID_ARGUMENT, "body 2 7");

    char *after = content_of(good.output, &bytes_after);
    assert_int_equal(bytes, bytes_after);
    assert_memory_equal(before, after, bytes);
    free(before);
    free(after);
    kith_bodies_free(bodies);
}

static void test_resume_refuses_files_that_no_run_wrote(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.1, 1, 1, in_files("bodies.h5"));
    options.resume = true;
    assert_ok(kith_bodies_write(bodies, options.output, NULL));
    run_fails(options, bodies, KITH_BAD_FORMAT, "checkpoint");
    options.output = file_of_text("text.h5", "hello");
    run_fails(options, bodies, KITH_BAD_FORMAT, "HDF5");
    assert_content(options.output, "hello");

    options.output = in_files("version.h5");
    run(options, bodies);
    const int64_t format = 2;
    const hid_t file = H5Fopen(options.output, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/parameters/kith/checkpoint/format", H5P_DEFAULT);
    put_data(file, "/parameters/kith/checkpoint/format", H5T_STD_I64LE, H5T_NATIVE_INT64,
             (int[]){-1}, &format);
    H5Fclose(file);
    run_fails(options, bodies, KITH_BAD_FORMAT, "checkpoint 2");
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_goes_on_with_the_solver_that_it_was_begun_with),
        cmocka_unit_test(test_frames_after_a_resume_have_the_energies_of_an_undisturbed_run),
        cmocka_unit_test(test_resume_goes_on_bit_for_bit),
        cmocka_unit_test(test_resume_in_the_plane_goes_on_bit_for_bit),
        cmocka_unit_test(test_resume_goes_on_bit_for_bit_after_a_cancelled_step),
        cmocka_unit_test(test_a_resume_that_is_cancelled_before_its_first_frame_loses_nothing),
        cmocka_unit_test(test_checkpoints_do_not_make_the_file_grow),
        cmocka_unit_test(test_resume_begins_where_the_run_was_cancelled_also_far_from_a_frame),
        cmocka_unit_test(test_resume_to_a_later_time_is_as_if_it_had_been_meant_from_the_start),
        cmocka_unit_test(test_resume_after_a_shorter_last_step_goes_on_from_there),
        cmocka_unit_test(test_resume_of_a_finished_run_changes_nothing),
        cmocka_unit_test(test_resume_without_bodies_takes_everything_from_the_file),
        cmocka_unit_test(test_resume_starts_from_the_bodies_if_there_is_no_output),
        cmocka_unit_test(test_resume_names_what_differs),
        cmocka_unit_test(test_resume_refuses_files_that_no_run_wrote),
    };
    return cmocka_run_group_tests_name("run_resume", tests, make_files_directory,
                                       remove_files_directory);
}
