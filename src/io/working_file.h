#ifndef IO_WORKING_FILE_H
#define IO_WORKING_FILE_H

#include <stdbool.h>

#include "core/status.h"

/* A hidden file next to an output that grows during a run, and from which the output is made
 * repeatedly: as a copy, and finally by renaming it. It is called .NAME.kith-HOST-PID-K, so that
 * files left by killed processes are distinguishable from those in use. Messages name the
 * output. */
struct working_file {
    char *output; /* as given */
    char *target; /* output with symbolic links followed: what is renamed to */
    char *path;   /* of the working file; NULL without one */
    char *copy;   /* of the copy that will replace the target */
};

/* Makes an empty working file, and removes those of dead processes of this host.
 *
 *   file  [out] close with working_file_close
 *
 * Errors: KITH_IO_ERROR (no such directory, no permission, output is no regular file). */
kith_status working_file_open(const char *output, struct working_file *file);

/* Copies the output into the working file. */
kith_status working_file_start_from_output(struct working_file *file);

/* Makes the copy; on file systems that can, one that shares its blocks. */
kith_status working_file_copy(struct working_file *file);

/* Brings the copy to the disk and renames it over the output. */
kith_status working_file_publish_copy(const struct working_file *file);

/* The same by renaming the working file itself. */
kith_status working_file_publish(struct working_file *file);

/* Removes the working file and the copy, if they are there, and frees; keeps the thread's
 * message. */
void working_file_close(struct working_file *file);

#endif
