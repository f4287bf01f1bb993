#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <stdbool.h>

/* Runs the kith program as a user would, and looks at what came out. */

struct program_result {
    int exit_code;     /* or 128 + the signal that ended it */
    char out[1 << 16]; /* the beginning of standard output, zero-terminated */
    char err[1 << 14];
};

/* Runs "kith ARGUMENTS…" to its end. The arguments are split at blanks; "@name" is a file of that
 * name in the test's temporary folder. The result is valid until the next call. */
struct program_result *program_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As program_run, but returns at once with the process id; the output goes to /dev/null. */
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

#endif
