#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "kith/kith.h"

struct parser;

/* The program's exit codes. Stopped by a signal it has 128 and the signal's number, of SIGHUP that
 * of SIGTERM, as a shell reports a program that the signal ended. */
enum {
    exit_ok = 0,
    exit_failed = 1,
    exit_usage = 2,
    exit_interrupted = 130,
    exit_terminated = 143
};

/* A command of the program: a row of the table in commands.c. */
struct command {
    const char *name;
    const char *description;           /* one line, for kith --help */
    int (*run)(int argc, char **argv); /* argv[0] is "kith NAME"; returns an exit code */
    const struct command *parts;       /* commands of its own, as "kith bench forces"; or NULL */
};

/* Tables of commands end with a row of zeros. */
extern const struct command program_commands[];

/* The row of a name, or NULL. */
const struct command *command_named(const struct command *table, const char *name);

/* "PROGRAM: 'WORD' is not a WHAT; …" on stderr, with the nearest of the table's names. Returns
 * exit_usage. */
int command_fail_unknown(const char *program, const struct command *table, const char *what,
                         const char *word);

/* What the program is, and lines to try. */
extern const char program_summary[], program_examples[];

int command_bench(int argc, char **argv);
int command_collisions(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_forces(int argc, char **argv);
int command_help(int argc, char **argv);
int command_info(int argc, char **argv);
int command_make(int argc, char **argv);
int command_matrix(int argc, char **argv);
int command_multiply(int argc, char **argv);
int command_orbits(int argc, char **argv);
int command_megno(int argc, char **argv);
int command_pairs(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_run(int argc, char **argv);
int command_sum(int argc, char **argv);
int command_tune(int argc, char **argv);
int command_view(int argc, char **argv);

/* The value of --device. Its peers are the process's, of the last --device. */
struct chosen_device {
    kith_device device;
    const int32_t *peers; /* for kith_context_add_peers */
    int32_t peer_count;
};
void cli_parse_device(const char *text, const struct argp_state *state,
                      struct chosen_device *chosen);

/* The options that the computing commands share: a group whose options are a struct common_options.
 */
struct common_options {
    kith_context_options context; /* --device, --threads */
    struct chosen_device chosen;  /* --device */
    kith_dtype precision;         /* --precision */
    bool json, quiet;             /* --json, --quiet */
};
extern const struct parser common_parser;

/* Prints "kith NAME: <the library's message>" on one line of stderr; returns exit_failed, or the
 * code of the signal that has stopped the library. Here and below, what is not printable is
 * escaped. */
int cli_fail(const char *command);

/* The same with words of its own. */
int cli_fail_with(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Zeroed memory; free it with free(); NULL, and a line on stderr that names what, if it is more
 * than kith_memory_available: calloc would return it, and the system kill the process that writes
 * to it. */
void *cli_allocate(const char *command, const char *what, int64_t count, int64_t bytes_each);

/* Numbers in a precision, on the heap. NULL if values is NULL, or if memory runs out: *failed is
 * then true. */
void *cli_in_precision(const double *values, int64_t count, kith_dtype dtype, bool *failed);

/* Sorts numbers without NaN; returns their median, 0 of none. */
double cli_sort(double *numbers, int64_t count);

/* Seconds of a monotonic clock. */
double cli_clock(void);

/* Prints "kith NAME: note: …" on stderr, unless quiet. */
void cli_note(bool quiet, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "wrote PATH". */
void cli_print_wrote(FILE *stream, const char *path);

/* Prints "kith NAME: …" on one line of stderr and ends the program with exit_usage. */
_Noreturn void cli_usage_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A copy on the heap, to be taken apart; without memory the program ends with exit_failed. */
char *cli_copy(const char *text, const struct argp_state *state);

/* Option values as numbers; other text ends the program through cli_usage_error. */
double cli_parse_real(const char *option, const char *text, const struct argp_state *state);
/* False if text is not a finite number. */
bool cli_read_real(const char *text, double *value);
double cli_parse_positive(const char *option, const char *text, const struct argp_state *state);
int64_t cli_parse_count(const char *option, const char *text, const struct argp_state *state);
int64_t cli_parse_range(const char *option, const char *text, int64_t least, int64_t most,
                        const struct argp_state *state);
int64_t cli_parse_integer(const char *option, const char *text, const struct argp_state *state);

/* An integer of 64 bits, which may have a point and an exponent: 1000000, 1e6, 2.5e3. False for any
 * other text. */
bool cli_read_integer(const char *text, int64_t *value);

/* A:B, frames from 1, both included, or all. An end left out is the file's: *last is then 0. */
void cli_parse_frames(const char *text, int64_t *first, int64_t *last,
                      const struct argp_state *state);

/* A number of bytes, as 2000000, 512M or 2G. */
int64_t cli_parse_bytes(const char *option, const char *text, const struct argp_state *state);

/* The value of --precision; that of --threads is at most cli_most_threads. */
kith_dtype cli_parse_precision(const char *text, const struct argp_state *state);
enum { cli_most_threads = 4096 };

/* Row k of a table: its name, and what --help says of it. False past the last. */
typedef bool table_row(int64_t k, const char **name, const char **description);

/* For parser.tables: a table as text on the heap, wrapped to the screen. */
char *cli_help_table(const char *title, table_row *row);

/* Two such texts as one, which takes their memory. */
char *cli_join_help(char *first, char *second);

/* The value of --method of forces, and its name. "reference" selects the solver of that name,
 * unless solver is NULL. */
kith_forces_method cli_parse_method(const char *text, const kith_solver **solver,
                                    const struct argp_state *state);
const char *cli_method_name(kith_forces_method method);

/* The value of --solver (NULL: auto), and the table of solvers for --help. */
const kith_solver *cli_parse_solver(const char *text, const struct argp_state *state);
char *cli_solver_help(void);

/* The table of file formats for --help. */
char *cli_format_help(void);

/* For kith_forces_options.advise: a note on how long all pairs take, and what is faster. */
struct cli_advice {
    bool quiet;
    const char *command;
    const char *what; /* takes that long: "", or " an evaluation of the forces" */
};
void cli_advise(void *advice, const kith_solver_advice *solver);

/* Prints what is known of a device, after kith tune. */
void cli_print_tuning(kith_device device, const kith_tuning *tuning);

const char *cli_device_name(kith_device device);
const char *cli_precision_name(kith_dtype precision);

#endif
