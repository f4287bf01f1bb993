/* Gadget snapshots in HDF5 ("format 3": Springel 2005, Mon. Not. R. Astron. Soc. 364, 1105, and the
 * Gadget-2 and Gadget-4 users' guides): bodies in six types, PartType0 to PartType5.
 *
 * A snapshot is one file, or several (io/parts.h): of each type the bodies of the first file come
 * first. A BoxSize above 0 is the edge of a periodic cube, or three edges. Velocities are taken as
 * they are: the factor √a of cosmological snapshots is left to the user. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/format.h"
#include "io/gadget.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/parts.h"

enum { most_types = 16 };

const char *const gadget_type_names[gadget_type_count] = {"gas",   "halo",  "disk",
                                                          "bulge", "stars", "bndry"};

struct header {
    int64_t count[most_types]; /* in this file */
    int64_t total[most_types]; /* in all files */
    double mass[most_types];   /* of every body of a type; 0: they have their own */
    double time, box[3];
    int64_t files;
    bool has_total;
};

/* The files of a snapshot, and what they hold together. */
struct snapshot {
    const char *path;    /* of any of its files */
    struct header first; /* of its first file */
    int64_t seen;        /* files inspected */
    int64_t count[gadget_type_count];
    bool has_ids;
    int64_t next[gadget_type_count]; /* rows of the bodies that the next file begins with */
    kith_bodies *bodies;
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
            return kith_fail(
                KITH_UNSUPPORTED,
                "there are bodies of PartType%d; kith supports PartType0 to PartType%d", k,
                gadget_type_count - 1);
        if (__builtin_add_overflow(total, header->count[k], &total))
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile adds up to too many bodies");
    }
    return KITH_OK;
}

/* NumPart_Total, whose upper halves may be an attribute of their own. */
static kith_status read_totals(hid_t group, struct header *header)
{
    int64_t found = 0, upper[most_types] = {0};
    KITH_TRY(hdf5_get_numbers(group, "NumPart_Total", H5T_NATIVE_INT64, most_types, header->total,
                              &found));
    header->has_total = found > 0;
    KITH_TRY(hdf5_get_numbers(group, "NumPart_Total_HighWord", H5T_NATIVE_INT64, most_types, upper,
                              &found));
    for (int k = 0; k < most_types; k++)
        if (upper[k] > 0 && upper[k] <= INT32_MAX && header->total[k] <= UINT32_MAX)
            header->total[k] += upper[k] << 32;
    return KITH_OK;
}

static kith_status read_box(hid_t group, struct header *header)
{
    int64_t found = 0;
    KITH_TRY(hdf5_get_numbers(group, "BoxSize", H5T_NATIVE_DOUBLE, 3, header->box, &found));
    if (found == 1)
        header->box[1] = header->box[2] = header->box[0];
    return found == 2
               ? kith_fail(KITH_BAD_FORMAT, "attribute BoxSize has 2 numbers; it must have 1 "
                                            "or 3")
               : KITH_OK;
}

static kith_status read_header(hid_t file, struct header *header)
{
    *header = (struct header){.files = 1};
    if (!hdf5_is_group(file, "/Header"))
        return kith_fail(KITH_BAD_FORMAT, "group /Header is missing: not a Gadget snapshot");
    const hid_t group = H5Gopen2(file, "/Header", H5P_DEFAULT);
    int64_t types = 0, masses = 0;
    KITH_TRY(hdf5_get_numbers(group, "NumPart_ThisFile", H5T_NATIVE_INT64, most_types,
                              header->count, &types));
    if (types == 0)
        return kith_fail(KITH_BAD_FORMAT, "attribute NumPart_ThisFile of /Header is missing");
    KITH_TRY(
        hdf5_get_numbers(group, "MassTable", H5T_NATIVE_DOUBLE, most_types, header->mass, &masses));
    KITH_TRY(read_number(group, "Time", H5T_NATIVE_DOUBLE, &header->time));
    KITH_TRY(read_number(group, "NumFilesPerSnapshot", H5T_NATIVE_INT64, &header->files));
    KITH_TRY(read_totals(group, header));
    KITH_TRY(read_box(group, header));
    return check_counts(header);
}

/* Reads rows × width numbers of a type, if the dataset exists.
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

/* Checks a type before memory for it is requested. */
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

static kith_status check_like_first(const struct header *header, const struct header *first)
{
    const char *what = header->files != first->files ? "NumFilesPerSnapshot"
                       : memcmp(&header->time, &first->time, sizeof first->time) != 0 ? "Time"
                       : memcmp(header->box, first->box, sizeof first->box) != 0      ? "BoxSize"
                       : memcmp(header->mass, first->mass, sizeof first->mass) != 0   ? "MassTable"
                       : header->has_total != first->has_total ||
                               memcmp(header->total, first->total, sizeof first->total) != 0
                           ? "NumPart_Total"
                           : NULL;
    if (what)
        return kith_fail(KITH_BAD_FORMAT,
                         "attribute %s is not that of the first file of the snapshot", what);
    return KITH_OK;
}

/* Checks a file before memory for the bodies is requested. */
static kith_status inspect_file(hid_t file, struct snapshot *snapshot)
{
    struct header header;
    KITH_TRY(read_header(file, &header));
    if (snapshot->seen++ == 0)
        snapshot->first = header;
    KITH_TRY(check_like_first(&header, &snapshot->first));
    for (int type = 0; type < gadget_type_count; type++) {
        if (header.count[type] > 0)
            KITH_TRY(check_type(file, &header, type));
        if (__builtin_add_overflow(snapshot->count[type], header.count[type],
                                   &snapshot->count[type]))
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile adds up to too many bodies");
    }
    snapshot->has_ids = snapshot->has_ids || has_ids(file);
    return KITH_OK;
}

static kith_status read_file(hid_t file, struct snapshot *snapshot)
{
    struct header header;
    KITH_TRY(read_header(file, &header));
    for (int type = 0; type < gadget_type_count; type++) {
        const int64_t count = header.count[type];
        if (count > snapshot->count[type])
            return kith_fail(KITH_BAD_FORMAT, "the file changes while it is read");
        if (count > 0)
            KITH_TRY(read_type(file, &header, type, snapshot->next[type], snapshot->bodies));
        snapshot->next[type] += count;
        snapshot->count[type] -= count;
    }
    return KITH_OK;
}

typedef kith_status visit_file(hid_t file, struct snapshot *snapshot);

static kith_status visit_one(const char *path, visit_file *visit, struct snapshot *snapshot)
{
    hid_t file = H5I_INVALID_HID;
    KITH_TRY(hdf5_open(path, &file));
    const kith_status status = visit(file, snapshot);
    H5Fclose(file);
    return status;
}

static kith_status visit_part(int64_t k, visit_file *visit, struct snapshot *snapshot)
{
    char *path = NULL;
    KITH_TRY(part_path(snapshot->path, k, &path));
    kith_status status = visit_one(path, visit, snapshot);
    if (status != KITH_OK)
        status = kith_fail_within(status, "file %s of the snapshot: ", path);
    free(path);
    return status;
}

static kith_status visit_all(visit_file *visit, struct snapshot *snapshot)
{
    const int64_t files = snapshot->first.files;
    if (files <= 1)
        return visit_one(snapshot->path, visit, snapshot);
    for (int64_t k = 0; k < files; k++)
        KITH_TRY(visit_part(k, visit, snapshot));
    return KITH_OK;
}

static kith_status check_totals(const struct snapshot *snapshot)
{
    for (int type = 0; snapshot->first.has_total && type < gadget_type_count; type++)
        if (snapshot->count[type] != snapshot->first.total[type])
            return kith_fail(KITH_BAD_FORMAT,
                             "the %lld files of the snapshot have %lld bodies of PartType%d, and "
                             "NumPart_Total says %lld",
                             (long long)snapshot->first.files, (long long)snapshot->count[type],
                             type, (long long)snapshot->first.total[type]);
    return KITH_OK;
}

/* The other files are found by the number in the name of this one. */
static kith_status check_name(const struct snapshot *snapshot)
{
    const int64_t number = part_number(snapshot->path), files = snapshot->first.files;
    if (number >= 0 && number < files)
        return KITH_OK;
    return kith_fail(KITH_UNSUPPORTED,
                     "this is one of %lld files of a snapshot; name them BASE.0.hdf5 to "
                     "BASE.%lld.hdf5",
                     (long long)files, (long long)files - 1);
}

static kith_status inspect_all(struct snapshot *snapshot)
{
    KITH_TRY(visit_one(snapshot->path, inspect_file, snapshot));
    if (snapshot->first.files <= 1)
        return KITH_OK;
    KITH_TRY(check_name(snapshot));
    *snapshot = (struct snapshot){.path = snapshot->path, .first.files = snapshot->first.files};
    KITH_TRY(visit_all(inspect_file, snapshot));
    return check_totals(snapshot);
}

static void take_header(const struct header *header, kith_bodies *bodies)
{
    const double *box = header->box;
    bodies->time = header->time;
    bodies->has_cell = !(box[0] <= 0) && !(box[1] <= 0) && !(box[2] <= 0);
    for (int k = 0; bodies->has_cell && k < 3; k++) {
        bodies->cell[4 * k] = box[k];
        bodies->periodic[k] = true;
    }
}

static kith_status read_snapshot(struct snapshot *snapshot)
{
    int64_t total = 0;
    KITH_TRY(inspect_all(snapshot));
    for (int type = 0; type < gadget_type_count; type++) {
        snapshot->next[type] = total;
        if (__builtin_add_overflow(total, snapshot->count[type], &total))
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile adds up to too many bodies");
    }
    const unsigned columns = (unsigned)KITH_VELOCITY | (unsigned)KITH_MASS | (unsigned)KITH_NAME |
                             (snapshot->has_ids ? (unsigned)KITH_ID : 0);
    KITH_TRY(kith_bodies_create(total, 3, columns, &snapshot->bodies));
    take_header(&snapshot->first, snapshot->bodies);
    return visit_all(read_file, snapshot);
}

kith_status gadget_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    struct hdf5_session session;
    struct snapshot snapshot = {.path = path};
    (void)options;
    hdf5_begin(&session);
    const kith_status status = read_snapshot(&snapshot);
    hdf5_end(&session);
    if (status == KITH_OK)
        *bodies = snapshot.bodies;
    else
        kith_bodies_free(snapshot.bodies);
    return status;
}

int64_t gadget_files(const char *path)
{
    struct hdf5_session session;
    struct snapshot snapshot = {.path = path};
    hdf5_begin(&session);
    const kith_status status = visit_one(path, inspect_file, &snapshot);
    hdf5_end(&session);
    return status == KITH_OK && part_number(path) >= 0 ? snapshot.first.files : 1;
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
