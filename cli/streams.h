#ifndef CLI_STREAMS_H
#define CLI_STREAMS_H

#include "cli.h"

/* "-" among the files of a command: standard input, and standard output. */

/* Makes an input that is "-", or /dev/stdin, ready: *path becomes a path that reads standard input,
 * and *format, if it is NULL, what the content looks like, as the format's name in the table of
 * bodies. Any other path is left as it is.
 *
 * What comes through a pipe is kept in a temporary file, since some formats are read twice. Only
 * one input can be standard input. HDF5 does not stream: an error. Fails if the output is
 * the input (cli_check_output). Returns an exit code. */
int cli_take_input(const char *command, const char **path, const char **format, const char *output);

/* The same of a file whose format is known. */
int cli_take_plain_input(const char *command, const char **path, const char *output);

/* Fails if the output (NULL: none), or standard output, is a regular file that is read for the
 * input, by whatever name: it would be lost. Returns an exit code. */
int cli_check_output(const char *command, const char *input, const char *format,
                     const char *output);

/* Prints that standard output cannot be written, with the reason by errno; returns exit_failed. */
int cli_fail_stdout(const char *command);

/* "-" as an output file is standard output. */
const char *cli_output_path(const char *path);
bool cli_is_stdout(const char *path); /* NULL is not */

/* The format of an output file: as given, or CSV for a pipe or a device whose name has no
 * extension, or NULL: by the extension. */
const char *cli_output_format(const char *path, const char *given);

/* Prints a note about the columns that the written file cannot store, and returns them, as
 * kith_format_drops. */
unsigned cli_note_dropped(bool quiet, const char *command, const char *path,
                          const kith_write_options *write, const kith_bodies *bodies);

/* Usage errors: an output (NULL: none) on standard output, where --json's object goes alone; an
 * output whose extension is not .npy; one without a format (to, NULL: not given) whose extension is
 * none of these, space-separated and without dots. */
void cli_check_stdout(const char *option, const char *output, const struct common_options *common,
                      const struct argp_state *state);
void cli_check_npy(const char *option, const char *output, const struct argp_state *state);
void cli_check_extension(const char *option, const char *output, const char *to,
                         const char *extensions, const struct argp_state *state);

/* The extensions of tables: of two formats, of three, and of the formats of bodies (static memory).
 */
extern const char extensions_of_tables[], extensions_of_records[];
const char *extensions_of_bodies(void);

#endif
