#include "io/h5md_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/h5md_image.h"
#include "io/hdf5_data.h"

static int64_t frame_bytes(const struct h5md_layout *layout)
{
    return layout->count * 3 * kith_dtype_bytes(layout->precision);
}

static kith_status allocate_room(struct h5md_writer *writer)
{
    const struct h5md_layout *layout = &writer->layout;
    const int64_t room = writer->room, real = sizeof(double), bytes = frame_bytes(layout);
    KITH_TRY(kith_allocate(room, sizeof *writer->step, "frames", &writer->step));
    KITH_TRY(kith_allocate(room, real, "frames", &writer->time));
    if (layout->observables)
        KITH_TRY(kith_allocate(room * layout->systems, h5md_numbers_observed * real, "frames",
                               &writer->observables));
    if (layout->cell)
        KITH_TRY(kith_allocate(room * 9, real, "frames", &writer->edges));
    if (layout->velocities && bytes > 0)
        KITH_TRY(kith_allocate(room, bytes, "frames", &writer->velocity));
    if (layout->wrap) {
        KITH_TRY(kith_allocate(room * layout->count, 3 * (int64_t)sizeof *writer->image, "frames",
                               &writer->image));
        KITH_TRY(kith_allocate(layout->count, 3 * real, "positions", &writer->wrapped));
    }
    return bytes > 0 ? kith_allocate(room, bytes, "frames", &writer->position) : KITH_OK;
}

/* What a frame of the writer consists of, dataset by dataset, and where it gathers. */
struct series {
    char path[64];
    hid_t memory_type;
    struct hdf5_shape frame;
    void *gathered;
};

enum { most_series = 6 + h5md_observable_count };

/* The step is written last: a frame without it does not exist. */
static int list_series(const struct h5md_writer *writer, struct series list[most_series])
{
    const struct h5md_layout *layout = &writer->layout;
    const hid_t real = hdf5_real_in_memory(layout->precision);
    const struct hdf5_shape rows = {2, {(hsize_t)layout->count, 3}}, one = {0};
    int count = 0;
    list[count++] = (struct series){H5MD_POSITION "/value", real, rows, writer->position};
    if (layout->velocities)
        list[count++] = (struct series){H5MD_VELOCITY "/value", real, rows, writer->velocity};
    if (layout->wrap)
        list[count++] = (struct series){H5MD_IMAGE "/value", H5T_NATIVE_INT32, rows, writer->image};
    if (layout->cell)
        list[count++] =
            (struct series){H5MD_BOX "/edges/value", H5T_NATIVE_DOUBLE, {2, {3, 3}}, writer->edges};
    double *observable = writer->observables;
    for (int k = 0; k < h5md_observable_count; k++) {
        const int32_t components = h5md_observables[k].components;
        if (!h5md_has_observable(layout, &h5md_observables[k]))
            continue;
        struct series *series = &list[count++];
        *series = (struct series){
            "", H5T_NATIVE_DOUBLE,
            h5md_observable_frame(&h5md_observables[k], layout->is_ensemble, layout->systems),
            observable};
        snprintf(series->path, sizeof series->path, "/observables/%s/value",
                 h5md_observables[k].name);
        observable += writer->room * layout->systems * components;
    }
    list[count++] = (struct series){H5MD_POSITION "/time", H5T_NATIVE_DOUBLE, one, writer->time};
    list[count++] = (struct series){H5MD_POSITION "/step", H5T_NATIVE_INT64, one, writer->step};
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
    struct hdf5_shape steps;
    KITH_TRY(hdf5_shape_of(file, H5MD_POSITION "/step", &steps));
    KITH_TRY(hdf5_chunk_of(file, H5MD_POSITION "/value", &writer->room));
    KITH_TRY(allocate_room(writer));
    writer->gathered = (int64_t)steps.size[0] % writer->room;
    if (writer->gathered == 0)
        return KITH_OK;
    return gather_again(writer, (int64_t)steps.size[0] - writer->gathered);
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

/* Rows of D doubles to rows of three numbers; z stays 0 in 2D, and all of it without `from`. */
static void put_rows(void *to, const struct h5md_layout *layout, int64_t frame, int32_t dimensions,
                     const double *restrict from)
{
    if (!to || !from)
        return;
    const int64_t offset = frame * layout->count * 3;
    for (int64_t i = 0; i < layout->count; i++)
        for (int32_t k = 0; k < dimensions; k++) {
            if (layout->precision == KITH_F32)
                ((float *)to)[offset + 3 * i + k] = (float)from[i * dimensions + k];
            else
                ((double *)to)[offset + 3 * i + k] = from[i * dimensions + k];
        }
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

kith_status h5md_writer_add(struct h5md_writer *writer, int64_t step, const kith_bodies *bodies,
                            const kith_diagnostics *diagnostics)
{
    const int64_t frame = writer->gathered;
    writer->step[frame] = step;
    writer->time[frame] = bodies->time;
    const double *position = bodies->position;
    if (writer->layout.wrap) {
        KITH_TRY(h5md_wrap(bodies, writer->wrapped, writer->image + 3 * frame * bodies->count));
        position = writer->wrapped;
    }
    put_rows(writer->position, &writer->layout, frame, bodies->dimensions, position);
    put_rows(writer->velocity, &writer->layout, frame, bodies->dimensions, bodies->velocity);
    if (writer->layout.cell)
        memcpy(writer->edges + 9 * frame, bodies->cell, sizeof bodies->cell);
    if (writer->layout.observables)
        put_observables(writer, diagnostics);

    writer->gathered++;
    if (writer->gathered < writer->room)
        return KITH_OK;
    KITH_TRY(h5md_writer_complete(writer, writer->file));
    writer->gathered = 0;
    return KITH_OK;
}

kith_status h5md_writer_complete(const struct h5md_writer *writer, hid_t file)
{
    struct series list[most_series];
    const int count = list_series(writer, list);
    for (int k = 0; k < count && writer->gathered > 0; k++)
        KITH_TRY(hdf5_append(file, list[k].path, list[k].memory_type, writer->gathered,
                             list[k].gathered));
    return KITH_OK;
}

kith_status h5md_truncate(hid_t file, const struct h5md_layout *layout, int64_t frames)
{
    struct series list[most_series];
    const int count = list_series(&(struct h5md_writer){.layout = *layout}, list);
    for (int k = count - 1; k >= 0; k--)
        KITH_TRY(hdf5_truncate(file, list[k].path, frames));
    return KITH_OK;
}
