#include "io/h5md_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/hdf5_data.h"

static int64_t frame_bytes(const struct h5md_layout *layout)
{
    return layout->count * 3 * kith_dtype_bytes(layout->precision);
}

kith_status h5md_writer_begin(hid_t file, const struct h5md_layout *layout,
                              struct h5md_writer *writer)
{
    *writer = (struct h5md_writer){.file = file, .layout = *layout};
    struct hdf5_shape steps;
    KITH_TRY(hdf5_shape_of(file, H5MD_POSITION "/step", &steps));
    writer->written = (int64_t)steps.size[0];

    const int64_t room = writer->room = h5md_chunk_frames(layout);
    const int64_t real = sizeof(double), bytes = frame_bytes(layout);
    KITH_TRY(kith_allocate(room, sizeof *writer->step, "frames", &writer->step));
    KITH_TRY(kith_allocate(room, real, "frames", &writer->time));
    if (layout->observables)
        KITH_TRY(kith_allocate(room * h5md_numbers_observed, real, "frames", &writer->observables));
    if (layout->cell)
        KITH_TRY(kith_allocate(room * 9, real, "frames", &writer->edges));
    if (layout->velocities && bytes > 0)
        KITH_TRY(kith_allocate(room, bytes, "frames", &writer->velocity));
    return bytes > 0 ? kith_allocate(room, bytes, "frames", &writer->position) : KITH_OK;
}

void h5md_writer_end(struct h5md_writer *writer)
{
    free(writer->step);
    free(writer->time);
    free(writer->observables);
    free(writer->edges);
    free(writer->position);
    free(writer->velocity);
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
    double *series = writer->observables;
    for (int k = 0; k < h5md_observable_count; k++) {
        const int64_t components = h5md_observables[k].components;
        memcpy(series + writer->gathered * components,
               (const char *)diagnostics + h5md_observables[k].offset,
               (size_t)components * sizeof(double));
        series += writer->room * components;
    }
}

kith_status h5md_writer_add(struct h5md_writer *writer, int64_t step, const kith_bodies *bodies,
                            const kith_diagnostics *diagnostics)
{
    const int64_t frame = writer->gathered;
    writer->step[frame] = step;
    writer->time[frame] = bodies->time;
    put_rows(writer->position, &writer->layout, frame, bodies->dimensions, bodies->position);
    put_rows(writer->velocity, &writer->layout, frame, bodies->dimensions, bodies->velocity);
    if (writer->layout.cell)
        memcpy(writer->edges + 9 * frame, bodies->cell, sizeof bodies->cell);
    if (writer->layout.observables)
        put_observables(writer, diagnostics);

    writer->gathered++;
    const bool fills_chunk = (writer->written + writer->gathered) % writer->room == 0;
    return fills_chunk ? h5md_writer_flush(writer) : KITH_OK;
}

static kith_status flush_observables(const struct h5md_writer *writer)
{
    const double *series = writer->observables;
    for (int k = 0; k < h5md_observable_count; k++) {
        char path[64];
        snprintf(path, sizeof path, "/observables/%s/value", h5md_observables[k].name);
        KITH_TRY(hdf5_append(writer->file, path, H5T_NATIVE_DOUBLE, writer->gathered, series));
        series += writer->room * h5md_observables[k].components;
    }
    return KITH_OK;
}

kith_status h5md_writer_flush(struct h5md_writer *writer)
{
    const int64_t frames = writer->gathered;
    const hid_t file = writer->file, real = hdf5_real_in_memory(writer->layout.precision);
    if (frames == 0)
        return KITH_OK;
    KITH_TRY(hdf5_append(file, H5MD_POSITION "/value", real, frames, writer->position));
    if (writer->layout.velocities)
        KITH_TRY(hdf5_append(file, H5MD_VELOCITY "/value", real, frames, writer->velocity));
    if (writer->layout.cell)
        KITH_TRY(
            hdf5_append(file, H5MD_BOX "/edges/value", H5T_NATIVE_DOUBLE, frames, writer->edges));
    if (writer->layout.observables)
        KITH_TRY(flush_observables(writer));
    KITH_TRY(hdf5_append(file, H5MD_POSITION "/time", H5T_NATIVE_DOUBLE, frames, writer->time));
    KITH_TRY(hdf5_append(file, H5MD_POSITION "/step", H5T_NATIVE_INT64, frames, writer->step));
    writer->written += frames;
    writer->gathered = 0;
    return KITH_OK;
}

kith_status h5md_truncate(hid_t file, const struct h5md_layout *layout, int64_t frames)
{
    KITH_TRY(hdf5_truncate(file, H5MD_POSITION "/step", frames));
    KITH_TRY(hdf5_truncate(file, H5MD_POSITION "/time", frames));
    KITH_TRY(hdf5_truncate(file, H5MD_POSITION "/value", frames));
    if (layout->velocities)
        KITH_TRY(hdf5_truncate(file, H5MD_VELOCITY "/value", frames));
    for (int k = 0; layout->observables && k < h5md_observable_count; k++) {
        char path[64];
        snprintf(path, sizeof path, "/observables/%s/value", h5md_observables[k].name);
        KITH_TRY(hdf5_truncate(file, path, frames));
    }
    return KITH_OK;
}
