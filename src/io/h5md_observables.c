#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/h5md_frames.h"
#include "io/h5md_layout.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

enum { path_bytes = 512, block_bytes = 1 << 22, deepest = 8, most_members = 1 << 16 };

struct copy {
    const struct h5md_reader *reader;
    int64_t first, frames;
    hid_t to;
    int64_t *members; /* copied so far: links can multiply them */
};

static int64_t elements_of(struct hdf5_shape shape)
{
    int64_t elements = 1;
    for (int k = 0; k < shape.rank; k++)
        elements *= (int64_t)shape.size[k];
    return elements;
}

/* Appends the frames to a series made for them, some at a time. */
static kith_status copy_values(const struct copy *copy, const char *path, hid_t type,
                               struct hdf5_shape box, hsize_t *first, hid_t group)
{
    const int64_t frames = (int64_t)box.size[0], bytes = (int64_t)H5Tget_size(type);
    box.size[0] = 1;
    const int64_t fitting = block_bytes / (elements_of(box) * bytes + 1) + 1;
    void *block = NULL;
    KITH_TRY(kith_allocate(fitting < frames ? fitting : frames, elements_of(box) * bytes,
                           "observables", &block));
    kith_status status = KITH_OK;
    for (int64_t k = 0, taken; status == KITH_OK && k < frames; k += taken) {
        taken = frames - k < fitting ? frames - k : fitting;
        box.size[0] = (hsize_t)taken;
        status = hdf5_read(copy->reader->file, path, type, first, box, block);
        if (status == KITH_OK)
            status = hdf5_append(group, "value", type, taken, block);
        first[0] += (hsize_t)taken;
    }
    free(block);
    return status;
}

/* The shape of a frame in the copy: of one system of an ensemble without the axis of systems. */
static struct hdf5_shape frame_of(const struct copy *copy, struct hdf5_shape *box, hsize_t *first)
{
    const struct h5md_reader *reader = copy->reader;
    struct hdf5_shape frame = {0};
    const bool chosen = reader->is_ensemble && reader->system >= 0 && box->rank > 1 &&
                        box->size[1] == (hsize_t)reader->systems;
    for (int axis = chosen ? 2 : 1; axis < box->rank; axis++)
        frame.size[frame.rank++] = box->size[axis];
    if (chosen) {
        first[1] = (hsize_t)reader->system;
        box->size[1] = 1;
    }
    return frame;
}

/* The attribute of H5MD, if it is one text. */
static kith_status copy_unit(hid_t from, hid_t to)
{
    char text[path_bytes] = "", *variable = NULL;
    int64_t count = 0;
    if (H5Aexists(from, "unit") <= 0)
        return KITH_OK;
    const hid_t unit = H5Aopen(from, "unit", H5P_DEFAULT), type = H5Aget_type(unit);
    const bool is_variable = H5Tis_variable_str(type) > 0;
    void *data = is_variable ? (void *)&variable : text;
    kith_status status = KITH_OK;
    if (H5Tget_class(type) == H5T_STRING && H5Tget_size(type) <= sizeof text &&
        hdf5_get_numbers(from, "unit", type, 1, data, &count) == KITH_OK && count == 1 &&
        (variable || !is_variable))
        status = hdf5_set_numbers(to, "unit", type, type, (struct hdf5_shape){0}, data);
    H5free_memory(variable);
    H5Tclose(type);
    H5Aclose(unit);
    return status;
}

/* Makes the series' values in a group and fills them from a dataset. */
static kith_status copy_dataset(const struct copy *copy, const char *value, hid_t dataset,
                                struct hdf5_shape box, hid_t group)
{
    hsize_t first[hdf5_max_rank] = {(hsize_t)copy->first};
    box.size[0] = (hsize_t)copy->frames;
    const struct hdf5_shape frame = frame_of(copy, &box, first);
    const struct h5md_layout layout = {.systems = elements_of(frame) / 3 + 1,
                                       .is_ensemble = true,
                                       .frames_expected = copy->frames,
                                       .precision = KITH_F64};
    const hid_t type = H5Dget_type(dataset);
    kith_status status = hdf5_make_series(group, "value", type, frame, h5md_chunk_frames(&layout));
    if (status == KITH_OK && elements_of(box) > 0)
        status = copy_values(copy, value, type, box, first, group);
    H5Tclose(type);
    hid_t made = H5I_INVALID_HID;
    if (status == KITH_OK)
        status = hdf5_open_dataset(group, "value", &made);
    if (status == KITH_OK) {
        status = copy_unit(dataset, made);
        H5Dclose(made);
    }
    return status;
}

/* Of the frames of the positions, whose steps and times it shares. */
static kith_status copy_series(const struct copy *copy, const char *value, struct hdf5_shape box,
                               hid_t group)
{
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(copy->reader->file, value, &dataset));
    const kith_status status = copy_dataset(copy, value, dataset, box, group);
    H5Dclose(dataset);
    KITH_TRY(status);
    if (H5Lcreate_hard(copy->to, H5MD_POSITION "/step", group, "step", H5P_DEFAULT, H5P_DEFAULT) <
            0 ||
        H5Lcreate_hard(copy->to, H5MD_POSITION "/time", group, "time", H5P_DEFAULT, H5P_DEFAULT) <
            0)
        return hdf5_fail(KITH_IO_ERROR, "links cannot be made for %s", value);
    return KITH_OK;
}

static kith_status copy_fixed(const struct copy *copy, const char *path)
{
    hid_t dataset = H5I_INVALID_HID; /* opened only to see that its data are in the file */
    KITH_TRY(hdf5_open_dataset(copy->reader->file, path, &dataset));
    H5Dclose(dataset);
    if (H5Ocopy(copy->reader->file, path, copy->to, path, H5P_DEFAULT, H5P_DEFAULT) < 0)
        return hdf5_fail(KITH_BAD_FORMAT, "dataset %s cannot be copied", path);
    return KITH_OK;
}

static kith_status copy_group(const struct copy *copy, const char *path, int depth);

static kith_status copy_time_dependent(const struct copy *copy, const char *path, const char *value,
                                       hid_t group, int depth)
{
    struct hdf5_shape shape;
    KITH_TRY(hdf5_shape_of(copy->reader->file, value, &shape));
    if (shape.rank > 0 && shape.size[0] == (hsize_t)copy->reader->frames)
        return copy_series(copy, value, shape, group);
    if (copy->frames == copy->reader->frames)
        return copy_group(copy, path, depth + 1);
    return kith_fail(KITH_UNSUPPORTED,
                     "%s has other frames than the positions; convert all, or to extended XYZ",
                     path);
}

static kith_status copy_member(const struct copy *copy, const char *path, int depth)
{
    char value[path_bytes + 8];
    hid_t group = H5I_INVALID_HID;
    if ((*copy->members)++ == most_members)
        return kith_fail(KITH_UNSUPPORTED, "/observables has more than %d members", most_members);
    if (!hdf5_is_group(copy->reader->file, path))
        return copy_fixed(copy, path);
    KITH_TRY(hdf5_make_group(copy->to, path, &group));
    snprintf(value, sizeof value, "%s/value", path);
    const kith_status status = hdf5_exists(copy->reader->file, value)
                                   ? copy_time_dependent(copy, path, value, group, depth)
                                   : copy_group(copy, path, depth + 1);
    H5Gclose(group);
    return status;
}

/* Groups of groups, as H5MD allows; a group that contains itself ends at the depth. */
static kith_status copy_group(const struct copy *copy, const char *path, int depth)
{
    H5G_info_t info;
    if (depth > deepest || H5Gget_info_by_name(copy->reader->file, path, &info, H5P_DEFAULT) < 0)
        return kith_fail(KITH_BAD_FORMAT, "group %s is damaged, or too deep", path);
    for (hsize_t k = 0; k < info.nlinks; k++) {
        char name[path_bytes / 2] = "", member[path_bytes];
        if (H5Lget_name_by_idx(copy->reader->file, path, H5_INDEX_NAME, H5_ITER_INC, k, name,
                               sizeof name, H5P_DEFAULT) < 0 ||
            snprintf(member, sizeof member, "%s/%s", path, name) >= (int)sizeof member)
            return kith_fail(KITH_BAD_FORMAT, "group %s is damaged, or its names are too long",
                             path);
        KITH_TRY(copy_member(copy, member, depth));
    }
    return KITH_OK;
}

kith_status h5md_copy_observables(const struct h5md_reader *reader, int64_t first, int64_t frames,
                                  hid_t to)
{
    int64_t members = 0;
    const struct copy copy = {
        .reader = reader, .first = first, .frames = frames, .to = to, .members = &members};
    hid_t group = H5I_INVALID_HID;
    if (!hdf5_is_group(reader->file, "/observables"))
        return KITH_OK;
    KITH_TRY(hdf5_make_group(to, "/observables", &group));
    return copy_group(&copy, "/observables", 0);
}
