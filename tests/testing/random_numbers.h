#ifndef TESTS_RANDOM_NUMBERS_H
#define TESTS_RANDOM_NUMBERS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Fresh random numbers for each run (SplitMix64, Steele, Lea & Flood 2014). The seed is printed;
 * the environment variable KITH_TEST_SEED repeats a run. */
struct random_numbers {
    uint64_t state;
};

static inline struct random_numbers random_numbers_begin(const char *test)
{
    const char *wanted = getenv("KITH_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t seed = wanted ? strtoull(wanted, NULL, 0)
                                 : (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    printf("%s: KITH_TEST_SEED=%llu\n", test, (unsigned long long)seed);
    return (struct random_numbers){seed};
}

static inline double random_uniform(struct random_numbers *numbers, double low, double high)
{
    uint64_t z = numbers->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return low + (high - low) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#endif
