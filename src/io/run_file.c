#include "io/run_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "io/h5md_image.h"
#include "io/h5md_writer.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_events.h"
#include "io/run_parameters.h"
#include "io/run_pressures.h"
#include "io/working_file.h"

struct run_file {
    struct working_file working;
    struct h5md_layout layout;
    struct h5md_writer writer;
    struct run_pressures pressures;
    int32_t dimensions;
    bool has_pressures;
    bool is_open;
    int error; /* of the system, in writing the working file; 0 if all is well */
};

bool run_file_exists(const char *output)
{
    return access(output, F_OK) == 0;
}

static kith_status check_written(int error)
{
    if (error)
        return kith_fail(KITH_IO_ERROR, "cannot be written: %s", strerror(error));
    return KITH_OK;
}

static herr_t close_hdf5(struct run_file *file)
{
    file->is_open = false;
    return hdf5_close_written(file->writer.file);
}

/* Begins to append frames to an HDF5 file just opened, which is closed on failure. */
static kith_status begin_frames(struct run_file *file, hid_t hdf5)
{
    kith_status status = h5md_writer_begin(hdf5, &file->layout, &file->writer);
    if (status == KITH_OK && file->has_pressures)
        status = run_pressures_begin(hdf5, &file->pressures);
    file->is_open = true;
    if (status != KITH_OK)
        close_hdf5(file);
    return status;
}

static kith_status allocate_file(const kith_bodies *bodies, const struct run_parameters *parameters,
                                 int64_t frames_expected, struct run_file **file)
{
    KITH_TRY(kith_allocate(1, sizeof **file, "run file", file));
    (*file)->dimensions = bodies->dimensions;
    (*file)->has_pressures = parameters->pressure_every > 0;
    (*file)->layout =
        (struct h5md_layout){.count = bodies->count,
                             .is_ensemble = parameters->is_ensemble,
                             .systems = parameters->systems,
                             .frames_expected = frames_expected,
                             .precision = parameters->precision,
                             .cell = bodies->has_cell && run_parameters_have_cell(parameters),
                             .wrap = parameters->wrap,
                             .velocities = true,
                             .observables = true,
                             .totals = run_parameters_have_cell(parameters)};
    return KITH_OK;
}

/* Masses are always there, for readers that need them. */
static kith_status write_unit_masses(hid_t hdf5, int64_t count)
{
    double *mass = NULL;
    KITH_TRY(kith_allocate(count, sizeof *mass, "masses", &mass));
    for (int64_t i = 0; i < count; i++)
        mass[i] = 1;
    const kith_status status =
        hdf5_write(hdf5, H5MD_PARTICLES "/mass", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                   (struct hdf5_shape){1, {(hsize_t)count}}, mass);
    free(mass);
    return status;
}

static kith_status write_beginning(hid_t hdf5, const struct run_file *file,
                                   const struct run_parameters *parameters,
                                   const struct run_origin *origin, const kith_bodies *bodies)
{
    KITH_TRY(h5md_make_layout(hdf5, &file->layout, bodies));
    if (!bodies->mass)
        KITH_TRY(write_unit_masses(hdf5, bodies->count));
    KITH_TRY(run_parameters_write_origin(hdf5, origin));
    if (parameters->is_ensemble)
        KITH_TRY(run_parameters_write_systems(hdf5, origin, parameters->systems));
    if (file->has_pressures)
        KITH_TRY(run_pressures_make(hdf5));
    if (parameters->wrap)
        KITH_TRY(h5md_write_start(hdf5, parameters->precision, bodies));
    return run_parameters_write(hdf5, parameters);
}

static kith_status create(const struct run_parameters *parameters, const struct run_origin *origin,
                          const kith_bodies *bodies, struct run_file *file)
{
    hid_t hdf5 = H5I_INVALID_HID;
    KITH_TRY(hdf5_create(file->working.path, &file->error, &hdf5));
    const kith_status status = write_beginning(hdf5, file, parameters, origin, bodies);
    if (status != KITH_OK) {
        hdf5_close_written(hdf5);
        return status;
    }
    return begin_frames(file, hdf5);
}

/* Keeps a file that could be made, or frees it. */
static kith_status hand_over(kith_status status, struct run_file *made, struct run_file **file)
{
    *file = status == KITH_OK ? made : NULL;
    if (status != KITH_OK)
        run_file_close(made);
    return status;
}

kith_status run_file_create(const char *output, const struct run_parameters *parameters,
                            const struct run_origin *origin, const kith_bodies *bodies,
                            int64_t frames_expected, struct run_file **file)
{
    struct run_file *made = NULL;
    *file = NULL;
    KITH_TRY(allocate_file(bodies, parameters, frames_expected, &made));
    kith_status status = working_file_open(output, &made->working);
    if (status == KITH_OK) {
        struct hdf5_session session;
        hdf5_begin(&session);
        status = create(parameters, origin, bodies, made);
        hdf5_end(&session);
        if (status != KITH_OK)
            status = kith_fail_within(status, "%s: ", output);
    }
    return hand_over(status, made, file);
}

/* The old file is opened, changed and inspected, before its writer begins to count its frames. */
static kith_status cut_and_reopen(struct run_file *file, const struct run_parameters *parameters,
                                  const struct run_origin *origin, const struct run_past *past)
{
    hid_t hdf5 = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_to_write(file->working.path, &file->error, &hdf5));
    kith_status status = h5md_truncate(hdf5, &file->layout, past->frames);
    if (status == KITH_OK && file->has_pressures)
        status = run_pressures_truncate(hdf5, past->checkpoint.steps);
    if (status == KITH_OK)
        status = run_checkpoint_remove(hdf5);
    if (status == KITH_OK)
        status = run_parameters_write_origin(hdf5, origin);
    if (status == KITH_OK)
        status = run_parameters_write(hdf5, parameters);
    if (status == KITH_OK)
        return begin_frames(file, hdf5);
    hdf5_close_written(hdf5);
    return status;
}

kith_status run_file_resume(const char *output, const struct run_parameters *parameters,
                            const struct run_origin *origin, const struct run_past *past,
                            int64_t frames_expected, struct run_file **file)
{
    struct run_file *made = NULL;
    *file = NULL;
    KITH_TRY(allocate_file(past->start, parameters, frames_expected, &made));
    kith_status status = working_file_open(output, &made->working);
    if (status == KITH_OK)
        status = working_file_start_from_output(&made->working);
    if (status == KITH_OK) {
        struct hdf5_session session;
        hdf5_begin(&session);
        status = cut_and_reopen(made, parameters, origin, past);
        hdf5_end(&session);
        if (status != KITH_OK)
            status = kith_fail_within(status, "%s: ", output);
    }
    return hand_over(status, made, file);
}

kith_status run_file_add(struct run_file *file, int64_t step, const kith_bodies *bodies,
                         const kith_diagnostics *diagnostics)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    kith_status status = h5md_writer_add(&file->writer, step, bodies, diagnostics);
    if (status == KITH_OK)
        status = check_written(file->error);
    hdf5_end(&session);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", file->working.output);
}

kith_status run_file_add_pressure(struct run_file *file, const struct run_pressure *row)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    kith_status status = run_pressures_add(&file->pressures, row);
    if (status == KITH_OK)
        status = check_written(file->error);
    hdf5_end(&session);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", file->working.output);
}

static kith_status flush(hid_t hdf5)
{
    if (H5Fflush(hdf5, H5F_SCOPE_GLOBAL) < 0)
        return hdf5_fail(KITH_IO_ERROR, "cannot be written");
    return KITH_OK;
}

/* What a publishing adds to the frames. */
struct extras {
    const kith_checkpoint *checkpoint;
    const kith_event *events;
    int64_t count;
};

static kith_status complete(const struct run_file *file, const struct extras *extras, hid_t hdf5)
{
    const struct h5md_layout *layout = &file->layout;
    KITH_TRY(h5md_writer_complete(&file->writer, hdf5));
    if (file->has_pressures)
        KITH_TRY(run_pressures_complete(&file->pressures, hdf5));
    KITH_TRY(run_checkpoint_write(hdf5, layout->precision, layout->count, file->dimensions,
                                  extras->checkpoint));
    KITH_TRY(run_events_write(hdf5, extras->events, extras->count));
    return flush(hdf5);
}

/* A copy of the working file, complete. */
static kith_status complete_copy(struct run_file *file, const struct extras *extras)
{
    int error = 0;
    hid_t hdf5 = H5I_INVALID_HID;
    KITH_TRY(flush(file->writer.file));
    KITH_TRY(check_written(file->error));
    KITH_TRY(working_file_copy(&file->working));
    KITH_TRY(hdf5_open_to_write(file->working.copy, &error, &hdf5));
    kith_status status = complete(file, extras, hdf5);
    if (hdf5_close_written(hdf5) < 0 && status == KITH_OK)
        status = hdf5_fail(KITH_IO_ERROR, "cannot be written");
    return status == KITH_OK ? check_written(error) : status;
}

/* The working file itself, complete and closed. */
static kith_status complete_itself(struct run_file *file, const struct extras *extras)
{
    KITH_TRY(complete(file, extras, file->writer.file));
    if (close_hdf5(file) < 0)
        return hdf5_fail(KITH_IO_ERROR, "cannot be written");
    return check_written(file->error);
}

kith_status run_file_publish(struct run_file *file, const kith_checkpoint *checkpoint,
                             const kith_event *events, int64_t count, bool last)
{
    const struct extras extras = {checkpoint, events, count};
    struct hdf5_session session;
    hdf5_begin(&session);
    const kith_status status = last ? complete_itself(file, &extras) : complete_copy(file, &extras);
    hdf5_end(&session);
    if (status != KITH_OK)
        return kith_fail_within(status, "%s: ", file->working.output);
    return last ? working_file_publish(&file->working) : working_file_publish_copy(&file->working);
}

void run_file_close(struct run_file *file)
{
    if (!file)
        return;
    if (file->is_open) {
        struct hdf5_session session;
        hdf5_begin(&session);
        close_hdf5(file);
        hdf5_end(&session);
    }
    h5md_writer_end(&file->writer);
    run_pressures_end(&file->pressures);
    working_file_close(&file->working);
    free(file);
}
