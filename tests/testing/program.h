#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <stdbool.h>
#include <string.h>

#include "testing.h"

/* Runs the kith program as a user would, and checks the output. */

struct program_result {
    int exit_code;     /* or 128 + the signal that ended it */
    char out[1 << 16]; /* the beginning of standard output, zero-terminated */
    char err[1 << 14];
};

/* Runs "kith ARGUMENTS…" to its end. The arguments are split at blanks; "@name" is a file of that
 * name in the test's temporary folder. The result is valid until the next call. */
struct program_result *program_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As program_run, but returns immediately with the process id; the output goes to /dev/null. */
int program_start(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The temporary folder, made on first use and removed at exit. */
const char *program_folder(void);

/* A file in the folder: its path (valid until the 16th next call), writing it, reading it. */
const char *program_file(const char *name);
void program_write(const char *name, const char *text);
char *program_read(const char *name); /* on the heap; NULL if not there */
bool program_exists(const char *name);

/* The number behind "key": in JSON text; NaN for null or a missing key. */
double program_json_number(const char *json, const char *key);

static inline void assert_succeeded(const struct program_result *result)
{
    if (result->exit_code != 0)
        fail_msg("exit code %d; stderr: %s", result->exit_code, result->err);
}

/* Fails unless kith ended with this code and one line on stderr, which begins with the program's
 * name and has the fields (fields.h). */
static inline void assert_refused(const struct program_result *result, int code, const char *fields)
{
    if (result->exit_code != code)
        fail_msg("exit code %d, not %d; stderr: %s", result->exit_code, code, result->err);
    if (strncmp(result->err, "kith", 4) != 0)
        fail_msg("stderr does not begin with the program's name: %s", result->err);
    if (!has_fields(result->err, fields))
        fail_msg("stderr '%s' lacks '%s'", result->err, fields);
    const char *newline = strchr(result->err, '\n');
    if (!newline || newline[1])
        fail_msg("stderr is not one line: %s", result->err);
}

#endif
