#ifndef TESTS_RUNNING_H
#define TESTS_RUNNING_H

/* What the tests of runs share. Include testing.h before. */

#include <math.h>
#include <signal.h>
#include <sys/time.h>

#include "simulating.h"
#include "testing_files.h"

#include "testing_hdf5.h"

/* Three bodies that come near each other, in one thread. */
static inline kith_bodies *lagrange_bodies(void)
{
    return made("lagrange", (kith_initial_options){0});
}

static inline kith_run_options run_options(double dt, double until, int64_t every,
                                           const char *output)
{
    return (kith_run_options){
        .simulation = {.dt = dt}, .until = until, .every = every, .output = output};
}

/* Runs in a context of its own; the run must succeed. */
static inline kith_run_summary run(kith_run_options options, const kith_bodies *bodies)
{
    kith_context *context = cpu_context(1);
    kith_run_summary summary;
    assert_ok(kith_run(context, &options, bodies, &summary));
    kith_context_free(context);
    return summary;
}

/* Runs, and must fail so. */
static inline void run_fails(kith_run_options options, const kith_bodies *bodies,
                             kith_status expected, const char *words)
{
    kith_context *context = cpu_context(1);
    kith_run_summary summary;
    assert_fails(kith_run(context, &options, bodies, &summary), expected, words);
    kith_context_free(context);
}

static kith_context *context_to_cancel;

static inline void cancel_on_alarm(int signal_number)
{
    (void)signal_number;
    kith_context_cancel(context_to_cancel);
}

/* Runs, and cancels the run after some seconds of wall time. The run must be cancelled or come
 * to its end before. */
static inline kith_run_summary run_and_cancel(kith_run_options options, const kith_bodies *bodies,
                                              double seconds)
{
    context_to_cancel = cpu_context(1);
    signal(SIGALRM, cancel_on_alarm);
    const struct itimerval alarm = {
        .it_value = {.tv_sec = (time_t)seconds,
                     .tv_usec = (suseconds_t)(1 + (seconds - floor(seconds)) * 999998)}};
    assert_int_equal(setitimer(ITIMER_REAL, &alarm, NULL), 0);
    kith_run_summary summary;
    const kith_status status = kith_run(context_to_cancel, &options, bodies, &summary);
    assert_int_equal(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL), 0);
    signal(SIGALRM, SIG_DFL);
    if (status != KITH_OK && status != KITH_CANCELLED)
        fail_msg("%s: %s", kith_status_name(status), kith_error_message());
    assert_true(summary.interrupted == (status == KITH_CANCELLED && summary.bodies > 0));
    kith_context_free(context_to_cancel);
    return summary;
}

/* Times of all frames; free it with free(). */
static inline double *frame_times(const char *path, int64_t *frames)
{
    kith_trajectory *trajectory = NULL;
    int64_t components = 0;
    double *values = NULL, *times = NULL;
    assert_ok(kith_trajectory_open(path, &trajectory));
    *frames = kith_trajectory_frames(trajectory);
    assert_ok(kith_trajectory_observable(trajectory, "total_energy", &components, &values, &times));
    assert_int_equal(components, 1);
    kith_trajectory_close(trajectory);
    free(values);
    return times;
}

static inline int64_t frames_of(const char *path)
{
    int64_t frames = 0;
    free(frame_times(path, &frames));
    return frames;
}

#endif
