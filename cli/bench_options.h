#ifndef CLI_BENCH_OPTIONS_H
#define CLI_BENCH_OPTIONS_H

#include "cli.h"
#include "law_options.h"

enum { bench_most_numbers = 64, bench_most_threads = 16, bench_most_names = 32 };

/* The options of a benchmark. */
struct bench_options {
    const char *command;
    kith_device device;
    struct chosen_device chosen; /* --device */
    int64_t counts[bench_most_numbers];
    int32_t count_count;
    int32_t threads[bench_most_threads], thread_count;
    kith_dtype precisions[2];
    int32_t precision_count;
    const char *names[bench_most_names]; /* of systems or matrices */
    int32_t name_count;
    double seconds; /* 0: the capability's */
    int64_t systems;
    struct law_options law;
    kith_forces_method method;
    const char *integrator;
    bool unsorted, narrow, tunes;
    bool quick, json, quiet;
};

/* --device, --quick, --json, --quiet: a child whose input is a struct bench_options. */
extern const struct argp bench_device_argp;

/* Parses the options of a capability, or of all at once (NULL); wrong usage ends the program. */
struct bench_capability;
void bench_parse(const struct bench_capability *capability, int argc, char **argv,
                 struct bench_options *options);

#endif
