#ifndef CLI_BENCH_MEASURE_H
#define CLI_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Times several things against each other.
 *
 * They take turns, each one repetition a round, so that whatever else the machine does falls on all
 * of them alike; two are compared by the ratios within the rounds. */

enum { bench_most_rounds = 101 };

struct contestant {
    /* Seconds that so many calls take, or a negative number after an error, which it has told. */
    double (*run)(void *state, int64_t calls);
    void *state;
    bool many_threads;
    int64_t calls; /* of a repetition */
    int64_t rounds;
    double seconds[bench_most_rounds]; /* of a call, in each round */
};

/* Measures for about so many seconds a contestant, and ten times that at most; false after an
 * error. */
bool bench_measure(int64_t count, struct contestant *const *contestants, double seconds);

double contestant_median(const struct contestant *contestant);
double contestant_best(const struct contestant *contestant);

/* How many times as long as the other one a call takes: the median of the rounds. */
double contestant_ratio(const struct contestant *contestant, const struct contestant *other);

#endif
