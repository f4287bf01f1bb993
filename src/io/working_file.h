#ifndef IO_WORKING_FILE_H
#define IO_WORKING_FILE_H

#include <stdbool.h>

#include "core/status.h"

/* A hidden file beside an output, that takes the output's place again and again. It is called
 * .NAME.kith-HOST-PID-K, so that what a killed process left can be told from what a living one
 * uses. Messages name the output. */
struct working_file {
    char *output; /* as given */
    char *target; /* output with symbolic links followed: what is renamed to */
    char *path;   /* of the working file */
    bool exists;
};

/* Makes an empty working file, and removes those of dead processes of this host.
 *
 *   file  [out] goes with working_file_close
 *
 * Errors: KITH_IO_ERROR (no such directory, no permission, output is no regular file). */
kith_status working_file_open(const char *output, struct working_file *file);

/* Makes the working file anew as a copy of the output; on file systems that can, one that shares
 * its blocks. */
kith_status working_file_copy(struct working_file *file);

/* Brings the working file to the disk and renames it over the output. */
kith_status working_file_publish(struct working_file *file);

/* Removes the working file if there is one, and frees; keeps the thread's message. */
void working_file_close(struct working_file *file);

#endif
