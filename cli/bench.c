/* kith bench: how fast a capability is on this machine, or all of them. */

#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "bench_all.h"
#include "cli.h"

/* The benchmarks as commands: their figures go nowhere else. */
#define DEFINE_COMMAND(capability)                                                                 \
    static int command_bench_##capability(int argc, char **argv)                                   \
    {                                                                                              \
        return bench_##capability(argc, argv, NULL);                                               \
    }

DEFINE_COMMAND(forces)
DEFINE_COMMAND(matrix)
DEFINE_COMMAND(pairs)
DEFINE_COMMAND(collisions)
DEFINE_COMMAND(sparse)

const struct command bench_capabilities[] = {
    {"forces", "all-pairs forces, leapfrog steps, ensembles; beside other programs",
     command_bench_forces, NULL},
    {"matrix", "interaction matrices beside memset, and their products with a vector",
     command_bench_matrix, NULL},
    {"pairs", "neighbor lists within a cutoff, and nearest points, with other programs",
     command_bench_pairs, NULL},
    {"collisions", "collisions of lattice beads, by every method; batches of conformations",
     command_bench_collisions, NULL},
    {"sparse", "sparse matrix times vector, in the format that is chosen; beside other programs",
     command_bench_sparse, NULL},
    {0}};

int command_bench(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--";
    if (word[0] == '-')
        return bench_all(argc, argv);
    const struct command *part = command_named(bench_capabilities, word);
    if (part) {
        char name[64];
        snprintf(name, sizeof name, "%s %s", argv[0], word);
        argv[1] = name;
        return part->run(argc - 1, argv + 1);
    }
    return command_fail_unknown(argv[0], bench_capabilities, "capability with a benchmark", word);
}
