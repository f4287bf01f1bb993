#include "io/run_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "io/h5md_columns.h"
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
    struct h5md_columns *columns; /* until all bodies have come */
    struct run_pressures pressures;
    int32_t dimensions;
    bool has_pressures;
    bool is_open;
    int error; /* of the system, in writing the working file; 0 if all is well */
    /* From run_file_begin_checkpoint to run_file_publish: the file that is being completed, the
     * working file itself or a copy. */
    hid_t published;
    bool is_last;
    int copy_error;
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
    (*file)->published = H5I_INVALID_HID;
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
                             .masses = true,
                             .velocities = true,
                             .observables = true,
                             .totals = run_parameters_have_cell(parameters)};
    return KITH_OK;
}

static kith_status write_beginning(hid_t hdf5, struct run_file *file,
                                   const struct run_parameters *parameters,
                                   const struct run_origin *origin, const kith_bodies *like,
                                   bool names_are_numbers)
{
    KITH_TRY(h5md_make_layout(hdf5, &file->layout, like));
    KITH_TRY(h5md_columns_make(hdf5, &file->layout, like, names_are_numbers, &file->columns));
    KITH_TRY(run_parameters_write_origin(hdf5, origin));
    if (parameters->is_ensemble)
        KITH_TRY(run_parameters_write_systems(hdf5, origin, parameters->systems));
    if (file->has_pressures)
        KITH_TRY(run_pressures_make(hdf5));
    if (parameters->wrap)
        KITH_TRY(h5md_make_start(hdf5, parameters->precision, like->count, like->dimensions));
    return run_parameters_write(hdf5, parameters);
}

static void forget_columns(struct run_file *file)
{
    h5md_columns_free(file->columns);
    file->columns = NULL;
}

static kith_status create(const struct run_parameters *parameters, const struct run_origin *origin,
                          const kith_bodies *like, bool names_are_numbers, struct run_file *file)
{
    hid_t hdf5 = H5I_INVALID_HID;
    KITH_TRY(hdf5_create(file->working.path, &file->error, &hdf5));
    kith_status status = write_beginning(hdf5, file, parameters, origin, like, names_are_numbers);
    if (status != KITH_OK) {
        forget_columns(file);
        hdf5_close_written(hdf5);
        return status;
    }
    status = begin_frames(file, hdf5);
    if (status != KITH_OK)
        forget_columns(file);
    return status;
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
                            const struct run_origin *origin, const kith_bodies *like,
                            bool names_are_numbers, int64_t frames_expected, struct run_file **file)
{
    struct run_file *made = NULL;
    *file = NULL;
    KITH_TRY(allocate_file(like, parameters, frames_expected, &made));
    kith_status status = working_file_open(output, &made->working);
    if (status == KITH_OK) {
        struct hdf5_session session;
        hdf5_begin(&session);
        status = create(parameters, origin, like, names_are_numbers, made);
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
    kith_bodies like = *past->start;
    like.count = past->all;
    KITH_TRY(allocate_file(&like, parameters, frames_expected, &made));
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

bool run_names_are_numbers(const kith_bodies *bodies)
{
    return h5md_names_are_numbers(bodies);
}

/* The end of a session of HDF5 in which something was written. */
static kith_status end_session(const struct hdf5_session *session, const struct run_file *file,
                               kith_status status)
{
    if (status == KITH_OK)
        status = check_written(file->error);
    if (status == KITH_OK)
        status = check_written(file->copy_error);
    hdf5_end(session);
    return status == KITH_OK ? KITH_OK : kith_fail_within(status, "%s: ", file->working.output);
}

kith_status run_file_put_bodies(struct run_file *file, int64_t first, const kith_bodies *rows)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    kith_status status = h5md_columns_put(file->columns, first, rows);
    if (status == KITH_OK && file->layout.wrap)
        status = h5md_put_start(file->writer.file, first, rows);
    if (first + rows->count == file->layout.count)
        forget_columns(file);
    return end_session(&session, file, status);
}

kith_status run_file_begin_frame(struct run_file *file, int64_t step, const kith_bodies *rows,
                                 const kith_diagnostics *diagnostics)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(&session, file,
                       h5md_writer_begin_frame(&file->writer, step, rows, diagnostics));
}

kith_status run_file_put_frame(struct run_file *file, int64_t first, const kith_bodies *rows)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(&session, file, h5md_writer_add_rows(&file->writer, first, rows));
}

kith_status run_file_end_frame(struct run_file *file)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(&session, file, h5md_writer_end_frame(&file->writer));
}

struct h5md_chunk run_file_chunk(const struct run_file *file)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    const struct h5md_chunk chunk = h5md_writer_chunk(&file->writer);
    hdf5_end(&session);
    return chunk;
}

kith_status run_file_put_chunk(struct run_file *file, int32_t part, int64_t first, int64_t bytes,
                               const void *packed)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(
        &session, file,
        h5md_writer_add_chunk(&file->writer, (enum h5md_part)part, first, bytes, packed));
}

kith_status run_file_put_images(struct run_file *file, int64_t first, const kith_bodies *rows)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(&session, file, h5md_writer_add_images(&file->writer, first, rows));
}

kith_status run_file_add_pressure(struct run_file *file, const struct run_pressure *row)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(&session, file, run_pressures_add(&file->pressures, row));
}

static kith_status flush(hid_t hdf5)
{
    if (H5Fflush(hdf5, H5F_SCOPE_GLOBAL) < 0)
        return hdf5_fail(KITH_IO_ERROR, "cannot be written");
    return KITH_OK;
}

/* The file that is to be published: the working file itself, or a copy of it. */
static kith_status open_published(struct run_file *file, bool last)
{
    file->is_last = last;
    file->copy_error = 0;
    if (last) {
        file->published = file->writer.file;
        return KITH_OK;
    }
    KITH_TRY(flush(file->writer.file));
    KITH_TRY(check_written(file->error));
    KITH_TRY(working_file_copy(&file->working));
    return hdf5_open_to_write(file->working.copy, &file->copy_error, &file->published);
}

static kith_status begin_checkpoint(struct run_file *file, const kith_checkpoint *checkpoint,
                                    bool last)
{
    const struct h5md_layout *layout = &file->layout;
    KITH_TRY(open_published(file, last));
    KITH_TRY(h5md_writer_complete(&file->writer, file->published));
    if (file->has_pressures)
        KITH_TRY(run_pressures_complete(&file->pressures, file->published));
    return run_checkpoint_write(file->published, layout->precision, layout->count, file->dimensions,
                                checkpoint);
}

kith_status run_file_begin_checkpoint(struct run_file *file, const kith_checkpoint *checkpoint,
                                      bool last)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(&session, file, begin_checkpoint(file, checkpoint, last));
}

kith_status run_file_put_state(struct run_file *file, int64_t array, int64_t first, int64_t rows,
                               const void *numbers)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    return end_session(&session, file,
                       run_checkpoint_put(file->published, file->layout.precision, file->dimensions,
                                          array, first, rows, numbers));
}

static kith_status close_published(struct run_file *file)
{
    const hid_t hdf5 = file->published;
    file->published = H5I_INVALID_HID;
    if (hdf5 < 0)
        return KITH_OK;
    if ((file->is_last ? close_hdf5(file) : hdf5_close_written(hdf5)) < 0)
        return hdf5_fail(KITH_IO_ERROR, "cannot be written");
    return KITH_OK;
}

kith_status run_file_publish(struct run_file *file, const kith_event *events, int64_t count)
{
    struct hdf5_session session;
    hdf5_begin(&session);
    kith_status status = run_events_write(file->published, events, count);
    if (status == KITH_OK)
        status = flush(file->published);
    const kith_status closed = close_published(file);
    KITH_TRY(end_session(&session, file, status == KITH_OK ? closed : status));
    return file->is_last ? working_file_publish(&file->working)
                         : working_file_publish_copy(&file->working);
}

void run_file_close(struct run_file *file)
{
    if (!file)
        return;
    if (file->is_open) {
        struct hdf5_session session;
        hdf5_begin(&session);
        forget_columns(file);
        if (!file->is_last)
            (void)close_published(file);
        close_hdf5(file);
        hdf5_end(&session);
    }
    h5md_writer_end(&file->writer);
    run_pressures_end(&file->pressures);
    working_file_close(&file->working);
    free(file);
}
