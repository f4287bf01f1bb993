#include "io/h5md_layout.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "kith/build.h"

const struct h5md_observable h5md_observables[h5md_observable_count] = {
    {"kinetic_energy", offsetof(kith_diagnostics, kinetic_energy), 1, false},
    {"potential_energy", offsetof(kith_diagnostics, potential_energy), 1, false},
    {"total_energy", offsetof(kith_diagnostics, total_energy), 1, false},
    {"momentum", offsetof(kith_diagnostics, momentum), 3, false},
    {"angular_momentum", offsetof(kith_diagnostics, angular_momentum), 3, false},
    {"center_of_mass", offsetof(kith_diagnostics, center_of_mass), 3, false},
    {"virial_ratio", offsetof(kith_diagnostics, virial_ratio), 1, false},
    {"temperature", offsetof(kith_diagnostics, temperature), 1, false},
    {"virial", offsetof(kith_diagnostics, virial), 9, true},
    {"pressure", offsetof(kith_diagnostics, pressure), 1, true},
};

bool h5md_has_observable(const struct h5md_layout *layout, const struct h5md_observable *observable)
{
    return layout->observables && (layout->totals || !observable->of_totals);
}

struct hdf5_shape h5md_observable_frame(const struct h5md_observable *observable, bool is_ensemble,
                                        int64_t systems)
{
    struct hdf5_shape frame = {0};
    if (is_ensemble)
        frame.size[frame.rank++] = (hsize_t)systems;
    for (int32_t left = observable->components; left > 1; left /= 3)
        frame.size[frame.rank++] = 3;
    return frame;
}

/* A quarter of a megabyte, but no more frames than will come (64 in case the run is extended). */
int64_t h5md_chunk_frames(const struct h5md_layout *layout)
{
    enum { chunk_bytes = 256 << 10, fewest = 64, most = 1024 };
    const int64_t rows_bytes = layout->count * 3 * kith_dtype_bytes(layout->precision);
    const int64_t observable_bytes = layout->systems * 3 * (int64_t)sizeof(double);
    const int64_t frame_bytes =
        rows_bytes > observable_bytes || !layout->is_ensemble ? rows_bytes : observable_bytes;
    const int64_t useful = layout->frames_expected > fewest ? layout->frames_expected : fewest;
    const int64_t wanted = useful < most ? useful : most;
    if (frame_bytes > chunk_bytes)
        return 1;
    const int64_t fitting = frame_bytes > 0 ? chunk_bytes / frame_bytes : wanted;
    return fitting < wanted ? fitting : wanted;
}

static kith_status make_metadata(hid_t file)
{
    hid_t h5md = H5I_INVALID_HID, author = H5I_INVALID_HID, creator = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, "/h5md", &h5md));
    KITH_TRY(hdf5_make_group(file, "/h5md/author", &author));
    KITH_TRY(hdf5_make_group(file, "/h5md/creator", &creator));
    const int32_t version[2] = {1, 1};
    const struct hdf5_shape two = {1, {2}};
    KITH_TRY(hdf5_set_numbers(h5md, "version", H5T_STD_I32LE, H5T_NATIVE_INT32, two, version));
    KITH_TRY(hdf5_set_text(author, "name", "kith"));
    KITH_TRY(hdf5_set_text(creator, "name", "kith"));
    return hdf5_set_text(creator, "version", kith_version());
}

static kith_status make_box(hid_t file, const struct h5md_layout *layout, const kith_bodies *bodies)
{
    hid_t box = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, H5MD_BOX, &box));
    const int32_t dimension = 3;
    KITH_TRY(hdf5_set_numbers(box, "dimension", H5T_STD_I32LE, H5T_NATIVE_INT32,
                              (struct hdf5_shape){0}, &dimension));

    char boundary[3][sizeof "periodic"] = {"none", "none", "none"};
    for (int k = 0; layout->cell && k < 3; k++)
        if (k < bodies->dimensions && bodies->periodic[k])
            snprintf(boundary[k], sizeof boundary[k], "periodic");
    const hid_t word = H5Tcopy(H5T_C_S1);
    H5Tset_size(word, sizeof boundary[0]);
    const struct hdf5_shape three = {1, {3}};
    const kith_status status = hdf5_set_numbers(box, "boundary", word, word, three, boundary);
    H5Tclose(word);
    return status;
}

/* A series with step and time of its own, or another's as hard links. */
static kith_status make_series(hid_t file, const char *path, hid_t type, struct hdf5_shape frame,
                               int64_t chunk_frames)
{
    hid_t group = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, path, &group));
    KITH_TRY(hdf5_make_series(group, "value", type, frame, chunk_frames));
    if (strcmp(path, H5MD_POSITION) == 0) {
        const struct hdf5_shape one = {0};
        KITH_TRY(hdf5_make_series(group, "step", H5T_STD_I64LE, one, chunk_frames));
        return hdf5_make_series(group, "time", H5T_IEEE_F64LE, one, chunk_frames);
    }
    if (H5Lcreate_hard(file, H5MD_POSITION "/step", group, "step", H5P_DEFAULT, H5P_DEFAULT) < 0 ||
        H5Lcreate_hard(file, H5MD_POSITION "/time", group, "time", H5P_DEFAULT, H5P_DEFAULT) < 0)
        return hdf5_fail(KITH_IO_ERROR, "links cannot be made in %s", path);
    return KITH_OK;
}

static kith_status make_all_series(hid_t file, const struct h5md_layout *layout)
{
    const int64_t frames = h5md_chunk_frames(layout);
    const hid_t real = hdf5_real_in_file(layout->precision);
    const struct hdf5_shape rows = {2, {(hsize_t)layout->count, 3}};
    KITH_TRY(make_series(file, H5MD_POSITION, real, rows, frames));
    if (layout->velocities)
        KITH_TRY(make_series(file, H5MD_VELOCITY, real, rows, frames));
    if (layout->wrap)
        KITH_TRY(make_series(file, H5MD_IMAGE, H5T_STD_I32LE, rows, frames));
    if (layout->cell)
        KITH_TRY(make_series(file, H5MD_BOX "/edges", H5T_IEEE_F64LE,
                             (struct hdf5_shape){2, {3, 3}}, frames));
    for (int k = 0; k < h5md_observable_count; k++) {
        char path[64];
        if (!h5md_has_observable(layout, &h5md_observables[k]))
            continue;
        snprintf(path, sizeof path, "/observables/%s", h5md_observables[k].name);
        const struct hdf5_shape frame =
            h5md_observable_frame(&h5md_observables[k], layout->is_ensemble, layout->systems);
        KITH_TRY(make_series(file, path, H5T_IEEE_F64LE, frame, frames));
    }
    return KITH_OK;
}

kith_status h5md_make_layout(hid_t file, const struct h5md_layout *layout,
                             const kith_bodies *bodies)
{
    KITH_TRY(make_metadata(file));
    KITH_TRY(make_box(file, layout, bodies));
    KITH_TRY(make_all_series(file, layout));
    hid_t parameters = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, H5MD_PARAMETERS, &parameters));
    if (layout->is_ensemble)
        KITH_TRY(hdf5_write_integer(parameters, "systems", layout->systems));
    return hdf5_write_integer(parameters, "dimensions", bodies->dimensions);
}
