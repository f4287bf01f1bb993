#ifndef CLI_PNG_FILE_H
#define CLI_PNG_FILE_H

#include <stdio.h>

#include "raster.h"

/* Whether this build can write PNG files; if not, prints a line on stderr. */
bool png_file_possible(const char *command);

/* Writes a picture as PNG, 8 bits a channel; on failure prints the reason and returns false. */
bool png_file_write(const char *command, const struct raster *raster, FILE *file);

#endif
