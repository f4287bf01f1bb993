#ifndef IO_OUTPUT_H
#define IO_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"

/* A file being written, which is either complete or absent.
 *
 * Everything goes to a temporary file in the same directory; finishing synchronizes it to the disk
 * and renames it, so that an old file of that name stays until then. A path that is there and is
 * not a regular file (a pipe, a terminal, /dev/stdout) is written in place.
 *
 * All messages name the path and give the system's reason. */
typedef struct kith_output kith_output;

/* Opens path for writing.
 *
 *   output  [out] close with kith_output_finish or kith_output_discard; NULL on failure
 *
 * Errors: KITH_IO_ERROR (no such directory, no permission, path is a directory). */
kith_status kith_output_open(const char *path, kith_output **output);

/* Checks that the disk has room for this many bytes; a path written in place always passes.
 *
 * Errors: KITH_IO_ERROR (fewer bytes are free): a large file fails before it fills the disk. */
kith_status kith_output_check_room(const kith_output *output, int64_t bytes);

/* The stream to write to. Errors may be left to kith_output_finish, which detects them all. */
FILE *kith_output_stream(kith_output *output);

/* Flushes, synchronizes the file to the disk and renames it; frees output in any case.
 *
 * Errors: KITH_IO_ERROR (a full disk, for example): then the temporary file is removed and an old
 *         file unchanged. */
kith_status kith_output_finish(kith_output *output);

/* Removes the temporary file and frees output; keeps the thread's message. NULL is fine. */
void kith_output_discard(kith_output *output);

#endif
