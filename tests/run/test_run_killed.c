#include "testing.h"

#include <sys/wait.h>
#include <time.h>

#include "kith/law_sum.h"
#include "mesh/pme.h"
#include "running.h"

enum { kills = 12 };

static void sleep_for(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* Runs in a process of its own, which is killed after so many seconds. */
static void run_and_kill(const kith_run_options *options, const kith_bodies *bodies, double seconds)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        kith_context *context = NULL;
        const kith_context_options one = {.threads = 1};
        kith_context_create(&one, &context);
        const kith_status status = kith_run(context, options, bodies, NULL);
        fprintf(stderr, "%s", status == KITH_OK ? "" : kith_error_message());
        _exit(status == KITH_OK ? 0 : 1);
    }
    sleep_for(seconds);
    kill(child, SIGKILL);
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended) || WEXITSTATUS(ended) == 0);
}

/* The output is not there, or whole: frames in order, and as many of everything. */
static int64_t frames_if_there(const char *path)
{
    if (access(path, F_OK) != 0)
        return 0;
    int64_t frames = 0;
    double *times = frame_times(path, &frames);
    for (int64_t frame = 1; frame < frames; frame++)
        assert_true(times[frame] > times[frame - 1]);
    free(times);
    kith_bodies_free(read_file(path));
    return frames;
}

/* What continues a run: all options and the bodies are in the file, once there is one. */
static kith_run_options to_continue(const kith_run_options *options)
{
    if (access(options->output, F_OK) != 0)
        return *options;
    return (kith_run_options){.output = options->output,
                              .resume = true,
                              .checkpoint_seconds = options->checkpoint_seconds};
}

/* Kills a run again and again; what is left goes on to the bits of one that was never killed. */
static void check_killed(kith_run_options options, const kith_bodies *bodies)
{
    struct random_numbers numbers = random_numbers_begin("kill");
    const int files = files_in_directory();
    options.output = in_files("whole.h5");
    options.checkpoint_seconds = 0.01;
    const double seconds = run(options, bodies).seconds;

    options.output = in_files("killed.h5");
    options.resume = true;
    int grown = 0;
    for (int k = 0; k < kills; k++) {
        const int64_t before = frames_if_there(options.output);
        const kith_run_options now = to_continue(&options);
        run_and_kill(&now, now.until > 0 ? bodies : NULL,
                     random_uniform(&numbers, 0, 3 * seconds / kills));
        const int64_t after = frames_if_there(options.output);
        assert_true(after >= before - 1); /* the last one, at until, is due for the run to come */
        grown += after > before;
    }
    assert_true(grown > 0);
    run(to_continue(&options), NULL);
    assert_same_files(in_files("whole.h5"), options.output, "none");
    assert_int_equal(files_in_directory(), files + 2); /* nothing is left of the killed */
    unlink(in_files("whole.h5"));
    unlink(options.output);
}

static void test_run_killed_at_any_moment_resumes_bit_for_bit(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(1e-5, 200, 20001, NULL);
    options.simulation.forces.softening = 0.1;
    check_killed(options, bodies);
    kith_bodies_free(bodies);
}

/* The tree and the scale of the field are those of the state alone. */
static void test_killed_run_by_fmm_resumes_bit_for_bit(void **state)
{
    (void)state;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 500, .seed = 8});
    kith_run_options options = run_options(0.002, 1, 7, NULL);
    options.simulation.forces.softening = 0.05;
    options.simulation.forces.solver = solver_named("fmm");
    options.simulation.forces.accuracy.error = 1e-2;
    check_killed(options, bodies);
    kith_bodies_free(bodies);
}

/* The setting of pme, of which some is given, is chosen again for the start; frames are wrapped,
 * and some atoms begin outside of the cell. */
static void test_killed_run_of_ions_resumes_bit_for_bit(void **state)
{
    (void)state;
    if (!pme_is_there())
        skip();
    kith_law *law = NULL, *near = NULL;
    int64_t pairs[2][2] = {{0, 1}, {9, 4}};
    assert_ok(kith_law_parse("coulomb", 0, NULL, &law));
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &near));
    assert_ok(kith_law_add(law, near));
    kith_bodies *bodies =
        made("nacl", (kith_initial_options){.count = 64, .density = 0.7, .temperature = 1});
    for (int i = 0; i < 64; i += 3)
        bodies->position[3 * i] -= bodies->cell[0];
    kith_run_options options = run_options(0.002, 1, 7, NULL);
    options.simulation.forces.law = law;
    options.simulation.forces.solver = solver_named("pme");
    options.simulation.forces.accuracy.error = 1e-4;
    options.simulation.forces.cutoff = 1.8;
    options.simulation.forces.shift = KITH_SHIFT_FORCE;
    options.simulation.forces.exclusions = kith_array_matrix(pairs, KITH_I64, 2, 2);
    options.simulation.forces.accuracy.order = 5;
    options.simulation.forces.ewald =
        (kith_ewald){.alpha = 1.3, .grid = {20, 24, 20}, .boundary = KITH_BOUNDARY_VACUUM};
    options.wrap = true;
    options.pressure_every = 5;
    check_killed(options, bodies);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void test_run_started_anew_removes_what_a_killed_one_left(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(1e-7, 1000, 0, in_files("second.h5"));
    options.checkpoint_seconds = 1000;
    const int before = files_in_directory();
    while (files_in_directory() == before)
        run_and_kill(&options, bodies, 0.1);
    assert_int_equal(frames_if_there(options.output), 0);
    run(run_options(0.1, 1, 0, options.output), bodies);
    assert_int_equal(files_in_directory(), before + 1);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_killed_at_any_moment_resumes_bit_for_bit),
        cmocka_unit_test(test_killed_run_by_fmm_resumes_bit_for_bit),
        cmocka_unit_test(test_killed_run_of_ions_resumes_bit_for_bit),
        cmocka_unit_test(test_run_started_anew_removes_what_a_killed_one_left),
    };
    return cmocka_run_group_tests_name("run_killed", tests, make_files_directory,
                                       remove_files_directory);
}
