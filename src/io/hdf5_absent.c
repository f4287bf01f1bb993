/* What needs HDF5, in a build without it. */

#include <stddef.h>

#include "core/arguments.h"
#include "io/gadget.h"
#include "io/records.h"
#include "io/run_file.h"
#include "kith/trajectory.h"

static kith_status lacks_hdf5(const char *path)
{
    return kith_fail(KITH_UNSUPPORTED,
                     "%s: this build has no HDF5, which H5MD files need; install libhdf5-dev and "
                     "build again",
                     path);
}

int64_t gadget_files(const char *path)
{
    (void)path;
    return 1;
}

kith_status kith_trajectory_open(const char *path, kith_trajectory **trajectory)
{
    KITH_TRY(kith_check_pointer(trajectory, "trajectory"));
    *trajectory = NULL;
    KITH_TRY(kith_check_pointer(path, "path"));
    return lacks_hdf5(path);
}

void kith_trajectory_close(kith_trajectory *trajectory)
{
    (void)trajectory;
}

int64_t kith_trajectory_frames(const kith_trajectory *trajectory)
{
    (void)trajectory;
    return 0;
}

int64_t kith_trajectory_systems(const kith_trajectory *trajectory)
{
    (void)trajectory;
    return 0;
}

kith_status kith_trajectory_choose_system(kith_trajectory *trajectory, int64_t system)
{
    (void)trajectory, (void)system;
    return lacks_hdf5("trajectory");
}

kith_status kith_trajectory_read(kith_trajectory *trajectory, int64_t frame, kith_bodies **bodies)
{
    (void)trajectory, (void)frame, (void)bodies;
    return lacks_hdf5("trajectory");
}

void kith_trajectory_unit(kith_trajectory *trajectory, const char *quantity, kith_name unit)
{
    (void)trajectory, (void)quantity;
    if (unit)
        unit[0] = 0;
}

kith_status kith_trajectory_observable(kith_trajectory *trajectory, const char *name,
                                       int64_t *components, double **values, double **times)
{
    (void)trajectory, (void)name, (void)components, (void)values, (void)times;
    return lacks_hdf5("trajectory");
}

bool run_file_exists(const char *output)
{
    (void)output;
    return false;
}

kith_status run_past_read(const char *output, struct run_past *past)
{
    (void)past;
    return lacks_hdf5(output);
}

kith_status run_past_open(const char *output, struct run_past *past,
                          struct run_past_reader **reader)
{
    (void)past;
    *reader = NULL;
    return lacks_hdf5(output);
}

const kith_bodies *run_past_like(const struct run_past_reader *reader)
{
    (void)reader;
    return NULL;
}

kith_status run_past_start(struct run_past_reader *reader, kith_bodies *rows)
{
    (void)reader, (void)rows;
    return lacks_hdf5("run");
}

kith_status run_past_state(struct run_past_reader *reader, int64_t array, int64_t first,
                           int64_t rows, void *numbers)
{
    (void)reader, (void)array, (void)first, (void)rows, (void)numbers;
    return lacks_hdf5("run");
}

void run_past_close(struct run_past_reader *reader)
{
    (void)reader;
}

void run_past_free(struct run_past *past)
{
    (void)past;
}

kith_status run_file_create(const char *output, const struct run_parameters *parameters,
                            const struct run_origin *origin, const kith_bodies *like,
                            bool names_are_numbers, int64_t frames_expected, struct run_file **file)
{
    (void)parameters, (void)origin, (void)like, (void)names_are_numbers, (void)frames_expected;
    *file = NULL;
    return lacks_hdf5(output);
}

kith_status run_file_put_bodies(struct run_file *file, int64_t first, const kith_bodies *rows)
{
    (void)file, (void)first, (void)rows;
    return lacks_hdf5("run");
}

bool run_names_are_numbers(const kith_bodies *bodies)
{
    (void)bodies;
    return false;
}

kith_status run_file_resume(const char *output, const struct run_parameters *parameters,
                            const struct run_origin *origin, const struct run_past *past,
                            int64_t frames_expected, struct run_file **file)
{
    (void)parameters, (void)origin, (void)past, (void)frames_expected;
    *file = NULL;
    return lacks_hdf5(output);
}

kith_status run_file_begin_frame(struct run_file *file, int64_t step, const kith_bodies *rows,
                                 const kith_diagnostics *diagnostics)
{
    (void)file, (void)step, (void)rows, (void)diagnostics;
    return lacks_hdf5("run");
}

kith_status run_file_put_frame(struct run_file *file, int64_t first, const kith_bodies *rows)
{
    (void)file, (void)first, (void)rows;
    return lacks_hdf5("run");
}

kith_status run_file_end_frame(struct run_file *file)
{
    (void)file;
    return lacks_hdf5("run");
}

struct h5md_chunk run_file_chunk(const struct run_file *file)
{
    (void)file;
    return (struct h5md_chunk){0};
}

kith_status run_file_put_chunk(struct run_file *file, int32_t part, int64_t first, int64_t bytes,
                               const void *packed)
{
    (void)file, (void)part, (void)first, (void)bytes, (void)packed;
    return lacks_hdf5("run");
}

kith_status run_file_put_images(struct run_file *file, int64_t first, const kith_bodies *rows)
{
    (void)file, (void)first, (void)rows;
    return lacks_hdf5("run");
}

kith_status run_file_add_pressure(struct run_file *file, const struct run_pressure *row)
{
    (void)file, (void)row;
    return lacks_hdf5("run");
}

kith_status run_file_begin_checkpoint(struct run_file *file, const kith_checkpoint *checkpoint,
                                      bool last)
{
    (void)file, (void)checkpoint, (void)last;
    return lacks_hdf5("run");
}

kith_status run_file_put_state(struct run_file *file, int64_t array, int64_t first, int64_t rows,
                               const void *numbers)
{
    (void)file, (void)array, (void)first, (void)rows, (void)numbers;
    return lacks_hdf5("run");
}

kith_status run_file_publish(struct run_file *file, const kith_event *events, int64_t count)
{
    (void)file, (void)events, (void)count;
    return lacks_hdf5("run");
}

void run_file_close(struct run_file *file)
{
    (void)file;
}

kith_status records_write_hdf5(const char *path, int64_t column_count,
                               const kith_table_column *columns, int64_t rows)
{
    (void)column_count, (void)columns, (void)rows;
    return lacks_hdf5(path);
}
