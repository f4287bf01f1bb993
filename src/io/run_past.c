#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bodies.h"
#include "io/h5md_box.h"
#include "io/h5md_frames.h"
#include "io/h5md_image.h"
#include "io/h5md_layout.h"
#include "io/h5md_reader.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_events.h"
#include "io/run_file.h"
#include "io/run_parameters.h"

/* Frames before the checkpoint's step; steps must not descend: several frames may be within one. */
static kith_status count_frames(const struct h5md_reader *reader, int64_t checkpoint_steps,
                                int64_t *frames)
{
    const struct hdf5_shape shape = {1, {(hsize_t)reader->frames}};
    int64_t *steps = NULL;
    KITH_TRY(kith_allocate(reader->frames, sizeof *steps, "steps", &steps));
    kith_status status =
        hdf5_read(reader->file, H5MD_POSITION "/step", H5T_NATIVE_INT64, NULL, shape, steps);
    *frames = 0;
    for (int64_t k = 0; status == KITH_OK && k < reader->frames; k++) {
        if (k > 0 && steps[k] < steps[k - 1])
            status = kith_fail(KITH_BAD_FORMAT, "the step of frame %lld is less than that before",
                               (long long)k);
        *frames += steps[k] < checkpoint_steps;
    }
    free(steps);
    return status;
}

/* The observable of each system in this many frames; a scalar one of a single run has no axis of
 * its own. */
static kith_status read_observable(const struct h5md_reader *reader,
                                   const struct h5md_observable *observable, int64_t frame,
                                   int64_t frames, double *numbers)
{
    char path[64];
    struct hdf5_shape shape;
    const struct hdf5_shape one =
        h5md_observable_frame(observable, reader->is_ensemble, reader->systems);
    const hsize_t first[hdf5_max_rank] = {(hsize_t)frame};
    snprintf(path, sizeof path, "/observables/%s/value", observable->name);
    KITH_TRY(hdf5_shape_of(reader->file, path, &shape));
    bool fits = shape.rank == one.rank + 1 && (int64_t)shape.size[0] >= frame + frames;
    for (int axis = 0; fits && axis < one.rank; axis++)
        fits = shape.size[axis + 1] == one.size[axis];
    if (!fits)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s does not have the shape that kith writes",
                         path);
    shape.size[0] = (hsize_t)frames;
    return hdf5_read(reader->file, path, H5T_NATIVE_DOUBLE, first, shape, numbers);
}

/* All observables of a frame. */
static kith_status read_diagnostics(const struct h5md_reader *reader, int64_t frame,
                                    bool has_totals, kith_diagnostics *diagnostics)
{
    double *numbers = NULL;
    KITH_TRY(kith_allocate(reader->systems, 9 * (int64_t)sizeof *numbers, "observables", &numbers));
    kith_status status = KITH_OK;
    for (int k = 0; status == KITH_OK && k < h5md_observable_count; k++) {
        const int32_t components = h5md_observables[k].components;
        if (h5md_observables[k].of_totals && !has_totals)
            continue;
        status = read_observable(reader, &h5md_observables[k], frame, 1, numbers);
        for (int64_t s = 0; status == KITH_OK && s < reader->systems; s++)
            memcpy((char *)&diagnostics[s] + h5md_observables[k].offset, numbers + s * components,
                   (size_t)components * sizeof *numbers);
    }
    free(numbers);
    return status;
}

static const struct h5md_observable *total_energy(void)
{
    int k = 0;
    while (h5md_observables[k].offset != offsetof(kith_diagnostics, total_energy))
        k++;
    return &h5md_observables[k];
}

/* Reads about a million energies at a time. */
static kith_status read_largest_errors(const struct h5md_reader *reader, struct run_past *past)
{
    const int64_t systems = reader->systems;
    const int64_t fitting = (1 << 20) / (systems > 0 ? systems : 1) + 1;
    const int64_t at_once = fitting < past->frames ? fitting : past->frames;
    double *energy = NULL;
    KITH_TRY(kith_allocate(at_once * systems, sizeof *energy, "energies", &energy));
    kith_status status = KITH_OK;
    for (int64_t frame = 0; status == KITH_OK && frame < past->frames; frame += at_once) {
        const int64_t left = past->frames - frame, frames = left < at_once ? left : at_once;
        status = read_observable(reader, total_energy(), frame, frames, energy);
        for (int64_t k = 0; status == KITH_OK && k < frames * systems; k++) {
            const int64_t s = k % systems;
            past->largest_energy_error[s] =
                fmax(past->largest_energy_error[s], fabs(energy[k] - past->first[s].total_energy));
        }
    }
    free(energy);
    return status;
}

static kith_status read_past(const struct h5md_reader *reader, struct run_past *past)
{
    KITH_TRY(run_parameters_read(reader->file, &past->parameters, &past->exclusions));
    if (reader->frames < 1)
        return kith_fail(KITH_BAD_FORMAT, "the file has no frames");
    KITH_TRY(run_checkpoint_read(reader->file, past->parameters.precision, reader->count,
                                 reader->dimensions, &past->checkpoint));
    KITH_TRY(count_frames(reader, past->checkpoint.steps, &past->frames));
    past->all = reader->count;
    KITH_TRY(run_events_read(reader->file, reader->rows, &past->events, &past->event_count));
    while (past->event_count > 0 &&
           past->events[past->event_count - 1].step > past->checkpoint.steps)
        past->event_count--;
    KITH_TRY(kith_allocate(reader->systems, sizeof *past->first, "observables", &past->first));
    KITH_TRY(kith_allocate(reader->systems, sizeof *past->last, "observables", &past->last));
    KITH_TRY(kith_allocate(reader->systems, sizeof *past->largest_energy_error, "observables",
                           &past->largest_energy_error));
    const bool has_totals = run_parameters_have_cell(&past->parameters);
    KITH_TRY(read_diagnostics(reader, 0, has_totals, past->first));
    KITH_TRY(
        read_diagnostics(reader, past->frames > 0 ? past->frames - 1 : 0, has_totals, past->last));
    return read_largest_errors(reader, past);
}

struct run_past_reader {
    struct h5md_reader reader;
    char *output; /* for messages */
    kith_dtype precision;
    int64_t read;       /* rows of the start so far */
    kith_bodies *like;  /* one body */
    kith_bodies *start; /* all of it, of a run with events; else NULL */
};

/* Frame 0, rows from where the reader is on. */
static kith_status read_start(const struct h5md_reader *reader, kith_bodies *start)
{
    KITH_TRY(h5md_reader_frame(reader, 0, start));
    KITH_TRY(h5md_read_start(reader, start));
    return kith_bodies_check(start) == KITH_OK ? KITH_OK : KITH_BAD_FORMAT;
}

/* Events may be of any row. */
static kith_status begin_start(struct run_past_reader *made)
{
    const struct h5md_reader *reader = &made->reader;
    const unsigned columns = h5md_reader_columns(reader);
    KITH_TRY(kith_bodies_create(1, reader->dimensions, columns, &made->like));
    made->like->time = reader->time[0];
    made->like->units = reader->units;
    KITH_TRY(h5md_read_box(reader, 0, made->like));
    h5md_keep_open(reader);
    if (reader->event_count == 0)
        return KITH_OK;
    KITH_TRY(kith_bodies_create(reader->count, reader->dimensions, columns, &made->start));
    return read_start(reader, made->start);
}

static kith_status open_past(const char *output, struct run_past_reader *made,
                             struct run_past *past)
{
    made->output = strdup(output);
    if (!made->output)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a path");
    KITH_TRY(read_past(&made->reader, past));
    made->precision = past->parameters.precision;
    return begin_start(made);
}

kith_status run_past_open(const char *output, struct run_past *past,
                          struct run_past_reader **reader)
{
    struct hdf5_session session;
    struct run_past_reader *made = NULL;
    *reader = NULL;
    *past = (struct run_past){0};
    KITH_TRY(kith_allocate(1, sizeof *made, "reader", &made));
    hdf5_begin(&session);
    kith_status status = h5md_reader_open(output, &made->reader);
    const bool is_open = status == KITH_OK;
    if (is_open)
        status = open_past(output, made, past);
    hdf5_end(&session);
    if (is_open)
        *reader = made;
    else
        free(made);
    if (status == KITH_OK)
        return KITH_OK;
    run_past_close(*reader);
    *reader = NULL;
    run_past_free(past);
    return kith_fail_within(status, "%s: ", output);
}

const kith_bodies *run_past_like(const struct run_past_reader *reader)
{
    return reader->like;
}

kith_status run_past_start(struct run_past_reader *reader, kith_bodies *rows)
{
    struct hdf5_session session;
    kith_status status = KITH_OK;
    if (reader->start) {
        bodies_put_rows(reader->start, reader->read, rows);
        rows->time = reader->start->time;
    } else {
        hdf5_begin(&session);
        h5md_reader_choose_rows(&reader->reader, reader->read, rows->count);
        status = read_start(&reader->reader, rows);
        hdf5_end(&session);
    }
    reader->read += rows->count;
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", reader->output);
}

kith_status run_past_state(struct run_past_reader *reader, int64_t array, int64_t first,
                           int64_t rows, void *numbers)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    const kith_status status =
        run_checkpoint_get(reader->reader.file, reader->precision, reader->reader.dimensions, array,
                           first, rows, numbers);
    hdf5_end(&session);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", reader->output);
}

void run_past_close(struct run_past_reader *reader)
{
    struct hdf5_session session;
    if (!reader)
        return;
    hdf5_begin(&session);
    h5md_reader_close(&reader->reader);
    hdf5_end(&session);
    kith_bodies_free(reader->like);
    kith_bodies_free(reader->start);
    free(reader->output);
    free(reader);
}

/* All rows of all. */
static kith_status read_rows(struct run_past_reader *reader, struct run_past *past)
{
    const kith_bodies *like = reader->like;
    kith_checkpoint *checkpoint = &past->checkpoint;
    KITH_TRY(
        kith_bodies_create(past->all, like->dimensions, kith_bodies_columns(like), &past->start));
    bodies_take_frame(like, past->start);
    KITH_TRY(run_past_start(reader, past->start));
    KITH_TRY(kith_allocate(checkpoint->bytes, 1, "checkpoint", &checkpoint->state));
    for (int64_t k = 0; k < checkpoint->arrays; k++)
        KITH_TRY(run_past_state(reader, k, 0, checkpoint->bodies,
                                (char *)checkpoint->state +
                                    k * (checkpoint->bytes / checkpoint->arrays)));
    return KITH_OK;
}

kith_status run_past_read(const char *output, struct run_past *past)
{
    struct run_past_reader *reader = NULL;
    KITH_TRY(run_past_open(output, past, &reader));
    const kith_status status = reader ? read_rows(reader, past) : KITH_OK;
    run_past_close(reader);
    if (status != KITH_OK)
        run_past_free(past);
    return status;
}

void run_past_free(struct run_past *past)
{
    kith_bodies_free(past->start);
    kith_checkpoint_free(&past->checkpoint);
    free(past->exclusions);
    free(past->events);
    free(past->first);
    free(past->last);
    free(past->largest_energy_error);
    *past = (struct run_past){0};
}
