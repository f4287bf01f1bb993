/* Gadget snapshots in HDF5 ("format 3": Springel 2005, Mon. Not. R. Astron. Soc. 364, 1105, and the
 * Gadget-2 and Gadget-4 users' guides): bodies in six types, PartType0 to PartType5.
 *
 * A snapshot is one file, or several (io/parts.h): of each type the bodies of the first file come
 * first. A BoxSize above 0 is the edge of a periodic cube, or three edges. Velocities are taken as
 * they are: the factor √a of cosmological snapshots is left to the user. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file_names.h"
#include "core/memory.h"
#include "io/format.h"
#include "io/gadget.h"
#include "io/gadget_header.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/parts.h"
#include "io/stream.h"
#include "particles/bodies.h"

const char *const gadget_type_names[gadget_type_count] = {"gas",   "halo",  "disk",
                                                          "bulge", "stars", "bndry"};

typedef int64_t type_counts[gadget_type_count];

/* The files of a snapshot, and what they hold together. */
struct snapshot {
    char *path; /* of any of its files */
    int64_t files;
    struct gadget_header first; /* of its first file */
    int64_t seen;               /* files inspected */
    type_counts count;
    type_counts *of_file; /* bodies in each file inspected */
    bool has_ids;
    int64_t opened; /* the number of the open file */
    hid_t file;     /* invalid if none is open */
};

/* A column of bodies, and the dataset of a type that has it. */
struct column {
    const char *name; /* NULL: the type has none */
    hsize_t width;
    hid_t memory_type;
    bool is_required;
};

enum { of_position, of_velocity, of_id, of_mass, column_count };

static struct column column_of(const struct snapshot *snapshot, int type, int k)
{
    const bool has_mass = !(snapshot->first.mass[type] > 0);
    const struct column columns[column_count] = {
        [of_position] = {"Coordinates", 3, H5T_NATIVE_DOUBLE, true},
        [of_velocity] = {"Velocities", 3, H5T_NATIVE_DOUBLE, false},
        [of_id] = {snapshot->has_ids ? "ParticleIDs" : NULL, 1, H5T_NATIVE_UINT64, true},
        [of_mass] = {has_mass ? "Masses" : NULL, 1, H5T_NATIVE_DOUBLE, true},
    };
    return columns[k];
}

/* Checks a type before memory for it is requested. */
static kith_status check_type(hid_t file, const struct gadget_header *header, int type)
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

static kith_status keep_counts(const struct gadget_header *header, struct snapshot *snapshot)
{
    const int64_t files = snapshot->seen, room = files == 0 ? 1 : 2 * files;
    if ((files & (files - 1)) == 0) { /* 0, 1, 2, 4, … */
        type_counts *larger = realloc(snapshot->of_file, (size_t)room * sizeof *larger);
        if (!larger)
            return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the counts of %lld files",
                             (long long)room);
        snapshot->of_file = larger;
    }
    memcpy(snapshot->of_file[files], header->count, sizeof(type_counts));
    return KITH_OK;
}

/* Checks a file before memory for the bodies is requested. */
static kith_status inspect(hid_t file, struct snapshot *snapshot)
{
    struct gadget_header header;
    KITH_TRY(gadget_header_read(file, &header));
    KITH_TRY(keep_counts(&header, snapshot));
    if (snapshot->seen++ == 0)
        snapshot->first = header;
    KITH_TRY(gadget_header_check(&header, &snapshot->first));
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

static kith_status inspect_file(const char *path, struct snapshot *snapshot)
{
    hid_t file = H5I_INVALID_HID;
    KITH_TRY(hdf5_open(path, &file));
    const kith_status status = inspect(file, snapshot);
    H5Fclose(file);
    return status;
}

static kith_status check_totals(const struct snapshot *snapshot)
{
    for (int type = 0; snapshot->first.has_total && type < gadget_type_count; type++)
        if (snapshot->count[type] != snapshot->first.total[type])
            return kith_fail(KITH_BAD_FORMAT,
                             "the %lld files of the snapshot have %lld bodies of PartType%d, and "
                             "NumPart_Total says %lld",
                             (long long)snapshot->files, (long long)snapshot->count[type], type,
                             (long long)snapshot->first.total[type]);
    return KITH_OK;
}

/* The other files are found by the number in the name of this one. */
static kith_status check_name(const struct snapshot *snapshot)
{
    const int64_t number = part_number(snapshot->path), files = snapshot->files;
    if (number >= 0 && number < files)
        return KITH_OK;
    return kith_fail(KITH_UNSUPPORTED,
                     "this is one of %lld files of a snapshot; name them BASE.0.hdf5 to "
                     "BASE.%lld.hdf5",
                     (long long)files, (long long)files - 1);
}

/* The message names the file if there are several. */
static kith_status in_part(const struct snapshot *snapshot, int64_t k, kith_status status)
{
    char *path = NULL;
    if (status == KITH_OK || snapshot->files == 1)
        return status;
    if (part_path(snapshot->path, k, &path) == KITH_OK)
        status = kith_fail_within(status, "file %s of the snapshot: ", path);
    free(path);
    return status;
}

typedef kith_status use_file(const char *path, struct snapshot *snapshot);

static kith_status use_part(struct snapshot *snapshot, int64_t k, use_file *use)
{
    char *path = NULL;
    if (snapshot->files == 1)
        return use(snapshot->path, snapshot);
    KITH_TRY(part_path(snapshot->path, k, &path));
    const kith_status status = use(path, snapshot);
    free(path);
    return in_part(snapshot, k, status);
}

static kith_status inspect_all(struct snapshot *snapshot)
{
    KITH_TRY(inspect_file(snapshot->path, snapshot));
    if (snapshot->first.files <= 1)
        return KITH_OK;
    snapshot->files = snapshot->first.files;
    KITH_TRY(check_name(snapshot));
    snapshot->seen = 0;
    snapshot->has_ids = false;
    memset(snapshot->count, 0, sizeof snapshot->count);
    for (int64_t k = 0; k < snapshot->files; k++)
        KITH_TRY(use_part(snapshot, k, inspect_file));
    return check_totals(snapshot);
}

static kith_status check_dataset(hid_t group, const struct column *column, int64_t rows)
{
    struct hdf5_shape shape;
    KITH_TRY(hdf5_shape_of(group, column->name, &shape));
    if (shape.rank != (column->width > 1 ? 2 : 1) ||
        (column->width > 1 && shape.size[1] != column->width))
        return kith_fail(KITH_BAD_FORMAT, "dataset %s is not one of %lld columns", column->name,
                         (long long)column->width);
    if (shape.size[0] != (hsize_t)rows)
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset %s has %lld rows, and NumPart_ThisFile says %lld", column->name,
                         (long long)shape.size[0], (long long)rows);
    return hdf5_keep_open(group, column->name);
}

static kith_status open_type(const struct snapshot *snapshot, int type, int64_t rows)
{
    char name[16];
    kith_status status = KITH_OK;
    snprintf(name, sizeof name, "/PartType%d", type);
    const hid_t group = H5Gopen2(snapshot->file, name, H5P_DEFAULT);
    for (int k = 0; k < column_count && status == KITH_OK; k++) {
        const struct column column = column_of(snapshot, type, k);
        if (column.name && (column.is_required || hdf5_exists(group, column.name)))
            status = check_dataset(group, &column, rows);
    }
    H5Gclose(group);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "PartType%d: ", type);
}

static void close_file(struct snapshot *snapshot)
{
    if (snapshot->file >= 0)
        H5Fclose(snapshot->file);
    snapshot->file = H5I_INVALID_HID;
}

/* Opens file `opened`, which was inspected, with all datasets to be read. */
static kith_status open_file(const char *path, struct snapshot *snapshot)
{
    struct gadget_header header;
    const int64_t *count = snapshot->of_file[snapshot->opened];
    KITH_TRY(hdf5_open(path, &snapshot->file));
    KITH_TRY(gadget_header_read(snapshot->file, &header));
    if (memcmp(header.count, count, sizeof(type_counts)) != 0)
        return kith_fail(KITH_BAD_FORMAT, "the file changes while it is read");
    for (int type = 0; type < gadget_type_count; type++)
        if (count[type] > 0)
            KITH_TRY(open_type(snapshot, type, count[type]));
    return KITH_OK;
}

/* Some rows of one column; zeros where the file does not have it. */
static kith_status read_column(hid_t group, const struct column *column, int64_t first,
                               int64_t count, void *to)
{
    const hsize_t from[hdf5_max_rank] = {(hsize_t)first};
    const struct hdf5_shape box = {column->width > 1 ? 2 : 1, {(hsize_t)count, column->width}};
    if (column->is_required || hdf5_exists(group, column->name))
        return hdf5_read(group, column->name, column->memory_type, from, box, to);
    memset(to, 0, (size_t)count * column->width * sizeof(double));
    return KITH_OK;
}

static kith_status check_ids(const kith_bodies *rows)
{
    for (int64_t i = 0; rows->id && i < rows->count; i++)
        if (rows->id[i] < 0)
            return kith_fail(KITH_UNSUPPORTED,
                             "dataset ParticleIDs has ids that kith cannot hold: negative, or of "
                             "2^63 and more");
    return KITH_OK;
}

/* Bodies of one type in the open file, from the type's row `first` on. */
static kith_status read_type(const struct snapshot *snapshot, int type, int64_t first,
                             kith_bodies *rows)
{
    char name[16];
    void *const to[column_count] = {rows->position, rows->velocity, rows->id, rows->mass};
    const double mass = snapshot->first.mass[type];
    kith_status status = KITH_OK;
    snprintf(name, sizeof name, "/PartType%d", type);
    const hid_t group = H5Gopen2(snapshot->file, name, H5P_DEFAULT);
    for (int k = 0; k < column_count && status == KITH_OK; k++) {
        const struct column column = column_of(snapshot, type, k);
        if (column.name)
            status = read_column(group, &column, first, rows->count, to[k]);
    }
    H5Gclose(group);
    if (status == KITH_OK)
        status = check_ids(rows);
    for (int64_t i = 0; i < rows->count; i++) {
        snprintf(rows->name[i], sizeof rows->name[i], "%s", gadget_type_names[type]);
        if (mass > 0)
            rows->mass[i] = mass;
    }
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "PartType%d: ", type);
}

/* The same of file k. */
static kith_status read_part(struct snapshot *snapshot, int64_t k, int type, int64_t first,
                             kith_bodies *rows)
{
    if (snapshot->file < 0 || snapshot->opened != k) {
        close_file(snapshot);
        snapshot->opened = k;
        KITH_TRY(use_part(snapshot, k, open_file));
    }
    return in_part(snapshot, k, read_type(snapshot, type, first, rows));
}

/* Rows of all bodies, from `first` on: one type after the other. */
static kith_status read_rows(struct snapshot *snapshot, int64_t first, const kith_bodies *rows)
{
    int64_t begin[gadget_type_count], total = 0; /* of the rows that the next file has */
    for (int type = 0; type < gadget_type_count; type++) {
        begin[type] = total;
        total += snapshot->count[type];
    }
    for (int64_t k = 0; k < snapshot->files; k++)
        for (int type = 0; type < gadget_type_count; type++) {
            const int64_t end = begin[type] + snapshot->of_file[k][type];
            const int64_t from = begin[type] > first ? begin[type] : first;
            const int64_t to = end < first + rows->count ? end : first + rows->count;
            if (from < to) {
                kith_bodies some = bodies_rows(rows, from - first, to - from);
                KITH_TRY(read_part(snapshot, k, type, from - begin[type], &some));
            }
            begin[type] = end;
        }
    return KITH_OK;
}

static void take_header(const struct gadget_header *header, kith_bodies *bodies)
{
    const double *box = header->box;
    bodies->time = header->time;
    bodies->has_cell = !(box[0] <= 0) && !(box[1] <= 0) && !(box[2] <= 0);
    for (int k = 0; bodies->has_cell && k < 3; k++) {
        bodies->cell[4 * k] = box[k];
        bodies->periodic[k] = true;
    }
}

static kith_status count_bodies(const struct snapshot *snapshot, int64_t *total)
{
    *total = 0;
    for (int type = 0; type < gadget_type_count; type++)
        if (__builtin_add_overflow(*total, snapshot->count[type], total))
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile adds up to too many bodies");
    return KITH_OK;
}

static kith_status make_bodies(const struct snapshot *snapshot, int64_t count, kith_bodies **bodies)
{
    const unsigned columns = (unsigned)KITH_VELOCITY | (unsigned)KITH_MASS | (unsigned)KITH_NAME |
                             (snapshot->has_ids ? (unsigned)KITH_ID : 0);
    KITH_TRY(kith_bodies_create(count, 3, columns, bodies));
    take_header(&snapshot->first, *bodies);
    return KITH_OK;
}

static kith_status begin(const char *path, struct snapshot *snapshot)
{
    *snapshot = (struct snapshot){.files = 1, .file = H5I_INVALID_HID};
    return path_copy(path, &snapshot->path);
}

static void end(struct snapshot *snapshot)
{
    close_file(snapshot);
    free(snapshot->of_file);
    free(snapshot->path);
}

static kith_status read_all(struct snapshot *snapshot, kith_bodies **bodies)
{
    int64_t total = 0;
    KITH_TRY(inspect_all(snapshot));
    KITH_TRY(count_bodies(snapshot, &total));
    KITH_TRY(make_bodies(snapshot, total, bodies));
    return read_rows(snapshot, 0, *bodies);
}

kith_status gadget_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    struct hdf5_session session;
    struct snapshot snapshot;
    (void)options;
    KITH_TRY(begin(path, &snapshot));
    hdf5_begin(&session);
    const kith_status status = read_all(&snapshot, bodies);
    end(&snapshot);
    hdf5_end(&session);
    return status;
}

static kith_status open_stream(const char *path, const kith_read_options *options,
                               kith_bodies **like, int64_t *count, void **state)
{
    struct hdf5_session session;
    struct snapshot *snapshot = NULL;
    (void)options;
    KITH_TRY(kith_allocate(1, sizeof *snapshot, "a snapshot", &snapshot));
    *state = snapshot;
    KITH_TRY(begin(path, snapshot));
    hdf5_begin(&session);
    kith_status status = inspect_all(snapshot);
    hdf5_end(&session);
    if (status == KITH_OK)
        status = count_bodies(snapshot, count);
    return status == KITH_OK ? make_bodies(snapshot, 1, like) : status;
}

static kith_status next_rows(void *state, int64_t first, kith_bodies *rows)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    const kith_status status = read_rows(state, first, rows);
    hdf5_end(&session);
    return status;
}

static void close_stream(void *state)
{
    struct hdf5_session session;
    if (!state)
        return;
    hdf5_begin(&session);
    end(state);
    hdf5_end(&session);
    free(state);
}

const struct stream_functions gadget_stream = {open_stream, next_rows, close_stream};

int64_t gadget_files(const char *path)
{
    struct hdf5_session session;
    struct snapshot snapshot;
    int64_t files = 1;
    if (begin(path, &snapshot) != KITH_OK)
        return files;
    hdf5_begin(&session);
    if (inspect_file(path, &snapshot) == KITH_OK && part_number(path) >= 0)
        files = snapshot.first.files;
    end(&snapshot);
    hdf5_end(&session);
    return files;
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
