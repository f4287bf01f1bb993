#include "testing.h"

#include <sys/wait.h>
#include <time.h>

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

static void test_run_killed_at_any_moment_resumes_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("kill");
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(1e-5, 200, 20001, in_files("whole.h5"));
    options.simulation.forces.softening = 0.1;
    options.checkpoint_seconds = 0.01;
    const double seconds = run(options, bodies).seconds;

    options.output = in_files("killed.h5");
    options.resume = true;
    int grown = 0;
    for (int k = 0; k < kills; k++) {
        const int64_t before = frames_if_there(options.output);
        run_and_kill(&options, bodies, random_uniform(&numbers, 0, 3 * seconds / kills));
        const int64_t after = frames_if_there(options.output);
        assert_true(after >= before - 1); /* the last one, at until, is due for the run to come */
        grown += after > before;
    }
    assert_true(grown > 0);
    run(options, bodies);
    assert_same_files(in_files("whole.h5"), options.output, "none");
    assert_int_equal(files_in_directory(), 2); /* nothing is left of the killed */
    kith_bodies_free(bodies);
}

static void test_run_started_anew_removes_what_a_killed_one_left(void **state)
{
    (void)state;
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(1e-7, 1000, 0, in_files("anew.h5"));
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
        cmocka_unit_test(test_run_started_anew_removes_what_a_killed_one_left),
    };
    return cmocka_run_group_tests_name("run_killed", tests, make_files_directory,
                                       remove_files_directory);
}
