#ifndef CLI_BENCH_OPTIONS_H
#define CLI_BENCH_OPTIONS_H

#include <cjson/cJSON.h>

#include "cli.h"

enum { bench_most_numbers = 64, bench_most_threads = 16 };

/* What all benchmarks are asked for, and their argp parsers: children whose input is this. */
struct bench_common {
    const char *command;
    kith_device device;
    int64_t counts[bench_most_numbers]; /* of -n */
    int32_t count_count;
    bool counts_given;
    int32_t threads[bench_most_threads], thread_count;
    bool takes_many_threads; /* --threads is a list */
    double seconds;          /* 0: by --quick or bench_take_seconds */
    bool quick, json, quiet;
    bool with_peers;
    const char *python; /* that has the other programs */
    cJSON **result;     /* where the figures go as JSON, besides the table; NULL: nowhere */
};
extern const struct argp bench_device_argp; /* --device, --quick, --json, --quiet */
extern const struct argp bench_argp;        /* those, --threads and --seconds */
extern const struct argp bench_peers_argp;  /* --peers, --python */

/* What a benchmark begins with: the CPU, one thread. */
struct bench_common bench_begin(const char *command, cJSON **result);

/* Makes the context to measure with, and the device that it is on of "auto". Returns an exit code.
 */
int bench_open(struct bench_common *common, kith_context **context);

/* For ARGP_KEY_INIT: all children from the first on have the common options as their input. */
void bench_begin_children(const struct argp_state *state, int first, int count,
                          struct bench_common *common);

/* The words of a list with single commas, one after the other; the words stay in the text. */
void bench_for_each_word(char *text, struct argp_state *state,
                         void (*parse)(char *word, struct argp_state *state, void *to), void *to);

/* The value of -n: numbers of at least 1. */
void bench_parse_counts(struct bench_common *common, char *text, int64_t most,
                        struct argp_state *state);

/* What was not given: so many seconds (--quick: a fiftieth), and the numbers of a table. */
void bench_take_seconds(struct bench_common *common, double seconds);
void bench_take_counts(struct bench_common *common, const int64_t *counts, int32_t count);

/* Hands the figures over and frees what is left of them: on standard output if --json is given, and
 * to the result's place. Returns an exit code. */
int bench_hand_over(const struct bench_common *common, const char *capability, cJSON *figures);

#endif
