/* The commands of the program: what main.c runs, and what manual pages and completions describe. */

#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "names.h"

const struct command program_commands[] = {
    {"make", "make initial conditions", command_make, NULL},
    {"run", "run an N-body simulation", command_run, NULL},
    {"plot", "draw a picture of a run, of bodies or of a matrix", command_plot, NULL},
    {"view", "show a run in a browser", command_view, NULL},
    {"forces", "compute accelerations and potentials", command_forces, NULL},
    {"orbits", "compute the orbital elements of a run", command_orbits, NULL},
    {"megno", "compute MEGNO and the Lyapunov time of bodies", command_megno, NULL},
    {"matrix", "compute the interaction matrix, reductions or products of it", command_matrix,
     NULL},
    {"pairs", "list the pairs of particles within a cutoff", command_pairs, NULL},
    {"sum", "sum formulas of pairs of particles, within a cutoff or over all", command_sum, NULL},
    {"collisions", "count beads at the same site of a lattice, and contacts", command_collisions,
     NULL},
    {"multiply", "multiply a sparse matrix by a vector", command_multiply, NULL},
    {"convert", "convert bodies between file formats", command_convert, NULL},
    {"bench", "measure the speed of this machine", command_bench, bench_capabilities},
    {"tune", "find the fastest settings of a device and keep them", command_tune, NULL},
    {"info", "print the features of this build and this machine", command_info, NULL},
    {"help", "show the help of a command or of a topic", command_help, NULL},
    {0}};

const char program_summary[] = "Compute interactions between pairs of particles.";
const char program_examples[] = "  kith make six -o six.csv\n"
                                "  kith run six.csv --dt 0.0001 --until 50 -o six.h5\n"
                                "  kith plot six.h5 --what orbits -o six.png\n";

const struct command *command_named(const struct command *table, const char *name)
{
    for (const struct command *command = table; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

int command_fail_unknown(const char *program, const struct command *table, const char *what,
                         const char *word)
{
    char otherwise[64];
    struct nearest nearest = nearest_to(word);
    for (const struct command *command = table; command->name; command++)
        nearest_offer(&nearest, command->name);
    nearest_offer(&nearest, "--help");
    nearest_offer(&nearest, "--version");
    snprintf(otherwise, sizeof otherwise, "%s --help lists them", program);
    cli_fail_with(program, "unknown %s '%s'; %s", what, word, nearest_hint(&nearest, otherwise));
    return exit_usage;
}
