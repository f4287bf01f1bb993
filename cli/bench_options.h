#ifndef CLI_BENCH_OPTIONS_H
#define CLI_BENCH_OPTIONS_H

#include "cli.h"
#include "law_options.h"

enum { bench_most_numbers = 64, bench_most_threads = 16, bench_most_names = 32 };

struct bench_capability;

/* The options of a benchmark. */
struct bench_options {
    const char *command;
    const struct bench_capability *capability; /* NULL: all at once */
    kith_device device;
    struct chosen_device chosen; /* --device */
    int64_t counts[bench_most_numbers];
    int32_t count_count;
    int64_t threads[bench_most_threads];
    int32_t thread_count;
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

/* --device, --quick, --json and --quiet. */
extern const struct parser bench_device_parser;

/* Parses the options of a capability, or of all at once (NULL); wrong usage ends the program. */
void bench_parse(const struct bench_capability *capability, int argc, char **argv,
                 struct bench_options *options);

#endif
