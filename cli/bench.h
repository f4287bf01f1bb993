#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

/* The capabilities that have a benchmark, as commands of their own. */
extern const struct command bench_capabilities[];

/* The benchmark of each capability: a command, argv[0] is "kith bench NAME". */
int bench_forces(int argc, char **argv);
int bench_matrix(int argc, char **argv);
int bench_pairs(int argc, char **argv);
int bench_collisions(int argc, char **argv);
int bench_sparse(int argc, char **argv);

#endif
