/* Picture files: their formats, and putting a whole one in place of an old one. */

#include "plot_picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "io/output.h"
#include "streams.h"

static const struct picture_format formats[] = {
    {"png", "pngcairo enhanced", "\x89PNG\r\n\x1a\n", "IEND\xae\x42\x60\x82", 8, 8, true, 0.75, 0,
     6.2},
    {"svg", "svg enhanced", "<?xml ", "</svg>", 6, 6, true, 1, 0.75, 0},
    {"gif", "gif enhanced", "GIF8", ";", 4, 1, false, 0.75, 0, 6.2},
    {"mp4", NULL, "\0\0\0", "", 3, 0, false, 0, 0, 0},
    {"html", NULL, "<!DOCTYPE html>", "</html>", 15, 7, false, 0, 0, 0},
    {"webm", NULL, "\x1a\x45\xdf\xa3", "", 4, 0, false, 0, 0, 0},
};

const struct picture_format *picture_formats(int64_t *count)
{
    *count = sizeof formats / sizeof formats[0];
    return formats;
}

const struct picture_format *picture_format_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    if (!dot)
        return NULL;
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++)
        if (strcasecmp(dot + 1, formats[k].extension) == 0)
            return &formats[k];
    return NULL;
}

/* The directory of path as a text on the heap. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

bool picture_can_write(const char *command, const char *path)
{
    struct stat there;
    if (cli_is_stdout(path))
        return true;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        cli_fail_with(command, "%s is not a regular file; give another name to -o", path);
        return false;
    }
    char *directory = directory_of(path);
    const bool writable = directory && access(directory, W_OK | X_OK) == 0;
    if (!writable)
        cli_fail_with(command, "%s: cannot write to the directory %s: %s", path,
                      directory ? directory : "", strerror(errno));
    free(directory);
    return writable;
}

/* Empty lines after the end do not count: SVG files have one or none by gnuplot's version. */
static bool is_whole(const struct picture_format *format, FILE *picture)
{
    char bytes[16];
    const size_t begin = (size_t)format->begin_bytes, end = (size_t)format->end_bytes;
    rewind(picture);
    if (fread(bytes, 1, begin, picture) != begin || memcmp(bytes, format->begins, begin) != 0)
        return false;
    long newlines = -1;
    do {
        newlines++;
        if (fseek(picture, -newlines - 1, SEEK_END) != 0)
            return false;
    } while (fgetc(picture) == '\n');
    if (fseek(picture, -newlines - (long)end, SEEK_END) != 0)
        return false;
    return fread(bytes, 1, end, picture) == end && memcmp(bytes, format->ends, end) == 0;
}

static bool copy(FILE *from, FILE *to)
{
    char buffer[1 << 16];
    size_t bytes;
    rewind(from);
    while ((bytes = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, bytes, to) != bytes)
            return false;
    return !ferror(from);
}

bool picture_write(const char *command, const char *path, const struct picture_format *format,
                   FILE *picture)
{
    if (!is_whole(format, picture)) {
        cli_fail_with(command, "%s: the picture is incomplete; check the space for temporary files",
                      path);
        return false;
    }
    if (cli_is_stdout(path)) {
        const bool done = copy(picture, stdout);
        if (!done)
            cli_fail_stdout(command);
        return done;
    }
    kith_output *output = NULL;
    kith_status status = kith_output_open(path, &output);
    if (status == KITH_OK && !copy(picture, kith_output_stream(output))) {
        kith_output_discard(output);
        cli_fail_with(command, "%s: cannot write: %s", path, strerror(errno));
        return false;
    }
    if (status == KITH_OK)
        status = kith_output_finish(output);
    return status == KITH_OK || cli_fail(command) == exit_ok;
}
