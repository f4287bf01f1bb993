#include "io/frames.h"

#include "core/numbers.h"
#include "io/bodies.h"
#include "io/format.h"

kith_status frames_count(const char *path, const kith_read_options *options, int64_t *frames)
{
    const struct format *format = NULL;
    *frames = 1;
    KITH_TRY(format_to_read(path, options, &format));
    if (!format->frames)
        return KITH_OK;
    const kith_status status = format->frames->count(path, frames);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", path);
}

/* Last 0 becomes the last frame of the file. */
static kith_status check_frames(const char *path, const kith_read_options *options, int64_t first,
                                int64_t *last)
{
    int64_t there = 0;
    KITH_TRY(frames_count(path, options, &there));
    *last = *last > 0 ? *last : there;
    if (first < 1 || *last < first || *last > there)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s: frames is %lld:%lld, but the file has %lld frames", path,
                         (long long)first, (long long)*last, (long long)there);
    return KITH_OK;
}

static kith_status read_single(const char *path, const kith_read_options *options,
                               visit_frame *visit, void *state)
{
    kith_bodies *bodies = NULL;
    KITH_TRY(kith_bodies_read(path, options, &bodies));
    const kith_status status = visit(state, 0, bodies);
    kith_bodies_free(bodies);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", path);
}

kith_status frames_read(const char *path, const kith_read_options *options, int64_t first,
                        int64_t last, visit_frame *visit, void *state)
{
    const struct format *format = NULL;
    KITH_TRY(check_frames(path, options, first, &last));
    KITH_TRY(format_to_read(path, options, &format));
    if (!format->frames)
        return read_single(path, options, visit, state);
    struct c_locale locale;
    KITH_TRY(c_locale_enter(&locale));
    const kith_status status =
        format->frames->read(path, options, first - 1, last - first + 1, visit, state);
    c_locale_leave(&locale);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", path);
}

/* Where frames go, and whether the last one failed to: messages of reading do not have the path,
 * those of writing do. */
struct sink {
    const struct frame_functions *functions;
    void *writer;
    const char *path;
    bool (*is_stopped)(void);
    bool keeps_rows; /* of bodies that were removed */
    bool failed;
};

/* A frame of H5MD has a row for each body of the start, others for those left. */
static kith_status add_left(struct sink *sink, int64_t step, const kith_bodies *bodies)
{
    bool all_are_left = true;
    for (int64_t row = 0; row < bodies->count && all_are_left; row++)
        all_are_left = !bodies_is_removed(bodies, row);
    if (all_are_left || sink->keeps_rows)
        return sink->functions->add(sink->writer, step, bodies);
    kith_bodies *left = NULL;
    KITH_TRY(bodies_copy(bodies, &left));
    kith_status status = bodies_drop_removed(left);
    if (status == KITH_OK)
        status = sink->functions->add(sink->writer, step, left);
    kith_bodies_free(left);
    return status;
}

static kith_status add(void *state, int64_t step, const kith_bodies *bodies)
{
    struct sink *sink = state;
    sink->failed = sink->is_stopped();
    if (sink->failed)
        return kith_fail(KITH_CANCELLED, "%s: interrupted; the file is not written", sink->path);
    if (bodies_check_left(bodies) != KITH_OK)
        return KITH_BAD_FORMAT;
    const kith_status status = add_left(sink, step, bodies);
    sink->failed = status != KITH_OK;
    return status;
}

static kith_status read_one(const struct format *format, const char *path,
                            const kith_read_options *options, struct sink *sink)
{
    kith_bodies *bodies = NULL;
    kith_status status = format->read(path, options, &bodies);
    if (status == KITH_OK)
        status = add(sink, 0, bodies);
    kith_bodies_free(bodies);
    return status;
}

static kith_status convert(const struct format *from, const char *path,
                           const kith_read_options *options, int64_t first, int64_t count,
                           struct sink *sink)
{
    kith_status status = from->frames ? from->frames->read(path, options, first, count, add, sink)
                                      : read_one(from, path, options, sink);
#ifdef KITH_HAS_HDF5
    if (status == KITH_OK && from->frames == &h5md_frames && sink->functions == &h5md_frames)
        status = h5md_frames_add_observables(sink->writer, path, options, first, count);
#endif
    if (status != KITH_OK)
        return sink->failed ? status : kith_fail_within(status, "%s: ", path);
    return sink->functions->finish(sink->writer);
}

kith_status frames_convert(const char *from, const kith_read_options *read, int64_t first,
                           int64_t last, const char *to, const kith_write_options *write,
                           bool (*is_stopped)(void))
{
    const struct format *input = NULL, *output = NULL;
    KITH_TRY(format_to_write(to, write, &output));
    if (!output->frames)
        return kith_fail(KITH_UNSUPPORTED,
                         "%s: a file of format %s has one frame; convert one (--frame K), or to "
                         "H5MD or extended XYZ",
                         to, output->name);
    KITH_TRY(check_frames(from, read, first, &last));
    KITH_TRY(format_to_read(from, read, &input));

    struct c_locale locale;
    KITH_TRY(c_locale_enter(&locale));
    struct sink sink = {.functions = output->frames, .path = to, .is_stopped = is_stopped};
#ifdef KITH_HAS_HDF5
    sink.keeps_rows = sink.functions == &h5md_frames;
#endif
    const int64_t count = last - first + 1;
    kith_status status = sink.functions->begin(to, write, count, &sink.writer);
    if (status == KITH_OK)
        status = convert(input, from, read, first - 1, count, &sink);
    sink.functions->end(sink.writer);
    c_locale_leave(&locale);
    return status;
}
