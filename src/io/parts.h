#ifndef IO_PARTS_H
#define IO_PARTS_H

#include <stdint.h>

#include "core/status.h"

/* Names of the files of a snapshot: BASE.0.EXTENSION, BASE.1.EXTENSION, … */

/* The number in a name of this form; −1 if the name has none. */
int64_t part_number(const char *path);

/* The path of part k of the parts that a path belongs to; as many digits if that begins with 0.
 *   part  [out] on the heap; NULL on failure. Errors: KITH_OUT_OF_MEMORY. */
kith_status part_path(const char *path, int64_t k, char **part);

/* The first file of the snapshot whose base name is path, with or without .hdf5 or .h5.
 *   part  [out] on the heap; NULL if the file does not exist. Errors: KITH_OUT_OF_MEMORY. */
kith_status part_first(const char *path, char **part);

#endif
