#ifndef CORE_CACHE_FOLDER_H
#define CORE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { cache_path_bytes = 4096 };

/* The user's cache folder, $XDG_CACHE_HOME/kith or ~/.cache/kith, created if it does not exist.
 * Code is loaded from it, so it must be a folder of this user, not a link, and not writable by
 * others.
 *
 * Errors: KITH_IO_ERROR. */
kith_status cache_folder(char path[cache_path_bytes]);

/* Its path, whether it exists or not. Errors: KITH_IO_ERROR. */
kith_status cache_folder_path(char path[cache_path_bytes]);

/* Checks that a folder belongs to this user, is not a link, and is not writable by others. Errors:
 * KITH_IO_ERROR. */
kith_status cache_check_own(const char *path);

/* Whether there is a file of this user that is not a link and not writable by others. */
bool cache_file_is_own(const char *path);

/* Makes a new folder "PARENT/build-XXXXXX", accessible by this user only, in a cache folder, and
 * removes those of a day ago, which programs that were killed left there.
 * Errors: KITH_IO_ERROR. */
kith_status cache_make_workshop(const char *parent, char path[cache_path_bytes]);

/* The same without a cache folder: in $TMPDIR, or else in /tmp. */
kith_status cache_make_temporary_workshop(char path[cache_path_bytes]);

/* Removes a folder and its content, as far as possible. */
void cache_remove(const char *path);

/* Writes a text to a new file FOLDER/NAME, and creates missing folders of NAME.
 * Errors: KITH_IO_ERROR. */
kith_status cache_write(const char *folder, const char *name, const void *text, int64_t bytes);

/* FNV-1a, 64 bits (Fowler, Noll & Vo): detects damage, not forgery. */
uint64_t cache_hash(const void *data, int64_t bytes);

/* Files of the cache that end with a seal, a line of their key and the hash of what precedes it: a
 * truncated or changed file is detected.
 *
 * cache_seal adds the seal to a file. Errors: KITH_IO_ERROR, KITH_OUT_OF_MEMORY. cache_read_sealed
 * reads a complete file of this user, and makes its time of change the time of its last use; free
 * *data with free(); *bytes excludes the seal. *data is NULL if the file does not exist, which is
 * not an error. */
enum { cache_key_bytes = 33 };
kith_status cache_seal(const char *path, const char *key);
void cache_read_sealed(const char *path, const char *key, void **data, int64_t *bytes);

/* file_publish of a new file, so that it is complete also after a power failure. Errors:
 * KITH_IO_ERROR. */
kith_status cache_publish(const char *made, const char *path);

/* Removes, of the files of a folder whose names begin so, those that were used the longest ago,
 * until the others have at most this many bytes. As far as possible: what cannot be removed stays.
 * A process that uses a file may keep it open or loaded. */
void cache_limit(const char *folder, const char *beginning, int64_t most_bytes);

/* Reads a whole file; free *data with free(). Errors: KITH_IO_ERROR, KITH_OUT_OF_MEMORY. */
kith_status cache_read(const char *path, void **data, int64_t *bytes);

#endif
