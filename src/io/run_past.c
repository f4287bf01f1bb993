#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/h5md_reader.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_file.h"
#include "io/run_parameters.h"

static kith_status read_start(const struct h5md_reader *reader, kith_bodies **start)
{
    KITH_TRY(
        kith_bodies_create(reader->count, reader->dimensions, h5md_reader_columns(reader), start));
    KITH_TRY(h5md_reader_frame(reader, 0, *start));
    return kith_bodies_check(*start) == KITH_OK ? KITH_OK : KITH_BAD_FORMAT;
}

/* Frames before the checkpoint's step; steps must ascend. */
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
        if (k > 0 && steps[k] <= steps[k - 1])
            status = kith_fail(KITH_BAD_FORMAT, "the step of frame %lld is not after that before",
                               (long long)k);
        *frames += steps[k] < checkpoint_steps;
    }
    free(steps);
    return status;
}

/* All observables of a frame. */
static kith_status read_diagnostics(hid_t file, int64_t frame, kith_diagnostics *diagnostics)
{
    const hsize_t first[2] = {(hsize_t)frame, 0};
    for (int k = 0; k < h5md_observable_count; k++) {
        char path[64];
        snprintf(path, sizeof path, "/observables/%s/value", h5md_observables[k].name);
        const hsize_t components = (hsize_t)h5md_observables[k].components;
        const struct hdf5_shape box = {components > 1 ? 2 : 1, {1, components}};
        struct hdf5_shape shape;
        KITH_TRY(hdf5_shape_of(file, path, &shape));
        if (shape.rank != box.rank || shape.size[0] <= first[0] ||
            (box.rank == 2 && shape.size[1] != components))
            return kith_fail(KITH_BAD_FORMAT, "dataset %s has another shape than kith's", path);
        KITH_TRY(hdf5_read(file, path, H5T_NATIVE_DOUBLE, first, box,
                           (char *)diagnostics + h5md_observables[k].offset));
    }
    return KITH_OK;
}

static kith_status read_largest_error(hid_t file, struct run_past *past)
{
    struct hdf5_shape shape;
    double *energy = NULL;
    KITH_TRY(hdf5_shape_of(file, "/observables/total_energy/value", &shape));
    if (shape.size[0] < (hsize_t)past->frames)
        return kith_fail(KITH_BAD_FORMAT, "observables have fewer frames than positions");
    KITH_TRY(kith_allocate((int64_t)shape.size[0], sizeof *energy, "energies", &energy));
    const kith_status status =
        hdf5_read(file, "/observables/total_energy/value", H5T_NATIVE_DOUBLE, NULL, shape, energy);
    for (int64_t k = 0; k < past->frames; k++)
        past->largest_energy_error =
            fmax(past->largest_energy_error, fabs(energy[k] - past->first.total_energy));
    free(energy);
    return status;
}

static kith_status read_past(const struct h5md_reader *reader, struct run_past *past)
{
    KITH_TRY(run_parameters_read(reader->file, &past->parameters));
    if (reader->frames < 1)
        return kith_fail(KITH_BAD_FORMAT, "the file has no frames");
    KITH_TRY(run_checkpoint_read(reader->file, past->parameters.precision, reader->count,
                                 reader->dimensions, &past->checkpoint));
    KITH_TRY(count_frames(reader, past->checkpoint.steps, &past->frames));
    KITH_TRY(read_start(reader, &past->start));
    KITH_TRY(read_diagnostics(reader->file, 0, &past->first));
    KITH_TRY(read_diagnostics(reader->file, past->frames > 0 ? past->frames - 1 : 0, &past->last));
    return read_largest_error(reader->file, past);
}

kith_status run_past_read(const char *output, struct run_past *past)
{
    struct hdf5_session session;
    struct h5md_reader reader;
    *past = (struct run_past){0};
    hdf5_begin(&session);
    kith_status status = h5md_reader_open(output, &reader);
    if (status == KITH_OK) {
        status = read_past(&reader, past);
        h5md_reader_close(&reader);
    }
    hdf5_end(&session);
    if (status != KITH_OK) {
        run_past_free(past);
        return kith_fail_within(status, "%s: ", output);
    }
    return KITH_OK;
}

void run_past_free(struct run_past *past)
{
    kith_bodies_free(past->start);
    kith_checkpoint_free(&past->checkpoint);
    *past = (struct run_past){0};
}
