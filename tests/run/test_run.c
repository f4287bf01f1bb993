#include "testing.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "running.h"

static void test_run_frames_go_from_the_start_to_until_exactly(void **state)
{
    (void)state;
    /* dt divides until, does so only up to rounding, does not; every divides the steps or not. */
    static const struct {
        double dt, until;
        int64_t every, frames;
    } cases[] = {{0.25, 2, 2, 5},  {0.25, 2, 3, 4}, {0.1, 0.3, 1, 4}, {0.1, 0.35, 2, 3},
                 {0.1, 2, 100, 2}, {0.25, 0, 1, 1}, {0.3, 0.1, 1, 2}, {0.001, 1.0005, 7, 144}};
    kith_bodies *bodies = lagrange_bodies();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const char *path = in_files("frames.h5");
        const kith_run_summary summary =
            run(run_options(cases[k].dt, cases[k].until, cases[k].every, path), bodies);
        int64_t frames = 0;
        double *times = frame_times(path, &frames);
        assert_int_equal(frames, cases[k].frames);
        assert_true(times[0] == 0);
        assert_true(times[frames - 1] == cases[k].until && summary.time == cases[k].until);
        for (int64_t frame = 1; frame < frames; frame++)
            assert_true(times[frame] > times[frame - 1]);
        free(times);
    }
    kith_bodies_free(bodies);
}

static void test_run_hands_over_its_last_state(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies(), *last = NULL, *few = NULL;
    assert_ok(kith_bodies_create(bodies->count, bodies->dimensions, KITH_VELOCITY, &last));
    assert_ok(kith_bodies_create(1, bodies->dimensions, KITH_VELOCITY, &few));
    kith_run_options options = run_options(0.01, 0.105, 50, NULL);
    options.last = last;
    run(options, bodies);
    assert_true(last->time == 0.105); /* until, however many steps of dt that are */
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = simulated(context, bodies, options.simulation);
    assert_ok(kith_simulation_step(simulation, 10));
    kith_bodies *before = state_of(simulation, bodies);
    assert_memory_not_equal(last->position, before->position,
                            sizeof(double) * (size_t)(3 * bodies->count));
    options.until = 0.1;
    run(options, bodies);
    assert_same_state(last, before);
    options.last = few;
    assert_fails(kith_run(context, &options, bodies, NULL), KITH_INVALID_ARGUMENT, "bodies");
    kith_bodies_free(before);
    kith_bodies_free(few);
    kith_bodies_free(last);
    kith_bodies_free(bodies);
    kith_simulation_free(simulation);
    kith_context_free(context);
}

/* A momentum that is there from the beginning is no error. */
static void test_run_of_drifting_bodies_keeps_their_momentum(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    for (int64_t i = 0; i < bodies->count; i++)
        bodies->velocity[bodies->dimensions * i] += 3;
    const kith_run_summary summary =
        run(run_options(0.01, 0.5, 10, in_files("drifting.h5")), bodies);
    assert_true(summary.momentum_error < 1e-13);
    kith_bodies_free(bodies);
}

static void test_run_gives_the_states_and_energies_of_the_simulation(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.01, 1, 50, in_files("states.h5"));
    options.simulation.integrator = "yoshida4";
    const kith_run_summary summary = run(options, bodies);

    kith_context *context = cpu_context(1);
    kith_simulation *simulation = simulated(context, bodies, options.simulation);
    kith_trajectory *trajectory = NULL;
    kith_bodies *found = NULL;
    int64_t components = 0;
    double *energies = NULL;
    assert_ok(kith_trajectory_open(options.output, &trajectory));
    assert_int_equal(kith_trajectory_frames(trajectory), 3);
    assert_ok(kith_trajectory_observable(trajectory, "total_energy", &components, &energies, NULL));
    for (int64_t frame = 0; frame < 3; frame++) {
        kith_bodies *expected = state_of(simulation, bodies);
        expected->time = frame == 2 ? 1 : expected->time;
        assert_ok(kith_trajectory_read(trajectory, frame, &found));
        assert_same_state(found, expected);
        assert_true(energies[frame] == diagnosed(simulation).total_energy);
        assert_ok(kith_simulation_step(simulation, 50));
        kith_bodies_free(expected);
    }
    assert_int_equal(summary.bodies, 3);
    assert_int_equal(summary.steps, 100);
    assert_int_equal(summary.evaluations, 300);
    assert_true(summary.dt == 0.01 && summary.precision == KITH_F64);
    assert_string_equal(summary.integrator, "yoshida4");
    assert_true(summary.energy_initial == energies[0] && summary.energy_final == energies[2]);
    assert_true(summary.relative_energy_error == fabs((energies[2] - energies[0]) / energies[0]));
    assert_true(summary.max_relative_energy_error >= summary.relative_energy_error);
    assert_true(summary.momentum_error < 1e-14 && summary.seconds > 0);
    assert_false(summary.interrupted);
    free(energies);
    kith_bodies_free(found);
    kith_trajectory_close(trajectory);
    kith_simulation_free(simulation);
    kith_context_free(context);
    kith_bodies_free(bodies);
}

static void test_run_without_output_gives_the_same_summary(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    const kith_run_summary with = run(run_options(0.01, 1, 10, in_files("with.h5")), bodies);
    const kith_run_summary without = run(run_options(0.01, 1, 10, NULL), bodies);
    assert_true(with.energy_final == without.energy_final);
    assert_true(with.max_relative_energy_error == without.max_relative_energy_error);
    kith_bodies_free(bodies);
}

static void test_run_of_no_body_or_one_works(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 2; n++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            kith_bodies *bodies = NULL;
            assert_ok(kith_bodies_create(n, dimensions, KITH_VELOCITY, &bodies));
            if (n > 0)
                bodies->velocity[0] = 2;
            const kith_run_summary summary =
                run(run_options(0.5, 4, 2, in_files("few.h5")), bodies);
            assert_true(summary.energy_initial == 2 * (double)n);
            assert_true(n > 0 || isnan(summary.relative_energy_error));
            kith_bodies *last = read_file(in_files("few.h5"));
            assert_int_equal(last->count, n);
            assert_int_equal(last->dimensions, dimensions);
            assert_true(n == 0 || last->position[0] == 8);
            assert_int_equal(frames_of(in_files("few.h5")), 5);
            kith_bodies_free(last);
            kith_bodies_free(bodies);
        }
}

static void test_run_writes_about_a_thousand_frames_unless_told(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    run(run_options(0.001, 10, 0, in_files("thousand.h5")), bodies);
    assert_in_range(frames_of(in_files("thousand.h5")), 900, 1002);
    run(run_options(0.5, 10, 0, in_files("thousand.h5")), bodies);
    assert_int_equal(frames_of(in_files("thousand.h5")), 21);
    kith_bodies_free(bodies);
}

static void test_run_keeps_names_charges_masses_and_own_ids(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    assert_ok(kith_bodies_add_columns(bodies, KITH_NAME | KITH_CHARGE | KITH_ID));
    strcpy(bodies->name[1], "Pluto");
    bodies->charge[2] = -0.1;
    bodies->id[0] = 77;
    run(run_options(0.1, 1, 5, in_files("columns.h5")), bodies);
    kith_bodies *last = read_file(in_files("columns.h5"));
    assert_string_equal(last->name[1], "Pluto");
    assert_true(last->charge[2] == -0.1);
    assert_int_equal(last->id[0], 77);
    assert_memory_equal(last->mass, bodies->mass, 3 * sizeof *last->mass);
    kith_bodies_free(last);
    kith_bodies_free(bodies);
}

static void test_run_refuses_options_before_it_touches_the_output(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    const char *path = file_of_text("old.h5", "old");
    const kith_run_options good = run_options(0.1, 1, 0, path);
    kith_run_options bad = good;
    bad.simulation.dt = -1;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "dt -1");
    bad = good;
    bad.simulation.dt = NAN;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "dt nan nan");
    bad.simulation.dt = 1e-300;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "larger");
    bad = good;
    bad.until = -1;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "until -1");
    bad.until = INFINITY;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "until inf inf");
    bad = good;
    bad.every = -2;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "every -2");
    bad = good;
    bad.checkpoint_seconds = -1;
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "-1");
    bad = good;
    bad.simulation.integrator = "magic";
    run_fails(bad, bodies, KITH_INVALID_ARGUMENT, "magic");
    run_fails(good, NULL, KITH_INVALID_ARGUMENT, "bodies");
    bodies->position[4] = NAN;
    run_fails(good, bodies, KITH_INVALID_ARGUMENT, "body 1");
    assert_content(path, "old");
    remove(path);
    kith_bodies_free(bodies);
}

static void test_run_refuses_outputs_that_cannot_be_written(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    run_fails(run_options(0.1, 1, 0, "/dev/full"), bodies, KITH_IO_ERROR, "/dev/full");
    run_fails(run_options(0.1, 1, 0, in_files("no/where.h5")), bodies, KITH_IO_ERROR, "directory");
    run_fails(run_options(0.1, 1, 0, files_directory), bodies, KITH_IO_ERROR, "regular");
    kith_bodies_free(bodies);
}

/* A body so fast that its position overflows. */
static void test_run_that_blows_up_keeps_the_old_output(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 3, KITH_VELOCITY, &bodies));
    bodies->position[0] = 1;
    bodies->velocity[0] = 1e308;
    const char *path = file_of_text("old.h5", "old");
    const int before = files_in_directory();
    run_fails(run_options(1, 10, 1, path), bodies, KITH_INVALID_ARGUMENT, "smaller");
    assert_content(path, "old");
    assert_int_equal(files_in_directory(), before);
    remove(path);
    kith_bodies_free(bodies);
}

/* In a process of its own, whose files cannot grow beyond a limit: as a full disk is. */
static int run_with_limited_files(const char *path, rlim_t bytes)
{
    kith_bodies *bodies = lagrange_bodies();
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {bytes, bytes};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        kith_context *context = NULL;
        const kith_context_options one = {.threads = 1};
        const kith_run_options options = run_options(0.001, 10, 1, path);
        kith_context_create(&one, &context);
        const kith_status status = kith_run(context, &options, bodies, NULL);
        kith_context_free(context);
        exit(status == KITH_IO_ERROR && strstr(kith_error_message(), "File too large") ? 0 : 1);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    kith_bodies_free(bodies);
    return ended;
}

static void test_run_on_a_full_disk_fails_and_keeps_the_old_output(void **state)
{
    (void)state;
    const char *path = file_of_text("old.h5", "old");
    const int before = files_in_directory();
    static const rlim_t limits[] = {0, 100, 3000, 20000, 50000, 200000, 500000};
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        assert_int_equal(run_with_limited_files(path, limits[k]), 0);
        assert_content(path, "old");
        assert_int_equal(files_in_directory(), before);
    }
    remove(path);
}

static void test_run_replaces_the_old_output_and_follows_links(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    const char *path = file_of_text("target.h5", "old"), *link = in_files("link.h5");
    assert_int_equal(symlink("target.h5", link), 0);
    assert_int_equal(chmod(path, 0640), 0);
    run(run_options(0.1, 1, 0, link), bodies);
    struct stat found;
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
    assert_int_equal(frames_of(path), 11);
    kith_bodies_free(bodies);
}

static void test_run_cancelled_before_it_began_leaves_nothing(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    const int before = files_in_directory();
    kith_context *context = cpu_context(1);
    kith_context_cancel(context);
    const kith_run_options options = run_options(0.1, 1, 0, in_files("cancelled.h5"));
    assert_int_equal(kith_run(context, &options, bodies, NULL), KITH_CANCELLED);
    assert_int_equal(files_in_directory(), before);
    kith_context_free(context);
    kith_bodies_free(bodies);
}

struct report {
    int64_t calls, last, total;
};

static void remember_report(void *user, int64_t done, int64_t total)
{
    struct report *report = user;
    assert_true(done >= report->last);
    *report = (struct report){report->calls + 1, done, total};
}

static void test_run_reports_progress_up_to_the_end(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_context *context = cpu_context(1);
    struct report report = {0};
    kith_context_set_progress(context, remember_report, &report);
    const kith_run_options options = run_options(1e-5, 1, 0, NULL);
    assert_ok(kith_run(context, &options, bodies, NULL));
    assert_int_equal(report.last, 100000);
    assert_int_equal(report.total, 100000);
    assert_in_range(report.calls, 1, 100);
    kith_context_free(context);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_frames_go_from_the_start_to_until_exactly),
        cmocka_unit_test(test_run_hands_over_its_last_state),
        cmocka_unit_test(test_run_of_drifting_bodies_keeps_their_momentum),
        cmocka_unit_test(test_run_gives_the_states_and_energies_of_the_simulation),
        cmocka_unit_test(test_run_without_output_gives_the_same_summary),
        cmocka_unit_test(test_run_of_no_body_or_one_works),
        cmocka_unit_test(test_run_writes_about_a_thousand_frames_unless_told),
        cmocka_unit_test(test_run_keeps_names_charges_masses_and_own_ids),
        cmocka_unit_test(test_run_refuses_options_before_it_touches_the_output),
        cmocka_unit_test(test_run_refuses_outputs_that_cannot_be_written),
        cmocka_unit_test(test_run_that_blows_up_keeps_the_old_output),
        cmocka_unit_test(test_run_on_a_full_disk_fails_and_keeps_the_old_output),
        cmocka_unit_test(test_run_replaces_the_old_output_and_follows_links),
        cmocka_unit_test(test_run_cancelled_before_it_began_leaves_nothing),
        cmocka_unit_test(test_run_reports_progress_up_to_the_end),
    };
    return cmocka_run_group_tests_name("run", tests, make_files_directory, remove_files_directory);
}
