#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <argp.h>
#include <stdbool.h>

#include "kith/kith.h"

/* The program's exit codes. */
enum { exit_ok = 0, exit_failed = 1, exit_usage = 2 };

/* A command of the program: a row of the table in main.c. */
struct command {
    const char *name;
    const char *description; /* one line, for kith --help */
    int (*run)(int argc, char **argv); /* argv[0] is "kith NAME"; returns an exit code */
};

int command_convert(int argc, char **argv);
int command_forces(int argc, char **argv);
int command_info(int argc, char **argv);
int command_make(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_run(int argc, char **argv);

/* The options that the computing commands share, and their argp parser: a child whose input is a
 * struct common_options. */
struct common_options {
    kith_context_options context; /* --device, --threads */
    kith_dtype precision;         /* --precision */
    bool json, quiet;             /* --json, --quiet */
};
extern const struct argp common_argp;

/* Prints "kith NAME: <the library's message>" on one line of stderr; returns exit_failed. */
int cli_fail(const char *command);

/* The same with words of its own; returns exit_failed. */
int cli_fail_with(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Parses option values; on failure end the program through argp_error (exit code 2). */
double cli_parse_real(const char *option, const char *text, struct argp_state *state);
int64_t cli_parse_count(const char *option, const char *text, struct argp_state *state);

#endif
