#include "progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device_choice.h"

enum { bar_width = 24 };

/* The signal handler needs a name that it can reach: one command runs in a program at a time. */
static kith_context *running;
static volatile sig_atomic_t caught;
static volatile sig_atomic_t is_telling; /* on a terminal, and not quiet */
static struct timespec started, shown;
static int64_t first_done;

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

/* A second Ctrl-C does not wait for the checkpoint. The output is complete at any time, and a run
 * continues from its last checkpoint. */
static void cancel_on_signal(int number)
{
    static const char note[] = "\r\033[Kstopping; Ctrl-C again ends the run immediately\n";
    if (number == SIGINT && caught == SIGINT) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (number == SIGINT && is_telling)
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
    caught = number;
    if (running)
        kith_context_cancel(running);
}

static void print_left(double seconds)
{
    const long long s = (long long)fmin(ceil(seconds), 1e12);
    if (s >= 3600)
        fprintf(stderr, "%lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
    else
        fprintf(stderr, "%lld:%02lld left", s / 60, s % 60);
}

static void draw(void *user, int64_t done, int64_t total)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (first_done < 0) {
        cli_print_choice();
        first_done = done;
        started = now;
    } else if (seconds_between(&shown, &now) < 0.1 && done < total) {
        return;
    }
    shown = now;

    const double part = total > 0 ? (double)done / (double)total : 1;
    const int filled = (int)(part * bar_width);
    fprintf(stderr, "\r\033[K%3d %% [", (int)(100 * part));
    for (int k = 0; k < bar_width; k++)
        fputc(k < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %lld of %lld steps", (long long)done, (long long)total);
    const double elapsed = seconds_between(&started, &now);
    const double speed = elapsed > 0 ? (double)(done - first_done) / elapsed : 0;
    if (speed > 0) {
        fprintf(stderr, ", %.3g steps/s, ", speed);
        print_left((double)(total - done) / speed);
    }
    fflush(stderr);
}

/* A signal that was ignored from the start (nohup) stays so. */
static void handle_signal(int signal, void (*handler)(int))
{
    struct sigaction action = {0}, before;
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal, &action, NULL);
}

static void end_as_by_sigterm(int number)
{
    (void)number;
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
}

void progress_heed_hangup(void)
{
    handle_signal(SIGHUP, end_as_by_sigterm);
}

/* One that cannot go back to the start of a line and clear it. */
static bool is_dumb_terminal(void)
{
    const char *kind = getenv("TERM");
    return !kind || !*kind || strcmp(kind, "dumb") == 0;
}

void progress_begin(kith_context *context, bool quiet)
{
    running = context;
    first_done = -1;
    handle_signal(SIGINT, cancel_on_signal);
    handle_signal(SIGTERM, cancel_on_signal);
    handle_signal(SIGHUP, cancel_on_signal);
    is_telling = !quiet && isatty(STDERR_FILENO) && !is_dumb_terminal();
    if (is_telling)
        kith_context_set_progress(context, draw, NULL);
}

void progress_end(kith_context *context)
{
    if (first_done >= 0)
        fprintf(stderr, "\r\033[K");
    kith_context_set_progress(context, NULL, NULL);
    handle_signal(SIGINT, SIG_DFL);
    handle_signal(SIGTERM, SIG_DFL);
    progress_heed_hangup();
    running = NULL;
}

int progress_signal(void)
{
    return caught;
}

int progress_exit_code(void)
{
    return caught == 0 ? exit_failed : caught == SIGINT ? exit_interrupted : exit_terminated;
}
