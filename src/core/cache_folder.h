#ifndef CORE_CACHE_FOLDER_H
#define CORE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { cache_path_bytes = 4096 };

/* The user's cache folder, $XDG_CACHE_HOME/kith or ~/.cache/kith, made if it is not there. Code is
 * loaded from it, so it must be a folder of this user's, no link, that nobody else can write to.
 *
 * Errors: KITH_IO_ERROR. */
kith_status cache_folder(char path[cache_path_bytes]);

/* Its path alone, whether it is there or not. Errors: KITH_IO_ERROR. */
kith_status cache_folder_path(char path[cache_path_bytes]);

/* Whether a folder is this user's, no link, and nobody else's to write to. Errors: KITH_IO_ERROR.
 */
kith_status cache_check_own(const char *path);

/* Whether there is a file of this user's, no link, that nobody else can write to. */
bool cache_file_is_own(const char *path);

/* Makes a new folder in a folder, "PARENT/build-XXXXXX", this user's alone.
 * Errors: KITH_IO_ERROR. */
kith_status cache_make_workshop(const char *parent, char path[cache_path_bytes]);

/* The same where there is no cache folder: in $TMPDIR, or else in /tmp. */
kith_status cache_make_temporary_workshop(char path[cache_path_bytes]);

/* Removes a folder and all in it, as well as it can. */
void cache_remove(const char *path);

/* Writes a text to a new file FOLDER/NAME, with folders of name that are not there yet.
 * Errors: KITH_IO_ERROR. */
kith_status cache_write(const char *folder, const char *name, const void *text, int64_t bytes);

/* FNV-1a, 64 bits (Fowler, Noll & Vo): detects damage, not forgery. */
uint64_t cache_hash(const void *data, int64_t bytes);

/* Files of the cache that end with a seal, a line of their key and the hash of what precedes it:
 * half a file, or one with a changed byte, is not taken for a whole one.
 *
 * cache_seal adds the seal to a file. Errors: KITH_IO_ERROR, KITH_OUT_OF_MEMORY.
 * cache_read_sealed reads a file that is this user's alone and whole; free *data with free(),
 * *bytes is without the seal. *data is NULL where there is no such file; that is no error. */
enum { cache_key_bytes = 33 };
kith_status cache_seal(const char *path, const char *key);
void cache_read_sealed(const char *path, const char *key, void **data, int64_t *bytes);

/* Brings a file that was made to the disk, and gives it its name: whoever finds it finds all of it,
 * after a power failure too. Errors: KITH_IO_ERROR. */
kith_status cache_publish(const char *made, const char *path);

/* Reads a whole file; free *data with free(). Errors: KITH_IO_ERROR, KITH_OUT_OF_MEMORY. */
kith_status cache_read(const char *path, void **data, int64_t *bytes);

#endif
