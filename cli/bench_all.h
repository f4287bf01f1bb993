#ifndef CLI_BENCH_ALL_H
#define CLI_BENCH_ALL_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* kith bench without a capability: runs all and writes their page, or compares two such runs.
 * Returns an exit code. */
int bench_all(int argc, char **argv);

/* Prints the figures of two files side by side; fails if they have none in common. Returns an exit
 * code. */
int bench_compare(const char *command, const char *const paths[2], bool json);

/* Writes the page of a report, which has the objects machine and capabilities. Returns an exit
 * code. */
int bench_page_write(const char *command, const char *path, const cJSON *report);

#endif
