/* Gadget snapshots in HDF5 ("format 3": Springel 2005, Mon. Not. R. Astron. Soc. 364, 1105, and the
 * Gadget-2 and Gadget-4 users' guides): bodies in six types, PartType0 to PartType5.
 *
 * Velocities are taken as they stand: the factor √a of cosmological snapshots is left to the user.
 * BoxSize is not made a cell either: codes fill it in for open boundaries too. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/format.h"
#include "io/gadget.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

enum { most_types = 16 };

const char *const gadget_type_names[gadget_type_count] = {"gas",   "halo",  "disk",
                                                          "bulge", "stars", "bndry"};

struct header {
    int64_t count[most_types];
    double mass[most_types]; /* of every body of a type; 0: they have their own */
    double time;
};

static kith_status read_number(hid_t group, const char *name, hid_t type, void *number)
{
    int64_t found = 0;
    return hdf5_get_numbers(group, name, type, 1, number, &found);
}

static kith_status check_counts(const struct header *header)
{
    int64_t total = 0;
    for (int k = 0; k < most_types; k++) {
        if (header->count[k] < 0)
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile of PartType%d is %lld", k,
                             (long long)header->count[k]);
        if (header->count[k] > 0 && k >= gadget_type_count)
            return kith_fail(KITH_UNSUPPORTED,
                             "there are bodies of PartType%d; kith knows PartType0 to PartType%d",
                             k, gadget_type_count - 1);
        if (__builtin_add_overflow(total, header->count[k], &total))
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile adds up to too many bodies");
    }
    return KITH_OK;
}

static kith_status read_header(hid_t file, struct header *header)
{
    *header = (struct header){0};
    if (!hdf5_is_group(file, "/Header"))
        return kith_fail(KITH_BAD_FORMAT, "group /Header is missing: not a Gadget snapshot");
    const hid_t group = H5Gopen2(file, "/Header", H5P_DEFAULT);
    int64_t types = 0, masses = 0, files = 1;
    KITH_TRY(hdf5_get_numbers(group, "NumPart_ThisFile", H5T_NATIVE_INT64, most_types,
                              header->count, &types));
    if (types == 0)
        return kith_fail(KITH_BAD_FORMAT, "attribute NumPart_ThisFile of /Header is missing");
    KITH_TRY(
        hdf5_get_numbers(group, "MassTable", H5T_NATIVE_DOUBLE, most_types, header->mass, &masses));
    KITH_TRY(read_number(group, "Time", H5T_NATIVE_DOUBLE, &header->time));
    KITH_TRY(read_number(group, "NumFilesPerSnapshot", H5T_NATIVE_INT64, &files));
    if (files > 1)
        return kith_fail(KITH_UNSUPPORTED,
                         "this is one of %lld files of a snapshot; join them to one file first",
                         (long long)files);
    return check_counts(header);
}

/* Reads rows × width numbers of a type, if the dataset is there.
 *
 *   required  it has to be
 *   to        where the type's rows begin; of bytes_each each */
static kith_status read_dataset(hid_t group, int type, const char *name, bool required,
                                int64_t rows, hsize_t width, hid_t memory_type, void *to)
{
    struct hdf5_shape shape;
    if (!required && !hdf5_exists(group, name))
        return KITH_OK;
    kith_status status = hdf5_shape_of(group, name, &shape);
    if (status == KITH_OK &&
        (shape.rank != (width > 1 ? 2 : 1) || (width > 1 && shape.size[1] != width)))
        status = kith_fail(KITH_BAD_FORMAT, "dataset %s is not one of %lld columns", name,
                           (long long)width);
    if (status == KITH_OK && shape.size[0] != (hsize_t)rows)
        status =
            kith_fail(KITH_BAD_FORMAT, "dataset %s has %lld rows, and NumPart_ThisFile says %lld",
                      name, (long long)shape.size[0], (long long)rows);
    if (status == KITH_OK)
        status = hdf5_read(group, name, memory_type, NULL, shape, to);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "PartType%d: ", type);
}

static kith_status check_ids(const kith_bodies *bodies, int64_t first, int64_t count, int type)
{
    for (int64_t i = first; i < first + count; i++)
        if (bodies->id[i] < 0)
            return kith_fail(KITH_UNSUPPORTED,
                             "PartType%d: dataset ParticleIDs has ids that kith cannot hold: "
                             "negative, or of 2^63 and more",
                             type);
    return KITH_OK;
}

/* Checks a type before memory for it is asked for. */
static kith_status check_type(hid_t file, const struct header *header, int type)
{
    char name[32];
    struct hdf5_shape shape;
    const int64_t count = header->count[type];
    snprintf(name, sizeof name, "PartType%d/Coordinates", type);
    KITH_TRY(hdf5_shape_of(file, name, &shape));
    if (shape.rank != 2 || shape.size[1] != 3 || shape.size[0] != (hsize_t)count)
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset %s is not one of %lld rows, as NumPart_ThisFile says, of 3", name,
                         (long long)count);
    return KITH_OK;
}

static kith_status read_type(hid_t file, const struct header *header, int type, int64_t first,
                             kith_bodies *bodies)
{
    char name[16];
    const int64_t count = header->count[type];
    snprintf(name, sizeof name, "/PartType%d", type);
    const hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    const bool own_masses = !(header->mass[type] > 0);
    KITH_TRY(read_dataset(group, type, "Coordinates", true, count, 3, H5T_NATIVE_DOUBLE,
                          bodies->position + 3 * first));
    KITH_TRY(read_dataset(group, type, "Velocities", false, count, 3, H5T_NATIVE_DOUBLE,
                          bodies->velocity + 3 * first));
    if (bodies->id)
        KITH_TRY(read_dataset(group, type, "ParticleIDs", true, count, 1, H5T_NATIVE_UINT64,
                              bodies->id + first));
    if (own_masses)
        KITH_TRY(read_dataset(group, type, "Masses", true, count, 1, H5T_NATIVE_DOUBLE,
                              bodies->mass + first));
    for (int64_t i = first; i < first + count; i++) {
        snprintf(bodies->name[i], sizeof bodies->name[i], "%s", gadget_type_names[type]);
        if (!own_masses)
            bodies->mass[i] = header->mass[type];
    }
    H5Gclose(group);
    return bodies->id ? check_ids(bodies, first, count, type) : KITH_OK;
}

/* Ids are taken if any type has them; then all must. */
static bool has_ids(hid_t file)
{
    bool found = false;
    for (int type = 0; type < gadget_type_count; type++) {
        char path[32];
        snprintf(path, sizeof path, "/PartType%d/ParticleIDs", type);
        found = found || hdf5_exists(file, path);
    }
    return found;
}

static kith_status read_bodies(hid_t file, kith_bodies **bodies)
{
    struct header header;
    KITH_TRY(read_header(file, &header));
    int64_t total = 0;
    for (int type = 0; type < gadget_type_count; type++) {
        if (header.count[type] > 0)
            KITH_TRY(check_type(file, &header, type));
        total += header.count[type];
    }
    const unsigned columns = (unsigned)KITH_VELOCITY | (unsigned)KITH_MASS | (unsigned)KITH_NAME |
                             (has_ids(file) ? (unsigned)KITH_ID : 0);
    KITH_TRY(kith_bodies_create(total, 3, columns, bodies));
    (*bodies)->time = header.time;

    int64_t first = 0;
    for (int type = 0; type < gadget_type_count; type++) {
        if (header.count[type] > 0)
            KITH_TRY(read_type(file, &header, type, first, *bodies));
        first += header.count[type];
    }
    return KITH_OK;
}

kith_status gadget_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    struct hdf5_session session;
    hid_t file = H5I_INVALID_HID;
    (void)options;
    hdf5_begin(&session);
    kith_status status = hdf5_open(path, &file);
    if (status == KITH_OK) {
        status = read_bodies(file, bodies);
        H5Fclose(file);
    }
    hdf5_end(&session);
    if (status != KITH_OK) {
        kith_bodies_free(*bodies);
        *bodies = NULL;
    }
    return status;
}

bool hdf5_looks_like_gadget(const char *path)
{
    struct hdf5_session session;
    hid_t file = H5I_INVALID_HID;
    hdf5_begin(&session);
    const bool opened = hdf5_open(path, &file) == KITH_OK;
    const bool found = opened && hdf5_is_group(file, "/Header") && !hdf5_is_group(file, "/h5md");
    if (opened)
        H5Fclose(file);
    hdf5_end(&session);
    return found;
}
