#include "io/h5md_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/events.h"
#include "io/h5md_box.h"
#include "io/h5md_image.h"
#include "io/h5md_layout.h"
#include "io/h5md_names.h"
#include "io/h5md_units.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_events.h"

/* An element of the particles group, as H5MD has it: NAME/value with frames, or the dataset NAME.
 */
struct element {
    char path[64];
    bool series;
    struct hdf5_shape shape; /* of all of it */
};

static kith_status find_element(const struct h5md_reader *reader, const char *name,
                                struct element *element)
{
    element->series = hdf5_is_group(reader->particles, name);
    snprintf(element->path, sizeof element->path, element->series ? "%s/value" : "%s", name);
    return hdf5_shape_of(reader->particles, element->path, &element->shape);
}

/* Reads the rows of one frame: N × width numbers of memory_type; element->shape may have more
 * columns than width. */
static kith_status read_rows(const struct h5md_reader *reader, const struct element *element,
                             int64_t frame, int32_t width, hid_t memory_type, void *rows)
{
    const struct hdf5_shape *shape = &element->shape;
    const int axis = element->series ? 1 : 0;
    const bool fits = shape->rank == axis + (width > 1 ? 2 : 1) &&
                      shape->size[axis] == (hsize_t)reader->rows &&
                      (width == 1 || shape->size[axis + 1] >= (hsize_t)width);
    if (!fits)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s is not one of %lld rows of %d", element->path,
                         (long long)reader->rows, (int)width);
    const hsize_t last = element->series ? shape->size[0] : 1;
    if (last != 1 && last != (hsize_t)reader->frames)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s has %lld frames, and positions have %lld",
                         element->path, (long long)last, (long long)reader->frames);

    hsize_t first[hdf5_max_rank] = {0};
    struct hdf5_shape box = *shape;
    if (element->series) {
        first[0] = last == 1 ? 0 : (hsize_t)frame;
        box.size[0] = 1;
    }
    first[axis] = (hsize_t)reader->first_row;
    box.size[axis] = (hsize_t)reader->count;
    if (width > 1)
        box.size[axis + 1] = (hsize_t)width;
    return hdf5_read(reader->particles, element->path, memory_type, first, box, rows);
}

kith_status h5md_read_reals(const struct h5md_reader *reader, const char *name, int64_t frame,
                            int32_t width, double *rows)
{
    struct element element;
    KITH_TRY(find_element(reader, name, &element));
    if (element.series || element.shape.rank > 0 || width > 1)
        return read_rows(reader, &element, frame, width, H5T_NATIVE_DOUBLE, rows);

    double same = 0;
    KITH_TRY(hdf5_read_real(reader->particles, element.path, &same));
    for (int64_t i = 0; i < reader->count; i++)
        rows[i] = same;
    return KITH_OK;
}

kith_status h5md_read_integers(const struct h5md_reader *reader, const char *name, int64_t frame,
                               int64_t *rows)
{
    struct element element;
    KITH_TRY(find_element(reader, name, &element));
    return read_rows(reader, &element, frame, 1, H5T_NATIVE_INT64, rows);
}

static kith_status read_ids(const struct h5md_reader *reader, int64_t frame, int64_t *ids)
{
    const char *name = hdf5_exists(reader->particles, "original_id") ? "original_id" : "id";
    return h5md_read_integers(reader, name, frame, ids);
}

static kith_status take_particles(struct h5md_reader *reader)
{
    char name[128] = H5MD_PARTICLES;
    if (!hdf5_exists(reader->file, "/particles"))
        return kith_fail(KITH_BAD_FORMAT, "group /particles is missing: not an H5MD file");
    if (!hdf5_exists(reader->file, H5MD_PARTICLES)) {
        H5G_info_t info;
        if (H5Gget_info_by_name(reader->file, "/particles", &info, H5P_DEFAULT) < 0)
            return hdf5_fail(KITH_BAD_FORMAT, "group /particles is damaged");
        if (info.nlinks != 1)
            return kith_fail(KITH_BAD_FORMAT,
                             "/particles has %lld groups, none called trajectory; kith reads files "
                             "with one",
                             (long long)info.nlinks);
        const int length = snprintf(name, sizeof name, "/particles/");
        H5Lget_name_by_idx(reader->file, "/particles", H5_INDEX_NAME, H5_ITER_INC, 0, name + length,
                           sizeof name - (size_t)length, H5P_DEFAULT);
    }
    if (!hdf5_is_group(reader->file, name))
        return kith_fail(KITH_BAD_FORMAT, "%s is not a group", name);
    reader->particles = H5Gopen2(reader->file, name, H5P_DEFAULT);
    return reader->particles < 0 ? hdf5_fail(KITH_BAD_FORMAT, "group %s is damaged", name)
                                 : KITH_OK;
}

/* An ensemble of kith has the number of systems of its rows. */
static kith_status take_systems(struct h5md_reader *reader)
{
    reader->systems = 1;
    reader->system = -1;
    reader->is_ensemble = hdf5_exists(reader->file, H5MD_PARAMETERS "/systems");
    if (!reader->is_ensemble)
        return KITH_OK;
    KITH_TRY(hdf5_read_integer(reader->file, H5MD_PARAMETERS "/systems", &reader->systems));
    if (reader->systems < 0 ||
        (reader->systems == 0 ? reader->rows != 0 : reader->rows % reader->systems != 0))
        return kith_fail(KITH_BAD_FORMAT, "%lld bodies cannot be %lld systems of equal size",
                         (long long)reader->rows, (long long)reader->systems);
    return KITH_OK;
}

static kith_status take_shape(struct h5md_reader *reader)
{
    struct element position;
    KITH_TRY(find_element(reader, "position", &position));
    const int axis = position.series ? 1 : 0;
    const hsize_t *size = position.shape.size;
    if (position.shape.rank != axis + 2 || size[axis] > INT64_MAX / 64)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s is not one of frames × bodies × components",
                         position.path);
    if (size[axis + 1] != 2 && size[axis + 1] != 3)
        return kith_fail(KITH_UNSUPPORTED, "dataset %s has %lld components; kith takes 2 or 3",
                         position.path, (long long)size[axis + 1]);
    reader->fixed = !position.series;
    reader->frames = position.series ? (int64_t)size[0] : 1;
    reader->count = reader->rows = (int64_t)size[axis];
    reader->dimensions = (int32_t)size[axis + 1];

    int64_t dimensions = 0;
    if (hdf5_exists(reader->file, H5MD_PARAMETERS "/dimensions"))
        KITH_TRY(hdf5_read_integer(reader->file, H5MD_PARAMETERS "/dimensions", &dimensions));
    if (dimensions == 2)
        reader->dimensions = 2;
    return take_systems(reader);
}

kith_status h5md_reader_choose_system(struct h5md_reader *reader, int64_t system)
{
    if (system < 0 || system >= reader->systems)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "system is %lld, but the file has %lld systems, counted from 0",
                         (long long)system, (long long)reader->systems);
    reader->count = reader->rows / reader->systems;
    reader->first_row = system * reader->count;
    reader->system = system;
    return KITH_OK;
}

/* Times are a list, or one number, the increment of a regular series, with the attribute offset.
 * Frames without bodies have no data that vouch for their number, so that a list must. */
static kith_status read_times(struct h5md_reader *reader)
{
    struct hdf5_shape shape = {0};
    const bool told = !reader->fixed && hdf5_exists(reader->particles, "position/time");
    if (told)
        KITH_TRY(hdf5_shape_of(reader->particles, "position/time", &shape));
    const bool listed = told && shape.rank == 1 && shape.size[0] == (hsize_t)reader->frames;
    if (reader->rows == 0 && reader->frames > 1 && !listed)
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset position/value has %lld frames without a body; only a list of as "
                         "many times in position/time can determine that",
                         (long long)reader->frames);
    KITH_TRY(kith_allocate(reader->frames, sizeof *reader->time, "times", &reader->time));
    if (!told)
        return KITH_OK;
    if (listed)
        return hdf5_read(reader->particles, "position/time", H5T_NATIVE_DOUBLE, NULL, shape,
                         reader->time);

    double increment = 0, offset = 0;
    int64_t count = 0;
    if (shape.rank != 0)
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset position/time has %lld times, and positions have %lld frames",
                         (long long)shape.size[0], (long long)reader->frames);
    KITH_TRY(hdf5_read_real(reader->particles, "position/time", &increment));
    hid_t time = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(reader->particles, "position/time", &time));
    const kith_status status =
        hdf5_get_numbers(time, "offset", H5T_NATIVE_DOUBLE, 1, &offset, &count);
    H5Dclose(time);
    for (int64_t k = 0; k < reader->frames; k++)
        reader->time[k] = offset + (double)k * increment;
    return status;
}

/* Events of a run change the columns that are stored once. */
static kith_status read_events(struct h5md_reader *reader)
{
    struct hdf5_shape shape;
    KITH_TRY(run_events_read(reader->file, reader->rows, &reader->events, &reader->event_count));
    if (reader->event_count == 0)
        return KITH_OK;
    KITH_TRY(hdf5_shape_of(reader->file, H5MD_POSITION "/step", &shape));
    if (shape.rank != 1 || shape.size[0] != (hsize_t)reader->frames)
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset position/step does not have a step for each frame");
    KITH_TRY(kith_allocate(reader->frames, sizeof *reader->step, "steps", &reader->step));
    return hdf5_read(reader->file, H5MD_POSITION "/step", H5T_NATIVE_INT64, NULL, shape,
                     reader->step);
}

kith_status h5md_reader_open(const char *path, struct h5md_reader *reader)
{
    *reader = (struct h5md_reader){.particles = H5I_INVALID_HID};
    KITH_TRY(hdf5_open(path, &reader->file));
    kith_status status = take_particles(reader);
    if (status == KITH_OK)
        status = take_shape(reader);
    if (status == KITH_OK)
        status = read_times(reader);
    if (status == KITH_OK)
        status = read_events(reader);
    if (status == KITH_OK)
        status = h5md_read_units(reader->file, &reader->units);
    if (status != KITH_OK)
        h5md_reader_close(reader);
    return status;
}

void h5md_reader_close(struct h5md_reader *reader)
{
    free(reader->time);
    free(reader->events);
    free(reader->step);
    H5Fclose(reader->file);
}

/* The id that kith itself writes only numbers the rows. */
static bool has_own_ids(const struct h5md_reader *reader)
{
    if (hdf5_exists(reader->file, H5MD_PARAMETERS "/dimensions"))
        return hdf5_exists(reader->particles, "original_id");
    return hdf5_exists(reader->particles, "id");
}

unsigned h5md_reader_columns(const struct h5md_reader *reader)
{
    const hid_t group = reader->particles;
    return (hdf5_exists(group, "velocity") ? (unsigned)KITH_VELOCITY : 0) |
           (hdf5_exists(group, "mass") ? (unsigned)KITH_MASS : 0) |
           (hdf5_exists(group, "charge") ? (unsigned)KITH_CHARGE : 0) |
           (hdf5_exists(group, "softening") ? (unsigned)KITH_SOFTENING : 0) |
           (hdf5_exists(group, "radius") ? (unsigned)KITH_RADIUS : 0) |
           (hdf5_exists(group, "epsilon") ? (unsigned)KITH_EPSILON : 0) |
           (hdf5_exists(group, "sigma") ? (unsigned)KITH_SIGMA : 0) |
           (has_own_ids(reader) ? (unsigned)KITH_ID : 0) |
           (h5md_has_names(reader) ? (unsigned)KITH_NAME : 0);
}

kith_status h5md_reader_frame(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies)
{
    const int32_t dimensions = reader->dimensions;
    KITH_TRY(h5md_read_reals(reader, "position", frame, dimensions, bodies->position));
    if (bodies->velocity)
        KITH_TRY(h5md_read_reals(reader, "velocity", frame, dimensions, bodies->velocity));
    if (bodies->mass)
        KITH_TRY(h5md_read_reals(reader, "mass", frame, 1, bodies->mass));
    if (bodies->charge)
        KITH_TRY(h5md_read_reals(reader, "charge", frame, 1, bodies->charge));
    if (bodies->softening)
        KITH_TRY(h5md_read_reals(reader, "softening", frame, 1, bodies->softening));
    if (bodies->radius)
        KITH_TRY(h5md_read_reals(reader, "radius", frame, 1, bodies->radius));
    if (bodies->epsilon)
        KITH_TRY(h5md_read_reals(reader, "epsilon", frame, 1, bodies->epsilon));
    if (bodies->sigma)
        KITH_TRY(h5md_read_reals(reader, "sigma", frame, 1, bodies->sigma));
    if (bodies->id)
        KITH_TRY(read_ids(reader, frame, bodies->id));
    if (bodies->name)
        KITH_TRY(h5md_read_names(reader, frame, bodies->name));
    bodies->time = reader->time[frame];
    bodies->units = reader->units;
    if (reader->event_count > 0)
        events_apply(reader->events, reader->event_count, reader->step[frame], bodies);
    KITH_TRY(h5md_read_box(reader, frame, bodies));
    return h5md_unwrap(reader, frame, bodies);
}
