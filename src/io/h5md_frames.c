/* Several frames of an H5MD file, read in order or written. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bodies.h"
#include "io/format.h"
#include "io/h5md_columns.h"
#include "io/h5md_frames.h"
#include "io/h5md_reader.h"
#include "io/h5md_writer.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_parameters.h"
#include "io/working_file.h"

static kith_status count(const char *path, int64_t *frames)
{
    struct hdf5_session session;
    struct h5md_reader reader;
    hdf5_begin(&session);
    const kith_status status = h5md_reader_open(path, &reader);
    if (status == KITH_OK) {
        *frames = reader.frames;
        h5md_reader_close(&reader);
    }
    hdf5_end(&session);
    return status;
}

/* A list, or one number, the increment of a regular series, with the attribute offset; frames
 * without steps are counted. */
static kith_status read_steps(const struct h5md_reader *reader, int64_t *steps)
{
    struct hdf5_shape shape = {.rank = -1};
    int64_t increment = 1, offset = 0, count = 0;
    if (!reader->fixed && hdf5_exists(reader->particles, "position/step"))
        KITH_TRY(hdf5_shape_of(reader->particles, "position/step", &shape));
    if (shape.rank == 1 && shape.size[0] == (hsize_t)reader->frames)
        return hdf5_read(reader->particles, "position/step", H5T_NATIVE_INT64, NULL, shape, steps);

    if (shape.rank == 0) {
        hid_t step = H5I_INVALID_HID;
        KITH_TRY(hdf5_read_integer(reader->particles, "position/step", &increment));
        KITH_TRY(hdf5_open_dataset(reader->particles, "position/step", &step));
        const kith_status status =
            hdf5_get_numbers(step, "offset", H5T_NATIVE_INT64, 1, &offset, &count);
        H5Dclose(step);
        KITH_TRY(status);
    }
    for (int64_t k = 0; k < reader->frames; k++)
        steps[k] = (int64_t)((uint64_t)offset + (uint64_t)k * (uint64_t)increment);
    return KITH_OK;
}

struct source {
    struct h5md_reader reader;
    bool is_open;
    int64_t *steps;
    kith_bodies *bodies;
};

void h5md_keep_open(const struct h5md_reader *reader)
{
    static const char *const paths[] = {"position/value", "velocity/value", "image/value",
                                        "box/edges/value"};
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
        (void)hdf5_keep_open(reader->particles, paths[k]);
}

static kith_status open_source(const char *path, const kith_read_options *options,
                               struct source *source)
{
    struct h5md_reader *reader = &source->reader;
    KITH_TRY(h5md_reader_open(path, reader));
    source->is_open = true;
    h5md_keep_open(reader);
    KITH_TRY(h5md_choose_system(options, reader));
    KITH_TRY(kith_allocate(reader->frames, sizeof *source->steps, "steps", &source->steps));
    KITH_TRY(read_steps(reader, source->steps));
    return kith_bodies_create(reader->count, reader->dimensions, h5md_reader_columns(reader),
                              &source->bodies);
}

/* The visitor may write HDF5 too, in a session of its own. */
static kith_status visit_frames(struct source *source, int64_t first, int64_t frames,
                                visit_frame *visit, void *state)
{
    for (int64_t k = first; k < first + frames; k++) {
        struct hdf5_session session;
        hdf5_begin(&session);
        const kith_status status = h5md_reader_frame(&source->reader, k, source->bodies);
        hdf5_end(&session);
        KITH_TRY(status);
        KITH_TRY(visit(state, source->steps[k], source->bodies));
    }
    return KITH_OK;
}

static kith_status read(const char *path, const kith_read_options *options, int64_t first,
                        int64_t frames, visit_frame *visit, void *state)
{
    struct hdf5_session session;
    struct source source = {0};
    hdf5_begin(&session);
    kith_status status = open_source(path, options, &source);
    hdf5_end(&session);
    if (status == KITH_OK)
        status = visit_frames(&source, first, frames, visit, state);
    if (source.is_open) {
        hdf5_begin(&session);
        h5md_reader_close(&source.reader);
        hdf5_end(&session);
    }
    free(source.steps);
    kith_bodies_free(source.bodies);
    return status;
}

struct h5md_frames_writer {
    struct working_file working;
    const kith_write_options *options;
    int64_t frames;
    struct h5md_layout layout;
    struct h5md_writer writer;
    kith_bodies *first; /* the columns that are stored once; NULL until the first frame */
    hid_t file;         /* open if there is a first frame */
    int error;          /* of the system, in writing; 0 if all is well */
};

static kith_status begin(const char *path, const kith_write_options *options, int64_t frames,
                         void **writer)
{
    struct h5md_frames_writer *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "H5MD file", &made));
    made->options = options;
    made->frames = frames;
    made->file = H5I_INVALID_HID;
    *writer = made;
    return working_file_open(path, &made->working);
}

/* A column that H5MD stores once, of N × bytes. */
struct column {
    const char *name;
    unsigned flag;
    void *one, *other;
    size_t bytes;
};

enum { fixed_columns = 8 };

static void list_fixed(const kith_bodies *one, const kith_bodies *other,
                       struct column list[fixed_columns])
{
    list[0] = (struct column){"mass", KITH_MASS, one->mass, other->mass, sizeof *one->mass};
    list[1] =
        (struct column){"charge", KITH_CHARGE, one->charge, other->charge, sizeof *one->charge};
    list[2] = (struct column){"softening", KITH_SOFTENING, one->softening, other->softening,
                              sizeof *one->softening};
    list[3] =
        (struct column){"radius", KITH_RADIUS, one->radius, other->radius, sizeof *one->radius};
    list[4] = (struct column){"id", KITH_ID, one->id, other->id, sizeof *one->id};
    list[5] = (struct column){"name", KITH_NAME, one->name, other->name, sizeof *one->name};
    list[6] = (struct column){"epsilon", KITH_EPSILON, one->epsilon, other->epsilon,
                              sizeof *one->epsilon};
    list[7] = (struct column){"sigma", KITH_SIGMA, one->sigma, other->sigma, sizeof *one->sigma};
}

static kith_status keep_first(struct h5md_frames_writer *to, const kith_bodies *bodies)
{
    struct column columns[fixed_columns];
    KITH_TRY(kith_bodies_create(bodies->count, bodies->dimensions, kith_bodies_columns(bodies),
                                &to->first));
    list_fixed(to->first, bodies, columns);
    for (int k = 0; k < fixed_columns; k++)
        if (columns[k].other && bodies->count > 0)
            memcpy(columns[k].one, columns[k].other, (size_t)bodies->count * columns[k].bytes);
    to->first->units = bodies->units;
    to->first->has_cell = bodies->has_cell;
    memcpy(to->first->periodic, bodies->periodic, sizeof bodies->periodic);
    return KITH_OK;
}

static kith_status check_like_first(const kith_bodies *first, const kith_bodies *bodies,
                                    int64_t frame)
{
    struct column columns[fixed_columns];
    list_fixed(first, bodies, columns);
    const char *what =
        bodies->count != first->count                               ? "the number of bodies"
        : bodies->dimensions != first->dimensions                   ? "the number of dimensions"
        : kith_bodies_columns(bodies) != kith_bodies_columns(first) ? "the columns"
        : bodies->has_cell != first->has_cell ||
                memcmp(bodies->periodic, first->periodic, sizeof first->periodic) != 0
            ? "the boundary"
        : memcmp(&bodies->units, &first->units, sizeof first->units) != 0 ? "the units"
                                                                          : NULL;
    for (int k = 0; !what && k < fixed_columns; k++)
        if (columns[k].one &&
            memcmp(columns[k].one, columns[k].other, (size_t)first->count * columns[k].bytes) != 0)
            what = columns[k].name;
    if (!what)
        return KITH_OK;
    return kith_fail(
        KITH_UNSUPPORTED,
        "%s changes in frame %lld of those converted, and H5MD stores it once; convert "
        "fewer frames, or to extended XYZ",
        what, (long long)frame + 1);
}

static kith_status make_file(struct h5md_frames_writer *to, const kith_bodies *bodies)
{
    to->layout = (struct h5md_layout){.count = bodies->count,
                                      .systems = 1,
                                      .frames_expected = to->frames,
                                      .precision = KITH_F64,
                                      .velocities = bodies->velocity != NULL,
                                      .cell = bodies->has_cell};
    const struct run_origin origin = {.arguments = to->options->arguments, .units = bodies->units};
    KITH_TRY(hdf5_create(to->working.path, &to->error, &to->file));
    KITH_TRY(keep_first(to, bodies));
    KITH_TRY(h5md_make_layout(to->file, &to->layout, bodies));
    KITH_TRY(h5md_write_columns(to->file, &to->layout, bodies));
    KITH_TRY(run_parameters_write_origin(to->file, &origin));
    return h5md_writer_begin(to->file, &to->layout, &to->writer);
}

static kith_status add_frame(struct h5md_frames_writer *to, int64_t step, const kith_bodies *bodies)
{
    if (to->file < 0)
        KITH_TRY(make_file(to, bodies));
    KITH_TRY(check_like_first(to->first, bodies, to->writer.gathered));
    KITH_TRY(h5md_writer_add(&to->writer, step, bodies, NULL));
    return to->error ? kith_fail(KITH_IO_ERROR, "cannot be written: %s", strerror(to->error))
                     : KITH_OK;
}

static kith_status add(void *writer, int64_t step, const kith_bodies *bodies)
{
    struct h5md_frames_writer *to = writer;
    struct hdf5_session session;
    hdf5_begin(&session);
    const kith_status status = add_frame(to, step, bodies);
    hdf5_end(&session);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", to->working.output);
}

/* Once closed, the file is whole. */
static kith_status close_file(struct h5md_frames_writer *to)
{
    const hid_t file = to->file;
    to->file = H5I_INVALID_HID;
    if (file >= 0 && hdf5_close_written(file) < 0)
        return hdf5_fail(KITH_IO_ERROR, "cannot be written");
    return to->error ? kith_fail(KITH_IO_ERROR, "cannot be written: %s", strerror(to->error))
                     : KITH_OK;
}

static kith_status finish(void *writer)
{
    struct h5md_frames_writer *to = writer;
    struct hdf5_session session;
    hdf5_begin(&session);
    kith_status status = h5md_writer_complete(&to->writer, to->file);
    if (status == KITH_OK)
        status = close_file(to);
    hdf5_end(&session);
    if (status != KITH_OK)
        return kith_fail_within(status, "%s: ", to->working.output);
    return working_file_publish(&to->working);
}

static void end(void *writer)
{
    struct h5md_frames_writer *to = writer;
    struct hdf5_session session;
    if (!to)
        return;
    hdf5_begin(&session);
    if (to->file >= 0)
        hdf5_close_written(to->file);
    hdf5_end(&session);
    h5md_writer_end(&to->writer);
    kith_bodies_free(to->first);
    working_file_close(&to->working);
    free(to);
}

const struct frame_functions h5md_frames = {count, read, begin, add, finish, end};

kith_status h5md_frames_add_observables(void *writer, const char *path,
                                        const kith_read_options *options, int64_t first,
                                        int64_t frames)
{
    const struct h5md_frames_writer *to = writer;
    struct hdf5_session session;
    struct h5md_reader reader;
    hdf5_begin(&session);
    kith_status status = h5md_reader_open(path, &reader);
    if (status == KITH_OK) {
        status = h5md_choose_system(options, &reader);
        if (status == KITH_OK)
            status = h5md_copy_observables(&reader, first, frames, to->file);
        h5md_reader_close(&reader);
    }
    hdf5_end(&session);
    return status;
}
