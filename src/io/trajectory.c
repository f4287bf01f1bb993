#include "kith/trajectory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "io/bodies.h"
#include "io/h5md_layout.h"
#include "io/h5md_reader.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

struct kith_trajectory {
    struct h5md_reader reader;
    char *path;
};

kith_status kith_trajectory_open(const char *path, kith_trajectory **trajectory)
{
    KITH_TRY(kith_check_pointer(trajectory, "trajectory"));
    *trajectory = NULL;
    KITH_TRY(kith_check_pointer(path, "path"));
    struct kith_trajectory *opened = NULL;
    KITH_TRY(kith_allocate(1, sizeof *opened, "trajectory", &opened));
    kith_status status = kith_allocate((int64_t)strlen(path) + 1, 1, "file name", &opened->path);
    if (status == KITH_OK) {
        struct hdf5_session session;
        memcpy(opened->path, path, strlen(path));
        hdf5_begin(&session);
        status = h5md_reader_open(path, &opened->reader);
        hdf5_end(&session);
    }
    if (status != KITH_OK) {
        free(opened->path);
        free(opened);
        return kith_fail_within(status, "%s: ", path);
    }
    *trajectory = opened;
    return KITH_OK;
}

void kith_trajectory_close(kith_trajectory *trajectory)
{
    if (!trajectory)
        return;
    struct hdf5_session session;
    hdf5_begin(&session);
    h5md_reader_close(&trajectory->reader);
    hdf5_end(&session);
    free(trajectory->path);
    free(trajectory);
}

int64_t kith_trajectory_frames(const kith_trajectory *trajectory)
{
    return trajectory ? trajectory->reader.frames : 0;
}

static kith_status read_frame(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    const kith_status status = h5md_reader_frame(reader, frame, bodies);
    hdf5_end(&session);
    KITH_TRY(status);
    return bodies_check_left(bodies) == KITH_OK ? KITH_OK : KITH_BAD_FORMAT;
}

static kith_status make_bodies(const struct h5md_reader *reader, kith_bodies **bodies)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    const unsigned columns = h5md_reader_columns(reader);
    hdf5_end(&session);
    return kith_bodies_create(reader->count, reader->dimensions, columns, bodies);
}

kith_status kith_trajectory_read(kith_trajectory *trajectory, int64_t frame, kith_bodies **bodies)
{
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    KITH_TRY(kith_check_pointer(trajectory, "trajectory"));
    const struct h5md_reader *reader = &trajectory->reader;
    if (frame < 0 || frame >= reader->frames)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s: frame is %lld; the file has frames 0 to %lld",
                         trajectory->path, (long long)frame, (long long)reader->frames - 1);
    kith_bodies *filled = *bodies;
    if (!filled)
        KITH_TRY(make_bodies(reader, &filled));
    else if (filled->count != reader->count || filled->dimensions != reader->dimensions)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s: these bodies are not of this trajectory",
                         trajectory->path);

    const kith_status status = read_frame(reader, frame, filled);
    if (status != KITH_OK) {
        if (!*bodies)
            kith_bodies_free(filled);
        return kith_fail_within(status, "%s: frame %lld: ", trajectory->path, (long long)frame);
    }
    *bodies = filled;
    return KITH_OK;
}

void kith_trajectory_unit(kith_trajectory *trajectory, const char *quantity, kith_name unit)
{
    if (!unit)
        return;
    unit[0] = 0;
    if (!trajectory || !quantity)
        return;
    const kith_units *units = &trajectory->reader.units;
    const char *name = strcmp(quantity, "length") == 0 ? units->length
                       : strcmp(quantity, "time") == 0 ? units->time
                       : strcmp(quantity, "mass") == 0 ? units->mass
                                                       : "";
    memcpy(unit, name, strlen(name) + 1);
}

int64_t kith_trajectory_systems(const kith_trajectory *trajectory)
{
    if (!trajectory)
        return 0;
    return trajectory->reader.system < 0 ? trajectory->reader.systems : 1;
}

kith_status kith_trajectory_choose_system(kith_trajectory *trajectory, int64_t system)
{
    KITH_TRY(kith_check_pointer(trajectory, "trajectory"));
    const kith_status status = h5md_reader_choose_system(&trajectory->reader, system);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", trajectory->path);
}

/* Shape and values of an observable; those of a scalar one are frames × 1, of a tensor frames × 9.
 * An ensemble has an axis of systems in between. */
static kith_status read_observable(const struct h5md_reader *reader, const char *name,
                                   int64_t *components, double **values)
{
    char path[256];
    struct hdf5_shape shape;
    hsize_t first[hdf5_max_rank] = {0};
    const int axes = reader->is_ensemble ? 2 : 1;
    snprintf(path, sizeof path, "/observables/%s/value", name);
    KITH_TRY(hdf5_shape_of(reader->file, path, &shape));
    const bool is_tensor =
        shape.rank == axes + 2 && shape.size[axes] == 3 && shape.size[axes + 1] == 3;
    if (shape.rank < axes || (shape.rank > axes + 1 && !is_tensor) ||
        shape.size[0] != (hsize_t)reader->frames ||
        (reader->is_ensemble && shape.size[1] != (hsize_t)reader->systems) ||
        (shape.rank > axes && shape.size[axes] == 0))
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset %s is not one number, vector or 3 x 3 tensor per frame%s", path,
                         reader->is_ensemble ? " and system" : "");
    if (reader->is_ensemble && reader->system >= 0) {
        first[1] = (hsize_t)reader->system;
        shape.size[1] = 1;
    }
    *components = 1;
    for (int axis = 1; axis < shape.rank; axis++)
        *components *= (int64_t)shape.size[axis];
    KITH_TRY(kith_allocate(reader->frames, *components * (int64_t)sizeof **values, "observable",
                           values));
    return hdf5_read(reader->file, path, H5T_NATIVE_DOUBLE, first, shape, *values);
}

static kith_status copy_times(const struct h5md_reader *reader, double **times)
{
    KITH_TRY(kith_allocate(reader->frames, sizeof **times, "times", times));
    memcpy(*times, reader->time, (size_t)reader->frames * sizeof **times);
    return KITH_OK;
}

kith_status kith_trajectory_observable(kith_trajectory *trajectory, const char *name,
                                       int64_t *components, double **values, double **times)
{
    struct hdf5_session session;
    KITH_TRY(kith_check_pointer(values, "values"));
    *values = NULL;
    KITH_TRY(kith_check_pointer(trajectory, "trajectory"));
    KITH_TRY(kith_check_pointer(name, "name"));
    KITH_TRY(kith_check_pointer(components, "components"));
    if (times)
        *times = NULL;
    hdf5_begin(&session);
    kith_status status = read_observable(&trajectory->reader, name, components, values);
    hdf5_end(&session);
    if (status == KITH_OK && times)
        status = copy_times(&trajectory->reader, times);
    if (status != KITH_OK) {
        free(*values);
        *values = NULL;
        return kith_fail_within(status, "%s: ", trajectory->path);
    }
    return KITH_OK;
}
