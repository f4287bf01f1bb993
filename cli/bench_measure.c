#include "bench_measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

static const int64_t least_rounds = 3;

/* Threads that wait for their next work spin for a moment before
 * they sleep: in the way of what is measured next. */
static void rest(void)
{
    const struct timespec ten_milliseconds = {0, 10000000};
    nanosleep(&ten_milliseconds, NULL);
}

/* Seconds of the contestant's calls, undisturbed: what lasts no longer than the system lets others
 * run in between is tried three times. Negative after an error. */
static double try_calls(const struct contestant *contestant)
{
    double shortest = contestant->run(contestant->state, contestant->calls);
    for (int k = 1; k < 3 && shortest >= 0 && shortest < 0.05; k++) {
        const double taken = contestant->run(contestant->state, contestant->calls);
        shortest = taken < shortest ? taken : shortest;
    }
    return shortest;
}

/* Finds how many calls take so many seconds; false after an error. */
static bool choose_calls(struct contestant *contestant, double seconds)
{
    contestant->calls = 1;
    for (;;) {
        const double taken = try_calls(contestant);
        if (taken < 0)
            return false;
        if (taken >= seconds)
            return true;
        /* Short times tell little: go there in steps. */
        const double factor = taken > 0 ? 1.1 * seconds / taken : 8;
        contestant->calls = (int64_t)((double)contestant->calls * (factor < 8 ? factor : 8)) + 1;
    }
}

static bool repeat(struct contestant *contestant)
{
    /* A call that is not timed wakes the threads and brings the data back into the caches. */
    if (contestant->calls > 1 && contestant->run(contestant->state, 1) < 0)
        return false;
    const double taken = contestant->run(contestant->state, contestant->calls);
    if (taken < 0)
        return false;
    contestant->seconds[contestant->rounds++] = taken / (double)contestant->calls;
    return true;
}

/* One repetition of each, forwards and backwards in turns, so that none is always behind the same
 * one. If threads may be left spinning, all rest: the system favours who has slept. */
static bool do_round(int64_t round, int64_t count, struct contestant *const *contestants)
{
    bool rests = false;
    for (int64_t k = 0; k < count; k++)
        rests = rests || contestants[k]->many_threads;
    for (int64_t k = 0; k < count; k++) {
        if (!repeat(contestants[round % 2 ? count - 1 - k : k]))
            return false;
        if (rests)
            rest();
    }
    return true;
}

bool bench_measure(int64_t count, struct contestant *const *contestants, double seconds)
{
    for (int64_t k = 0; k < count; k++) {
        contestants[k]->rounds = 0;
        if (!choose_calls(contestants[k], seconds / bench_most_rounds))
            return false;
    }
    const double start = cli_clock();
    const double enough = seconds * (double)count;
    for (int64_t round = 0; round < bench_most_rounds; round++) {
        const double taken = cli_clock() - start;
        const double a_round = round > 0 ? taken / (double)round : 0;
        if (taken + a_round > (round < least_rounds ? 10 * enough : enough) && round > 0)
            break;
        if (!do_round(round, count, contestants))
            return false;
    }
    return true;
}

static int compare(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Sorts the values. */
static double median(int64_t count, double *values)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

double contestant_median(const struct contestant *contestant)
{
    double seconds[bench_most_rounds];
    memcpy(seconds, contestant->seconds, sizeof seconds);
    return median(contestant->rounds, seconds);
}

double contestant_best(const struct contestant *contestant)
{
    double best = contestant->seconds[0];
    for (int64_t k = 1; k < contestant->rounds; k++)
        best = contestant->seconds[k] < best ? contestant->seconds[k] : best;
    return best;
}

double contestant_ratio(const struct contestant *contestant, const struct contestant *other)
{
    double ratios[bench_most_rounds] = {0};
    for (int64_t k = 0; k < contestant->rounds; k++)
        ratios[k] = contestant->seconds[k] / other->seconds[k];
    return median(contestant->rounds, ratios);
}
