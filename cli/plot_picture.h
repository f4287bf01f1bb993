#ifndef CLI_PLOT_PICTURE_H
#define CLI_PLOT_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A format of pictures: a row of the table in plot_picture.c. */
struct picture_format {
    const char *extension;
    const char *terminal;      /* gnuplot's name and options; NULL: not by gnuplot */
    const char *begins, *ends; /* bytes that every whole file has there */
    int begin_bytes, end_bytes;
    bool transparency;         /* colors may have an alpha channel */
    double points_per_pixel;   /* of the terminal's font sizes */
    double dot_em, dot_pixels; /* diameter of a dot with pointsize 1: their sum */
};

/* The format of a file name by its extension; NULL if the extension is unknown. */
const struct picture_format *picture_format_of(const char *path);

/* The rows of the table. */
const struct picture_format *picture_formats(int64_t *count);

/* Fails early if no file can be created at path: prints the reason, returns false. "-" is standard
 * output. */
bool picture_can_write(const char *command, const char *path);

/* Copies a picture to path, through a temporary name in the same directory, so that path is
 * complete or unchanged. On failure, also if the picture is incomplete, prints the reason and
 * returns false. */
bool picture_write(const char *command, const char *path, const struct picture_format *format,
                   FILE *picture);

#endif
