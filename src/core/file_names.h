#ifndef CORE_FILE_NAMES_H
#define CORE_FILE_NAMES_H

#include "core/status.h"

/* A copy of a path; free it with free(). Errors: KITH_OUT_OF_MEMORY. */
kith_status path_copy(const char *path, char **copy);

/* Files that are written under another name and get theirs when they are whole. */

/* Characters of a path up to its last slash, that included. */
int path_directory_length(const char *path);

/* The path up to its last slash, or "."; free it with free(). NULL without memory. */
char *path_directory(const char *path);

/* Renames a file that is on the disk, and brings its new name to the disk, where the file system
 * can. Returns 0 or an error number. */
int file_replace(const char *made, const char *target);

/* Brings a file to the disk first. */
int file_publish(const char *made, const char *target);

#endif
