#ifndef TESTS_TESTING_INITIAL_H
#define TESTS_TESTING_INITIAL_H

/* What the tests of initial conditions share. Include testing.h before. */

#include <math.h>
#include <stdlib.h>
#include <time.h>

static inline kith_bodies *made(const char *kind, kith_initial_options options)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_initial_make(kind, &options, &bodies));
    return bodies;
}

/* A seed of its own for every run; failures print it. */
static inline uint64_t fresh_seed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
}

static inline void assert_near(double found, double expected, double tolerance, const char *what,
                               uint64_t seed)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s is %.17g, not %.17g within %g (seed %llu)", what, found, expected, tolerance,
                 (unsigned long long)seed);
}

static inline int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: fails if the sample's distribution is farther from the one given than
 * happens once in 10^7 times. Sorts the sample. */
static inline void assert_distributed(double *sample, int64_t n, double (*cumulative)(double),
                                      const char *what, uint64_t seed)
{
    qsort(sample, (size_t)n, sizeof *sample, compare_reals);
    double farthest = 0;
    for (int64_t i = 0; i < n; i++) {
        const double expected = cumulative(sample[i]);
        farthest = worse_of(farthest, fabs(expected - (double)i / (double)n));
        farthest = worse_of(farthest, fabs(expected - (double)(i + 1) / (double)n));
    }
    assert_near(farthest, 0, 2.9 / sqrt((double)n), what, seed);
}

static inline double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif
