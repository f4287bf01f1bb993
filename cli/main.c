/* kith: the program. Finds the command and hands over. */

#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command commands[] = {
    {"make", "make initial conditions", command_make},
    {"run", "run an N-body simulation", command_run},
    {"plot", "draw a picture of a run", command_plot},
    {"forces", "compute all-pairs accelerations and potentials", command_forces},
    {"matrix", "compute the interaction matrix, or sums over it", command_matrix},
    {"pairs", "list the pairs of particles nearer than a cutoff", command_pairs},
    {"collisions", "count beads at the same site of a lattice, and contacts", command_collisions},
    {"multiply", "multiply a sparse matrix by a vector", command_multiply},
    {"convert", "convert bodies between file formats", command_convert},
    {"bench", "measure how fast this machine computes", command_bench},
    {"tune", "find the fastest settings of a device, and keep them", command_tune},
    {"info", "what this build and this machine can do", command_info},
};

enum { command_count = sizeof commands / sizeof commands[0] };

static void print_help(FILE *stream)
{
    fprintf(stream, "Usage: kith COMMAND [OPTION...] ...\n"
                    "Which particles interact, and how.\n\n"
                    "Commands:\n");
    for (int k = 0; k < command_count; k++)
        fprintf(stream, "  %-10s %s\n", commands[k].name, commands[k].description);
    fprintf(stream, "\n"
                    "kith COMMAND --help tells the options of a command, with examples.\n"
                    "kith --version tells the version.\n\n"
                    "Example:\n"
                    "  kith make six -o six.csv\n"
                    "  kith run six.csv --dt 0.0001 --until 50 -o six.h5\n"
                    "  kith plot six.h5 --what orbits -o six.png\n");
}

static int run_command(const struct command *command, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "kith %s", command->name);
    argv[0] = name;
    argp_program_version = "kith";
    const int code = command->run(argc, argv);
    /* A full disk shows when the last words leave the buffer. */
    if (code == exit_ok && (fflush(stdout) != 0 || ferror(stdout)))
        return cli_fail_with(name, "standard output cannot be written: %s", strerror(errno));
    return code;
}

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "kith %s\n", kith_version());
}

int main(int argc, char **argv)
{
    argp_program_version_hook = print_version;
    if (argc < 2) {
        print_help(stderr);
        return exit_usage;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "-?") == 0 ||
        strcmp(word, "help") == 0) {
        print_help(stdout);
        return exit_ok;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        print_version(stdout, NULL);
        return exit_ok;
    }
    for (int k = 0; k < command_count; k++)
        if (strcmp(word, commands[k].name) == 0)
            return run_command(&commands[k], argc - 1, argv + 1);
    fprintf(stderr, "kith: '%s' is no command; kith --help lists them\n", word);
    return exit_usage;
}
