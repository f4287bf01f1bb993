#include "io/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/bytes.h"

enum { first_capacity = 1 << 16 };

static kith_status fail_to_read(int error)
{
    return kith_fail(error == ENOMEM ? KITH_OUT_OF_MEMORY : KITH_IO_ERROR, "cannot be read: %s",
                     strerror(error));
}

kith_status open_input(const char *path, FILE **stream)
{
    *stream = fopen(path, "rbe");
    if (!*stream)
        return fail_to_read(errno);
    struct stat found;
    if (fstat(fileno(*stream), &found) == 0 && S_ISDIR(found.st_mode)) {
        fclose(*stream);
        *stream = NULL;
        return fail_to_read(EISDIR);
    }
    return KITH_OK;
}

kith_status text_open(const char *path, struct text *text)
{
    *text = (struct text){0};
    return open_input(path, &text->stream);
}

/* Makes room for more of the first incomplete line, doubling it each time. */
static kith_status make_room(struct text *text)
{
    const size_t rest = text->end - text->begin;
    if (rest > 0)
        memmove(text->buffer, text->buffer + text->begin, rest);
    text->begin = 0;
    text->end = rest;
    if (rest < text->capacity / 2)
        return KITH_OK;
    const size_t capacity = text->capacity > 0 ? 2 * text->capacity : first_capacity;
    char *larger = realloc(text->buffer, capacity + 1); /* a zero after the last line */
    if (!larger)
        return kith_fail(KITH_OUT_OF_MEMORY, "line %lld is too long for the memory",
                         (long long)text->number + 1);
    text->buffer = larger;
    text->capacity = capacity;
    return KITH_OK;
}

/* Finds the end of the next line, reading on as far as it takes; *length is without it, and 0 bytes
 * are left after the last. */
static kith_status find_line(struct text *text, size_t *length)
{
    for (size_t seen = 0;;) {
        const size_t rest = text->end - text->begin;
        const char *from = rest > 0 ? text->buffer + text->begin : NULL;
        const char *found = rest > seen ? memchr(from + seen, '\n', rest - seen) : NULL;
        *length = found ? (size_t)(found - from) : rest;
        if (*length > text_longest_line)
            return kith_fail(KITH_BAD_FORMAT,
                             "line %lld is longer than %d bytes; this is not a text file",
                             (long long)text->number + 1, text_longest_line);
        if (found || feof(text->stream))
            return KITH_OK;
        KITH_TRY(kith_check_poll(&text->poll));
        seen = rest;
        KITH_TRY(make_room(text));
        errno = 0;
        text->end += fread(text->buffer + rest, 1, text->capacity - rest, text->stream);
        if (ferror(text->stream))
            return fail_to_read(errno ? errno : EIO);
    }
}

static void strip_returns(char *line, size_t *length)
{
    while (*length > 0 && line[*length - 1] == '\r')
        --*length;
    line[*length] = 0;
}

kith_status text_next(struct text *text, bool *found)
{
    size_t length = 0;
    *found = text->again;
    text->again = false;
    if (*found)
        return KITH_OK;
    KITH_TRY(find_line(text, &length));
    if (text->begin == text->end)
        return KITH_OK;
    text->line = text->buffer + text->begin;
    text->begin += length < text->end - text->begin ? length + 1 : length;
    text->number++;
    strip_returns(text->line, &length);
    if (strlen(text->line) != length)
        return kith_fail(KITH_BAD_FORMAT, "line %lld has a zero byte; this is not a text file",
                         (long long)text->number);
    static const char mark[] = "\xEF\xBB\xBF";
    if (text->number == 1 && strncmp(text->line, mark, 3) == 0)
        text->line += 3;
    *found = true;
    return KITH_OK;
}

void text_again(struct text *text)
{
    text->again = true;
}

kith_status text_rewind(struct text *text)
{
    KITH_TRY(seek_to(text->stream, 0));
    text->begin = text->end = 0;
    text->number = 0;
    text->again = false;
    return KITH_OK;
}

void text_close(struct text *text)
{
    if (text->stream)
        fclose(text->stream);
    free(text->buffer);
    *text = (struct text){0};
}
