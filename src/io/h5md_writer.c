#include "io/h5md_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bodies.h"
#include "io/h5md_image.h"
#include "io/hdf5_data.h"

/* Frames of one chunk or more are written as their rows come. */
static bool is_large(const struct h5md_writer *writer)
{
    return writer->room == 1;
}

/* Rows of positions in memory. */
static int64_t rows_in_memory(const struct h5md_writer *writer)
{
    const int64_t count = writer->layout.count;
    if (is_large(writer))
        return count < h5md_rows_at_once ? count : h5md_rows_at_once;
    return writer->room * count;
}

static kith_status allocate_room(struct h5md_writer *writer)
{
    const struct h5md_layout *layout = &writer->layout;
    const int64_t room = writer->room, real = sizeof(double), rows = rows_in_memory(writer);
    const int64_t bytes = 3 * kith_dtype_bytes(layout->precision);
    KITH_TRY(kith_allocate(room, sizeof *writer->step, "frames", &writer->step));
    KITH_TRY(kith_allocate(room, real, "frames", &writer->time));
    if (layout->observables)
        KITH_TRY(kith_allocate(room * layout->systems, h5md_numbers_observed * real, "frames",
                               &writer->observables));
    if (layout->cell)
        KITH_TRY(kith_allocate(room * 9, real, "frames", &writer->edges));
    if (layout->velocities)
        KITH_TRY(kith_allocate(rows, bytes, "frames", &writer->velocity));
    if (layout->wrap) {
        KITH_TRY(kith_allocate(rows, 3 * (int64_t)sizeof *writer->image, "frames", &writer->image));
        KITH_TRY(kith_allocate(h5md_rows_at_once, 3 * real, "positions", &writer->wrapped));
    }
    return kith_allocate(rows, bytes, "frames", &writer->position);
}

/* What a frame of the writer consists of, dataset by dataset, and where it gathers. */
struct series {
    char path[64];
    hid_t memory_type;
    struct hdf5_shape frame;
    void *gathered;
    bool is_of_rows; /* positions, velocities, images */
};

enum { most_series = 6 + h5md_observable_count };

/* The step is written last: a frame without it does not exist. */
static int list_series(const struct h5md_writer *writer, struct series list[most_series])
{
    const struct h5md_layout *layout = &writer->layout;
    const hid_t real = hdf5_real_in_memory(layout->precision);
    const struct hdf5_shape rows = {2, {(hsize_t)layout->count, 3}}, one = {0};
    int count = 0;
    list[count++] = (struct series){H5MD_POSITION "/value", real, rows, writer->position, true};
    if (layout->velocities)
        list[count++] = (struct series){H5MD_VELOCITY "/value", real, rows, writer->velocity, true};
    if (layout->wrap)
        list[count++] =
            (struct series){H5MD_IMAGE "/value", H5T_NATIVE_INT32, rows, writer->image, true};
    if (layout->cell)
        list[count++] = (struct series){
            H5MD_BOX "/edges/value", H5T_NATIVE_DOUBLE, {2, {3, 3}}, writer->edges, false};
    double *observable = writer->observables;
    for (int k = 0; k < h5md_observable_count; k++) {
        const int32_t components = h5md_observables[k].components;
        if (!h5md_has_observable(layout, &h5md_observables[k]))
            continue;
        struct series *series = &list[count++];
        *series = (struct series){
            "", H5T_NATIVE_DOUBLE,
            h5md_observable_frame(&h5md_observables[k], layout->is_ensemble, layout->systems),
            observable, false};
        snprintf(series->path, sizeof series->path, "/observables/%s/value",
                 h5md_observables[k].name);
        observable += writer->room * layout->systems * components;
    }
    list[count++] =
        (struct series){H5MD_POSITION "/time", H5T_NATIVE_DOUBLE, one, writer->time, false};
    list[count++] =
        (struct series){H5MD_POSITION "/step", H5T_NATIVE_INT64, one, writer->step, false};
    return count;
}

/* Takes the frames after the last full chunk back into memory. */
static kith_status gather_again(struct h5md_writer *writer, int64_t written)
{
    struct series list[most_series];
    const int count = list_series(writer, list);
    const hsize_t first[hdf5_max_rank] = {(hsize_t)written};
    for (int k = 0; k < count; k++) {
        struct hdf5_shape box = {list[k].frame.rank + 1, {(hsize_t)writer->gathered}};
        for (int axis = 0; axis < list[k].frame.rank; axis++)
            box.size[axis + 1] = list[k].frame.size[axis];
        KITH_TRY(hdf5_read(writer->file, list[k].path, list[k].memory_type, first, box,
                           list[k].gathered));
    }
    return h5md_truncate(writer->file, &writer->layout, written);
}

kith_status h5md_writer_begin(hid_t file, const struct h5md_layout *layout,
                              struct h5md_writer *writer)
{
    *writer = (struct h5md_writer){.file = file, .layout = *layout};
    for (int k = 0; k < 3; k++)
        writer->dataset[k] = H5I_INVALID_HID;
    struct hdf5_shape steps;
    KITH_TRY(hdf5_shape_of(file, H5MD_POSITION "/step", &steps));
    KITH_TRY(hdf5_chunk_of(file, H5MD_POSITION "/value", &writer->room));
    KITH_TRY(allocate_room(writer));
    writer->gathered = (int64_t)steps.size[0] % writer->room;
    writer->written = (int64_t)steps.size[0] - writer->gathered;
    return writer->gathered == 0 ? KITH_OK : gather_again(writer, writer->written);
}

void h5md_writer_end(struct h5md_writer *writer)
{
    free(writer->step);
    free(writer->time);
    free(writer->observables);
    free(writer->edges);
    free(writer->position);
    free(writer->velocity);
    free(writer->image);
    free(writer->wrapped);
    *writer = (struct h5md_writer){.file = H5I_INVALID_HID};
}

static void put_observables(struct h5md_writer *writer, const kith_diagnostics *diagnostics)
{
    const int64_t systems = writer->layout.systems;
    double *series = writer->observables;
    for (int k = 0; k < h5md_observable_count; k++) {
        const int64_t components = h5md_observables[k].components;
        if (!h5md_has_observable(&writer->layout, &h5md_observables[k]))
            continue;
        double *frame = series + writer->gathered * systems * components;
        for (int64_t s = 0; s < systems; s++)
            memcpy(frame + s * components,
                   (const char *)&diagnostics[s] + h5md_observables[k].offset,
                   (size_t)components * sizeof(double));
        series += writer->room * systems * components;
    }
}

static void close_rows(struct h5md_writer *writer)
{
    for (int k = 0; k < 3; k++) {
        if (writer->dataset[k] >= 0)
            H5Dclose(writer->dataset[k]);
        writer->dataset[k] = H5I_INVALID_HID;
    }
}

/* One frame more in the file. Datasets stay open: a chunk whose rows come in two pieces is then in
 * HDF5's cache in between. */
static kith_status open_rows(struct h5md_writer *writer)
{
    struct series list[most_series];
    const int count = list_series(writer, list);
    for (int k = 0; k < count; k++) {
        if (!list[k].is_of_rows)
            continue;
        KITH_TRY(hdf5_resize(writer->file, list[k].path, writer->written + 1));
        KITH_TRY(hdf5_open_dataset(writer->file, list[k].path, &writer->dataset[k]));
    }
    return KITH_OK;
}

kith_status h5md_writer_begin_frame(struct h5md_writer *writer, int64_t step,
                                    const kith_bodies *rows, const kith_diagnostics *diagnostics)
{
    const int64_t frame = writer->gathered;
    writer->step[frame] = step;
    writer->time[frame] = rows->time;
    if (writer->layout.cell)
        memcpy(writer->edges + 9 * frame, rows->cell, sizeof rows->cell);
    if (writer->layout.observables)
        put_observables(writer, diagnostics);
    return is_large(writer) ? open_rows(writer) : KITH_OK;
}

/* What is in memory, to the frame's rows from first on. */
static kith_status write_rows(const struct h5md_writer *writer, int64_t first, int64_t rows)
{
    struct series list[most_series];
    const int count = list_series(writer, list);
    const hsize_t from[hdf5_max_rank] = {(hsize_t)writer->written, (hsize_t)first};
    const struct hdf5_shape box = {3, {1, (hsize_t)rows, 3}};
    for (int k = 0; k < count; k++)
        if (list[k].is_of_rows)
            KITH_TRY(hdf5_write_box(writer->dataset[k], list[k].path, list[k].memory_type, from,
                                    box, list[k].gathered));
    return KITH_OK;
}

static kith_status add_some_rows(struct h5md_writer *writer, int64_t first, const kith_bodies *rows)
{
    const kith_dtype precision = writer->layout.precision;
    const int64_t at = is_large(writer) ? 0 : writer->gathered * writer->layout.count + first;
    const double *position = rows->position;
    if (writer->layout.wrap) {
        KITH_TRY(h5md_wrap(rows, writer->wrapped, writer->image + 3 * at));
        position = writer->wrapped;
    }
    h5md_put_rows(writer->position, precision, at, rows, position);
    h5md_put_rows(writer->velocity, precision, at, rows, rows->velocity);
    return is_large(writer) ? write_rows(writer, first, rows->count) : KITH_OK;
}

kith_status h5md_writer_add_rows(struct h5md_writer *writer, int64_t first, const kith_bodies *rows)
{
    for (int64_t done = 0; done < rows->count; done += h5md_rows_at_once) {
        const int64_t left = rows->count - done;
        const kith_bodies some =
            bodies_rows(rows, done, left < h5md_rows_at_once ? left : h5md_rows_at_once);
        KITH_TRY(add_some_rows(writer, first + done, &some));
    }
    return KITH_OK;
}

struct h5md_chunk h5md_writer_chunk(const struct h5md_writer *writer)
{
    const struct h5md_layout *layout = &writer->layout;
    const hid_t type = hdf5_real_in_file(layout->precision);
    struct h5md_chunk chunk = {0}, of_velocities = {0};
    if (!h5md_packs() || !is_large(writer) || !layout->velocities)
        return chunk;
    hdf5_stored_chunk(writer->dataset[h5md_positions], type, 1, &chunk);
    hdf5_stored_chunk(writer->dataset[h5md_velocities], type, 1, &of_velocities);
    if (chunk.rows != of_velocities.rows || chunk.deflates != of_velocities.deflates)
        chunk.rows = 0;
    chunk.wraps = layout->wrap;
    return chunk;
}

kith_status h5md_writer_add_chunk(struct h5md_writer *writer, enum h5md_part part, int64_t first,
                                  int64_t bytes, const void *packed)
{
    const hsize_t from[hdf5_max_rank] = {(hsize_t)writer->written, (hsize_t)first};
    return hdf5_write_chunk(writer->dataset[part],
                            part == h5md_positions ? H5MD_POSITION "/value"
                                                   : H5MD_VELOCITY "/value",
                            from, bytes, packed);
}

kith_status h5md_writer_add_images(struct h5md_writer *writer, int64_t first,
                                   const kith_bodies *rows)
{
    for (int64_t done = 0; done < rows->count; done += h5md_rows_at_once) {
        const int64_t left = rows->count - done;
        const kith_bodies some =
            bodies_rows(rows, done, left < h5md_rows_at_once ? left : h5md_rows_at_once);
        const hsize_t from[hdf5_max_rank] = {(hsize_t)writer->written, (hsize_t)(first + done)};
        const struct hdf5_shape box = {3, {1, (hsize_t)some.count, 3}};
        KITH_TRY(h5md_wrap(&some, writer->wrapped, writer->image));
        KITH_TRY(hdf5_write_box(writer->dataset[h5md_parts], H5MD_IMAGE "/value", H5T_NATIVE_INT32,
                                from, box, writer->image));
    }
    return KITH_OK;
}

kith_status h5md_writer_end_frame(struct h5md_writer *writer)
{
    close_rows(writer);
    writer->gathered++;
    if (writer->gathered < writer->room)
        return KITH_OK;
    KITH_TRY(h5md_writer_complete(writer, writer->file));
    writer->written += writer->gathered;
    writer->gathered = 0;
    return KITH_OK;
}

kith_status h5md_writer_add(struct h5md_writer *writer, int64_t step, const kith_bodies *bodies,
                            const kith_diagnostics *diagnostics)
{
    KITH_TRY(h5md_writer_begin_frame(writer, step, bodies, diagnostics));
    KITH_TRY(h5md_writer_add_rows(writer, 0, bodies));
    return h5md_writer_end_frame(writer);
}

/* Frames of a full chunk, packed here, which takes less time than HDF5 does. */
static kith_status append_packed(const struct h5md_writer *writer, hid_t file, hid_t dataset,
                                 const struct series *series, struct h5md_chunk chunk)
{
    const hsize_t from[hdf5_max_rank] = {(hsize_t)writer->written};
    const int64_t size = h5md_chunk_bytes(chunk);
    unsigned char *memory = NULL;
    int64_t bytes = 0;
    KITH_TRY(hdf5_resize(file, series->path, writer->written + writer->room));
    KITH_TRY(kith_allocate_unset(1, size + h5md_chunk_room(chunk), "a chunk", (void **)&memory));
    kith_status status =
        h5md_chunk_pack(chunk, series->gathered, chunk.rows, memory, memory + size, &bytes);
    if (status == KITH_OK)
        status = hdf5_write_chunk(dataset, series->path, from, bytes, memory + size);
    free(memory);
    return status;
}

/* Positions or velocities; done is false if they are to be appended otherwise. */
static kith_status append_rows(const struct h5md_writer *writer, hid_t file,
                               const struct series *series, bool *done)
{
    struct h5md_chunk chunk = {0};
    hid_t dataset = H5I_INVALID_HID;
    *done = false;
    if (!h5md_packs() || writer->gathered < writer->room || series->memory_type == H5T_NATIVE_INT32)
        return KITH_OK;
    KITH_TRY(hdf5_open_dataset(file, series->path, &dataset));
    hdf5_stored_chunk(dataset, hdf5_real_in_file(writer->layout.precision), writer->room, &chunk);
    *done = chunk.rows > 0 && chunk.rows == writer->room * writer->layout.count;
    const kith_status status =
        *done ? append_packed(writer, file, dataset, series, chunk) : KITH_OK;
    H5Dclose(dataset);
    return status;
}

kith_status h5md_writer_complete(const struct h5md_writer *writer, hid_t file)
{
    struct series list[most_series];
    const int count = list_series(writer, list);
    for (int k = 0; k < count && writer->gathered > 0; k++) {
        bool done = list[k].is_of_rows && is_large(writer);
        if (!done && list[k].is_of_rows)
            KITH_TRY(append_rows(writer, file, &list[k], &done));
        if (!done)
            KITH_TRY(hdf5_append(file, list[k].path, list[k].memory_type, writer->gathered,
                                 list[k].gathered));
    }
    return KITH_OK;
}

kith_status h5md_truncate(hid_t file, const struct h5md_layout *layout, int64_t frames)
{
    struct series list[most_series];
    const int count = list_series(&(struct h5md_writer){.layout = *layout}, list);
    for (int k = count - 1; k >= 0; k--)
        KITH_TRY(hdf5_resize(file, list[k].path, frames));
    return KITH_OK;
}
