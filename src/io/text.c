#include "io/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/bytes.h"

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

static size_t strip_line_end(char *line, size_t length)
{
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    line[length] = 0;
    return length;
}

kith_status text_next(struct text *text, bool *found)
{
    *found = false;
    errno = 0;
    const ssize_t got = getline(&text->line, &text->capacity, text->stream);
    if (got < 0) {
        if (errno == ENOMEM)
            return kith_fail(KITH_OUT_OF_MEMORY, "line %lld is too long for the memory",
                             (long long)text->number + 1);
        return ferror(text->stream) ? fail_to_read(errno ? errno : EIO) : KITH_OK;
    }
    text->number++;
    const size_t length = strip_line_end(text->line, (size_t)got);
    if (strlen(text->line) != length)
        return kith_fail(KITH_BAD_FORMAT, "line %lld has a zero byte; this is not a text file",
                         (long long)text->number);
    static const char mark[] = "\xEF\xBB\xBF";
    if (text->number == 1 && strncmp(text->line, mark, 3) == 0)
        memmove(text->line, text->line + 3, length - 2);
    *found = true;
    return KITH_OK;
}

kith_status text_rewind(struct text *text)
{
    KITH_TRY(seek_to(text->stream, 0));
    text->number = 0;
    return KITH_OK;
}

void text_close(struct text *text)
{
    if (text->stream)
        fclose(text->stream);
    free(text->line);
    *text = (struct text){0};
}
