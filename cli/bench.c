/* kith bench: how fast a capability is on this machine. */

#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "cli.h"

/* The capabilities that have a benchmark, as commands of their own. */
static const struct command capabilities[] = {
    {"forces", "all-pairs forces, leapfrog steps, ensembles; beside other programs", bench_forces},
    {"matrix", "interaction matrices beside memset, and their products with a vector",
     bench_matrix},
    {"pairs", "neighbour lists within a cutoff, and the nearest; beside other programs",
     bench_pairs},
    {"collisions", "collisions of lattice beads, by every method; batches of conformations",
     bench_collisions},
    {"sparse", "sparse matrix times vector, in the format that is chosen; beside other programs",
     bench_sparse},
};
enum { capability_count = sizeof capabilities / sizeof capabilities[0] };

static int print_help(FILE *stream, int code)
{
    fprintf(stream, "Usage: kith bench CAPABILITY [OPTION...]\n"
                    "Measure how fast a capability is on this machine.\n\n"
                    "Capabilities:\n");
    for (int k = 0; k < capability_count; k++)
        fprintf(stream, "  %-10s %s\n", capabilities[k].name, capabilities[k].description);
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
    if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0)
        return print_help(stdout, exit_ok);
    for (int k = 0; k < capability_count; k++)
        if (strcmp(word, capabilities[k].name) == 0) {
            char name[64];
            snprintf(name, sizeof name, "%s %s", argv[0], word);
            argv[1] = name;
            return capabilities[k].run(argc - 1, argv + 1);
        }
    fprintf(stderr, "%s: '%s' is no capability with a benchmark; kith bench --help lists them\n",
            argv[0], word);
    return exit_usage;
}
