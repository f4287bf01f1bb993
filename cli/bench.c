/* kith bench: how fast a capability is on this machine. */

#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "cli.h"

const struct command bench_capabilities[] = {
    {"forces", "all-pairs forces, leapfrog steps, ensembles; beside other programs", bench_forces,
     NULL},
    {"matrix", "interaction matrices beside memset, and their products with a vector", bench_matrix,
     NULL},
    {"pairs", "neighbour lists within a cutoff, and the nearest; beside other programs",
     bench_pairs, NULL},
    {"collisions", "collisions of lattice beads, by every method; batches of conformations",
     bench_collisions, NULL},
    {"sparse", "sparse matrix times vector, in the format that is chosen; beside other programs",
     bench_sparse, NULL},
    {0}};

static int print_help(FILE *stream, int code)
{
    fprintf(stream, "Usage: kith bench CAPABILITY [OPTION...]\n"
                    "Measure how fast a capability is on this machine.\n\n"
                    "Capabilities:\n");
    for (const struct command *part = bench_capabilities; part->name; part++)
        fprintf(stream, "  %-10s %s\n", part->name, part->description);
    fprintf(stream, "\n"
                    "kith bench CAPABILITY --help tells the options, with examples.\n\n"
                    "Example:\n"
                    "  kith bench forces -n 1024,16384 --threads 1,2\n");
    return code;
}

int command_bench(int argc, char **argv)
{
    if (argc < 2)
        return print_help(stderr, exit_usage);
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0 || strcmp(word, "help") == 0)
        return print_help(stdout, exit_ok);
    const struct command *part = command_named(bench_capabilities, word);
    if (part) {
        char name[64];
        snprintf(name, sizeof name, "%s %s", argv[0], word);
        argv[1] = name;
        return part->run(argc - 1, argv + 1);
    }
    return command_fail_unknown(argv[0], bench_capabilities, "capability with a benchmark", word);
}
