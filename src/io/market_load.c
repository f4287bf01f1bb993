#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/memory.h"
#include "device/context.h"
#include "io/market.h"
#include "io/text.h"

#ifdef KITH_HAS_ZLIB
#include <zlib.h>
#endif

#ifndef MARKET_FIRST_BYTES /* fewer for fuzzing, where files are short */
#define MARKET_FIRST_BYTES (1 << 20)
#endif
enum { first_capacity = MARKET_FIRST_BYTES, zeros_behind = 64, bytes_at_once = 1 << 24 };

/* Where the bytes come from: a stream, or a .gz file. */
typedef int64_t read_some(void *source, char *to, int64_t most);

static int64_t read_stream(void *source, char *to, int64_t most)
{
    FILE *stream = source;
    const size_t got = fread(to, 1, (size_t)most, stream);
    return ferror(stream) ? -1 : (int64_t)got;
}

/* Reads to the end, into memory that doubles. The input has no known end, and is
 * inspected before there is more. */
static kith_status read_all(const kith_context *context, read_some *read, void *source,
                            int64_t expected, struct market_text *text)
{
    struct market_watch watch = {0};
    bool enough = false;
    int64_t capacity = expected > 0 ? expected + 1 : first_capacity;
    *text = (struct market_text){malloc((size_t)(capacity + zeros_behind)), 0};
    while (text->bytes) {
        KITH_TRY(kith_context_check_cancelled(context));
        const int64_t room = capacity - text->size;
        const int64_t wanted = room < bytes_at_once ? room : bytes_at_once;
        const int64_t got = read(source, text->bytes + text->size, wanted);
        if (got < 0)
            return kith_fail(KITH_IO_ERROR, "cannot be read: %s",
                             errno ? strerror(errno) : "the data are damaged");
        text->size += got;
        memset(text->bytes + text->size, 0, zeros_behind);
        if (got < wanted)
            return KITH_OK;
        if (text->size < capacity)
            continue;
        KITH_TRY(market_watch(&watch, text, &enough));
        if (enough)
            return KITH_OK;
        capacity *= 2;
        char *grown = realloc(text->bytes, (size_t)(capacity + zeros_behind));
        if (!grown)
            free(text->bytes);
        text->bytes = grown;
    }
    return kith_fail(KITH_OUT_OF_MEMORY, "%lld bytes of memory for the text are not available",
                     (long long)capacity);
}

static kith_status load_plain(const kith_context *context, const char *path,
                              struct market_text *text)
{
    FILE *stream = NULL;
    KITH_TRY(open_input(path, &stream));
    int64_t expected = 0;
    if (fseeko(stream, 0, SEEK_END) == 0) {
        expected = ftello(stream);
        rewind(stream);
    }
    /* fread stops short only at the end. */
    const kith_status status = read_all(context, read_stream, stream, expected, text);
    fclose(stream);
    return status;
}

#ifdef KITH_HAS_ZLIB

static int64_t read_compressed(void *source, char *to, int64_t most)
{
    enum { at_once = 1 << 30 };
    int64_t got = 0;
    errno = 0;
    while (got < most) {
        const int64_t left = most - got;
        const int bytes =
            gzread(source, to + got, (unsigned)(left < at_once ? left : (int64_t)at_once));
        if (bytes < 0)
            return -1;
        if (bytes == 0)
            break;
        got += bytes;
    }
    int status = Z_OK;
    gzerror(source, &status);
    return status == Z_OK || status == Z_STREAM_END ? got : -1;
}

static kith_status load_compressed(const kith_context *context, const char *path,
                                   struct market_text *text)
{
    FILE *stream = NULL; /* for the message if the file does not exist */
    KITH_TRY(open_input(path, &stream));
    fclose(stream);
    gzFile file = gzopen(path, "rb");
    if (!file)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory to uncompress it");
    const kith_status status = read_all(context, read_compressed, file, 0, text);
    gzclose(file);
    if (status == KITH_IO_ERROR)
        return kith_fail(KITH_BAD_FORMAT, "the compressed data are damaged or truncated");
    return status;
}

#else

static kith_status load_compressed(const kith_context *context, const char *path,
                                   struct market_text *text)
{
    (void)context, (void)path, (void)text;
    return kith_fail(KITH_UNSUPPORTED, "this build has no zlib for .gz; uncompress the file");
}

#endif

/* By its first bytes (RFC 1952), as a file that comes through standard input has no name; a pipe
 * by its name. */
static bool is_compressed(const char *path)
{
    const size_t length = strlen(path);
    struct stat found;
    FILE *stream = NULL;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || open_input(path, &stream) != KITH_OK)
        return length > 3 && strcmp(path + length - 3, ".gz") == 0;
    unsigned char first[2] = {0};
    const bool begins = fread(first, 1, 2, stream) == 2 && first[0] == 0x1f && first[1] == 0x8b;
    fclose(stream);
    return begins;
}

kith_status market_load(const kith_context *context, const char *path, struct market_text *text)
{
    *text = (struct market_text){0};
    return is_compressed(path) ? load_compressed(context, path, text)
                               : load_plain(context, path, text);
}
