#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <cjson/cJSON.h>

#include "cli.h"

/* The capabilities that have a benchmark, as commands of their own. */
extern const struct command bench_capabilities[];

/* The benchmark of each capability: argv[0] is "kith bench NAME".
 *
 *   result  [out] the figures as JSON, instead of printing them with --json, and without telling of
 *           the machine first; NULL: not wanted
 *
 * Return an exit code. */
typedef int bench_of_capability(int argc, char **argv, cJSON **result);
bench_of_capability bench_forces, bench_matrix, bench_pairs, bench_collisions, bench_sparse;

#endif
