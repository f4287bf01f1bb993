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

/* Whether a file of this user's stands there, no link, that nobody else can write to. */
bool cache_file_is_own(const char *path);

/* Makes a new folder in a folder, "PARENT/build-XXXXXX". Errors: KITH_IO_ERROR. */
kith_status cache_make_workshop(const char *parent, char path[cache_path_bytes]);

/* Removes a folder and all in it, as well as it can. */
void cache_remove(const char *path);

/* Writes a text to a new file FOLDER/NAME, with folders of name that are not there yet.
 * Errors: KITH_IO_ERROR. */
kith_status cache_write(const char *folder, const char *name, const void *text, int64_t bytes);

/* Brings a file that was made to the disk, and gives it its name: whoever finds it finds all of it,
 * after a power failure too. Errors: KITH_IO_ERROR. */
kith_status cache_publish(const char *made, const char *path);

/* Reads a whole file; *data goes with free(). Errors: KITH_IO_ERROR, KITH_OUT_OF_MEMORY. */
kith_status cache_read(const char *path, void **data, int64_t *bytes);

#endif
