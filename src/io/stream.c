#include "io/stream.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/arguments.h"
#include "core/file_names.h"
#include "core/numbers.h"
#include "io/bodies.h"
#include "io/format.h"

kith_status bodies_stream_of(kith_bodies *bodies, struct bodies_stream *stream)
{
    *stream = (struct bodies_stream){.count = bodies->count, .bodies = bodies};
    return bodies_make_like(bodies, 1, &stream->like);
}

/* Whether the path is that of a file that can be read twice. */
static bool is_regular(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

/* *stream->state stays NULL if the file is to be read whole. */
static kith_status open_by_format(const char *path, const kith_read_options *options,
                                  struct bodies_stream *stream)
{
    const struct format *format = NULL;
    struct c_locale locale;
    if (!is_regular(path) || (options->other_columns && options->other_columns[0]))
        return KITH_OK;
    KITH_TRY(format_to_read(path, options, &format));
    if (!format->stream || format_check_options(path, format, options) != KITH_OK)
        return KITH_OK;
    stream->functions = format->stream;
    KITH_TRY(c_locale_enter(&locale));
    const kith_status status =
        format->stream->open(path, options, &stream->like, &stream->count, &stream->state);
    c_locale_leave(&locale);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", path);
}

static kith_status open_file(const char *path, const kith_read_options *options,
                             struct bodies_stream *stream)
{
    kith_bodies *bodies = NULL;
    KITH_TRY(open_by_format(path, options, stream));
    if (stream->state)
        return path_copy(path, &stream->path);
    KITH_TRY(kith_bodies_read(path, options, &bodies));
    return bodies_stream_of(bodies, stream);
}

kith_status bodies_stream_open(const char *path, const kith_read_options *options,
                               struct bodies_stream *stream)
{
    const kith_read_options chosen = options ? *options : (kith_read_options){0};
    char *first = NULL;
    *stream = (struct bodies_stream){.count = 0};
    KITH_TRY(format_find_file(path, &first));
    const kith_status status = open_file(first ? first : path, &chosen, stream);
    free(first);
    return status;
}

static kith_status next_of_file(struct bodies_stream *stream, kith_bodies *rows)
{
    struct c_locale locale;
    KITH_TRY(c_locale_enter(&locale));
    kith_status status = stream->functions->next(stream->state, stream->read, rows);
    c_locale_leave(&locale);
    if (status == KITH_OK && bodies_check_rows(rows, stream->read) != KITH_OK)
        status = KITH_BAD_FORMAT;
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", stream->path);
}

kith_status bodies_stream_next(struct bodies_stream *stream, kith_bodies *rows)
{
    if (stream->state)
        KITH_TRY(next_of_file(stream, rows));
    else
        bodies_put_rows(stream->bodies, stream->read, rows);
    stream->read += rows->count;
    return KITH_OK;
}

void bodies_stream_close(struct bodies_stream *stream)
{
    if (stream->functions)
        stream->functions->close(stream->state);
    kith_bodies_free(stream->like);
    kith_bodies_free(stream->bodies);
    free(stream->path);
    *stream = (struct bodies_stream){.count = 0};
}
