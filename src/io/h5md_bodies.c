#include <stdio.h>

#include "io/bodies.h"
#include "io/format.h"
#include "io/h5md_columns.h"
#include "io/h5md_frames.h"
#include "io/h5md_reader.h"
#include "io/h5md_writer.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_parameters.h"

kith_status h5md_choose_frame(int64_t wanted, int64_t frames, int64_t *frame)
{
    if (frames == 0)
        return kith_fail(KITH_BAD_FORMAT, "the file has no frames");
    if (wanted > frames || wanted < -frames)
        return kith_fail(KITH_INVALID_ARGUMENT, "frame is %lld, but the file has %lld frames",
                         (long long)wanted, (long long)frames);
    *frame = wanted > 0 ? wanted - 1 : wanted < 0 ? frames + wanted : frames - 1;
    return KITH_OK;
}

/* Systems of an ensemble are independent; as one system they would interact. */
kith_status h5md_choose_system(const kith_read_options *options, struct h5md_reader *reader)
{
    if (options->system_given)
        return h5md_reader_choose_system(reader, options->system);
    if (reader->systems != 1)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the file is an ensemble of %lld independent systems; choose one by its "
                         "number from 0 (--system K)",
                         (long long)reader->systems);
    return KITH_OK;
}

static kith_status read_frame(struct h5md_reader *reader, const kith_read_options *options,
                              kith_bodies **bodies)
{
    int64_t frame = 0;
    KITH_TRY(h5md_choose_system(options, reader));
    KITH_TRY(h5md_choose_frame(options->frame, reader->frames, &frame));
    KITH_TRY(
        kith_bodies_create(reader->count, reader->dimensions, h5md_reader_columns(reader), bodies));
    kith_status status = h5md_reader_frame(reader, frame, *bodies);
    if (status == KITH_OK)
        status = bodies_drop_removed(*bodies);
    if (status != KITH_OK) {
        kith_bodies_free(*bodies);
        *bodies = NULL;
    }
    return status;
}

kith_status h5md_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    struct hdf5_session session;
    struct h5md_reader reader;
    hdf5_begin(&session);
    kith_status status = h5md_reader_open(path, &reader);
    if (status == KITH_OK) {
        status = read_frame(&reader, options, bodies);
        h5md_reader_close(&reader);
    }
    hdf5_end(&session);
    return status;
}

static kith_status write_frame(hid_t file, const kith_bodies *bodies,
                               const kith_write_options *options)
{
    const struct h5md_layout layout = {.count = bodies->count,
                                       .systems = 1,
                                       .frames_expected = 1,
                                       .precision = KITH_F64,
                                       .velocities = bodies->velocity != NULL,
                                       .cell = bodies->has_cell};
    KITH_TRY(h5md_make_layout(file, &layout, bodies));
    KITH_TRY(h5md_write_columns(file, &layout, bodies));
    const struct run_origin origin = {.arguments = options->arguments, .units = bodies->units};
    KITH_TRY(run_parameters_write_origin(file, &origin));

    struct h5md_writer writer;
    kith_status status = h5md_writer_begin(file, &layout, &writer);
    if (status == KITH_OK)
        status = h5md_writer_add(&writer, 0, bodies, NULL);
    if (status == KITH_OK)
        status = h5md_writer_complete(&writer, file);
    h5md_writer_end(&writer);
    return status;
}

kith_status h5md_write(const kith_bodies *bodies, const char *path,
                       const kith_write_options *options)
{
    struct hdf5_session session;
    hid_t file = H5I_INVALID_HID;
    hdf5_begin(&session);
    kith_status status = hdf5_create_in_memory(&file);
    if (status == KITH_OK) {
        status = write_frame(file, bodies, options);
        status = status == KITH_OK ? hdf5_save(file, path) : kith_fail_within(status, "%s: ", path);
        H5Fclose(file);
    }
    hdf5_end(&session);
    return status;
}

unsigned h5md_holds(const kith_bodies *bodies)
{
    (void)bodies;
    return all_columns | KITH_CELL | KITH_UNITS;
}

bool hdf5_looks_like_h5md(const char *path)
{
    struct hdf5_session session;
    hid_t file = H5I_INVALID_HID;
    hdf5_begin(&session);
    const bool opened = hdf5_open(path, &file) == KITH_OK;
    const bool found = opened && hdf5_is_group(file, "/h5md");
    if (opened)
        H5Fclose(file);
    hdf5_end(&session);
    return found;
}
