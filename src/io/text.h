#ifndef IO_TEXT_H
#define IO_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/poll.h"
#include "core/status.h"

/* Opens a file for reading. Messages omit the path. Errors: KITH_IO_ERROR. */
kith_status open_input(const char *path, FILE **stream);

/* The maximum length of a line: a device or a binary file may have no line end. */
enum { text_longest_line = 1 << 20 };

/* A text file, read line by line. */
struct text {
    FILE *stream;
    char *line;     /* of the last text_next, without its end; may be changed */
    int64_t number; /* of the line, from 1 */
    char *buffer;   /* what was read and not given out: from begin to end */
    size_t begin, end, capacity;
    bool again;             /* text_again was called */
    struct poll_state poll; /* asked at every block; none after text_open */
};

kith_status text_open(const char *path, struct text *text);

/* Reads a line; *found is false after the last. A byte-order mark (UTF-8) at the start of the file
 * is left out. Errors: KITH_IO_ERROR, KITH_BAD_FORMAT (a zero byte or a line of more than a million
 * bytes: not text), KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status text_next(struct text *text, bool *found);

/* The next text_next returns the last line once more, which was not changed. */
void text_again(struct text *text);

/* Goes back to the start. Errors: KITH_IO_ERROR (a pipe). */
kith_status text_rewind(struct text *text);

void text_close(struct text *text);

#endif
