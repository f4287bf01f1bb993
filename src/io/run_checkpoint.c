/* The checkpoint of a run: /parameters/kith/checkpoint. */

#include <hdf5.h>

#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_parameters.h"

enum { checkpoint_format = 1 };

/* Of an integrator that chooses its steps. */
enum { clock_numbers = 6 };

static const char clock_names[clock_numbers][16] = {"lost_time",     "next_step",  "last_step",
                                                    "previous_time", "least_step", "most_step"};

static kith_status write_clock(hid_t group, const kith_checkpoint *checkpoint)
{
    const double numbers[clock_numbers] = {checkpoint->lost_time,  checkpoint->next_step,
                                           checkpoint->last_step,  checkpoint->previous_time,
                                           checkpoint->least_step, checkpoint->most_step};
    for (int k = 0; k < clock_numbers; k++)
        KITH_TRY(hdf5_write_real(group, clock_names[k], numbers[k]));
    return KITH_OK;
}

static kith_status read_clock(hid_t group, kith_checkpoint *checkpoint)
{
    double *const numbers[clock_numbers] = {&checkpoint->lost_time,  &checkpoint->next_step,
                                            &checkpoint->last_step,  &checkpoint->previous_time,
                                            &checkpoint->least_step, &checkpoint->most_step};
    for (int k = 0; k < clock_numbers; k++)
        KITH_TRY(hdf5_read_real(group, clock_names[k], numbers[k]));
    return KITH_OK;
}

/* Of bodies that have merged or escaped: who is left, and the columns of all. */
static kith_status write_rows(hid_t group, int64_t count, const kith_checkpoint *checkpoint)
{
    const struct hdf5_shape rows = {1, {(hsize_t)checkpoint->bodies}},
                            all = {2, {3, (hsize_t)count}};
    KITH_TRY(hdf5_write_integer(group, "body_steps", checkpoint->body_steps));
    KITH_TRY(hdf5_write_integer(group, "collisions", checkpoint->collisions));
    if (!checkpoint->rows)
        return KITH_OK;
    KITH_TRY(hdf5_write(group, "rows", H5T_STD_I64LE, H5T_NATIVE_INT64, rows, checkpoint->rows));
    return hdf5_write(group, "mass_charge_radius", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, all,
                      checkpoint->columns);
}

#define MOST_COUNTED (INT64_C(1) << 53) /* doubles still distinguish consecutive integers */

/* Reads how often a thing has happened. */
static kith_status read_count(hid_t group, const char *name, int64_t *count)
{
    int64_t found = 0;
    KITH_TRY(hdf5_read_integer(group, name, &found));
    if (found < 0 || found > MOST_COUNTED)
        return kith_fail(KITH_BAD_FORMAT,
                         "%s of " RUN_CHECKPOINT " is %lld, which is not from 0 to 2^53", name,
                         (long long)found);
    *count = found;
    return KITH_OK;
}

static kith_status read_rows(hid_t group, int64_t count, kith_checkpoint *checkpoint)
{
    struct hdf5_shape rows, all;
    if (hdf5_exists(group, "body_steps"))
        KITH_TRY(read_count(group, "body_steps", &checkpoint->body_steps));
    else if (__builtin_mul_overflow(checkpoint->steps, count, &checkpoint->body_steps))
        checkpoint->body_steps = MOST_COUNTED; /* versions before did not write it */
    if (hdf5_exists(group, "collisions"))
        KITH_TRY(read_count(group, "collisions", &checkpoint->collisions));
    checkpoint->bodies = count;
    if (!hdf5_exists(group, "rows"))
        return KITH_OK;
    KITH_TRY(hdf5_shape_of(group, "rows", &rows));
    KITH_TRY(hdf5_shape_of(group, "mass_charge_radius", &all));
    if (rows.rank != 1 || rows.size[0] > (hsize_t)count || all.rank != 2 || all.size[0] != 3 ||
        all.size[1] != (hsize_t)count)
        return kith_fail(KITH_BAD_FORMAT,
                         "datasets rows and mass_charge_radius of " RUN_CHECKPOINT
                         " are not of at most %lld and 3 × %lld numbers",
                         (long long)count, (long long)count);
    checkpoint->bodies = (int64_t)rows.size[0];
    KITH_TRY(kith_allocate(checkpoint->bodies, sizeof *checkpoint->rows, "checkpoint",
                           &checkpoint->rows));
    KITH_TRY(
        kith_allocate(3 * count, sizeof *checkpoint->columns, "checkpoint", &checkpoint->columns));
    KITH_TRY(hdf5_read(group, "rows", H5T_NATIVE_INT64, NULL, rows, checkpoint->rows));
    return hdf5_read(group, "mass_charge_radius", H5T_NATIVE_DOUBLE, NULL, all,
                     checkpoint->columns);
}

kith_status run_checkpoint_write(hid_t file, kith_dtype precision, int64_t count,
                                 int32_t dimensions, const kith_checkpoint *checkpoint)
{
    hid_t group = H5I_INVALID_HID;
    const int64_t bodies = checkpoint->rows ? checkpoint->bodies : count;
    const struct hdf5_shape shape = {
        3, {(hsize_t)checkpoint->arrays, (hsize_t)bodies, (hsize_t)dimensions}};
    KITH_TRY(hdf5_make_group(file, RUN_CHECKPOINT, &group));
    KITH_TRY(hdf5_write_integer(group, "format", checkpoint_format));
    KITH_TRY(hdf5_write_integer(group, "steps", checkpoint->steps));
    KITH_TRY(hdf5_write_real(group, "start_time", checkpoint->start_time));
    KITH_TRY(hdf5_write_integer(group, "start_steps", checkpoint->start_steps));
    KITH_TRY(hdf5_write_integer(group, "evaluations", checkpoint->evaluations));
    if (checkpoint->next_step != 0)
        KITH_TRY(write_clock(group, checkpoint));
    KITH_TRY(write_rows(group, count, checkpoint));
    const kith_status status = hdf5_make(group, "state", hdf5_real_in_file(precision), shape);
    H5Gclose(group);
    return status;
}

kith_status run_checkpoint_put(hid_t file, kith_dtype precision, int32_t dimensions, int64_t array,
                               int64_t first, int64_t rows, const void *numbers)
{
    const hsize_t from[hdf5_max_rank] = {(hsize_t)array, (hsize_t)first};
    const struct hdf5_shape box = {3, {1, (hsize_t)rows, (hsize_t)dimensions}};
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(file, RUN_CHECKPOINT "/state", &dataset));
    const kith_status status = hdf5_write_box(dataset, RUN_CHECKPOINT "/state",
                                              hdf5_real_in_memory(precision), from, box, numbers);
    H5Dclose(dataset);
    return status;
}

kith_status run_checkpoint_remove(hid_t file)
{
    if (H5Ldelete(file, RUN_CHECKPOINT, H5P_DEFAULT) < 0)
        return hdf5_fail(KITH_BAD_FORMAT, "the old checkpoint cannot be removed");
    return KITH_OK;
}

static kith_status measure_state(hid_t group, kith_dtype precision, int64_t count,
                                 int32_t dimensions, kith_checkpoint *checkpoint)
{
    struct hdf5_shape shape;
    KITH_TRY(hdf5_shape_of(group, "state", &shape));
    if (shape.rank != 3 || shape.size[0] < 1 || shape.size[0] > 64 ||
        shape.size[1] != (hsize_t)count || shape.size[2] != (hsize_t)dimensions)
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset " RUN_CHECKPOINT "/state is not one of arrays × %lld × %d",
                         (long long)count, (int)dimensions);
    checkpoint->arrays = (int64_t)shape.size[0];
    checkpoint->bytes = checkpoint->arrays * count * dimensions * kith_dtype_bytes(precision);
    return KITH_OK;
}

kith_status run_checkpoint_get(hid_t file, kith_dtype precision, int32_t dimensions, int64_t array,
                               int64_t first, int64_t rows, void *numbers)
{
    const hsize_t from[hdf5_max_rank] = {(hsize_t)array, (hsize_t)first};
    const struct hdf5_shape box = {3, {1, (hsize_t)rows, (hsize_t)dimensions}};
    return hdf5_read(file, RUN_CHECKPOINT "/state", hdf5_real_in_memory(precision), from, box,
                     numbers);
}

kith_status run_checkpoint_read(hid_t file, kith_dtype precision, int64_t count, int32_t dimensions,
                                kith_checkpoint *checkpoint)
{
    *checkpoint = (kith_checkpoint){0};
    const hid_t group = H5Gopen2(file, RUN_CHECKPOINT, H5P_DEFAULT);
    int64_t format = 0;
    KITH_TRY(hdf5_read_integer(group, "format", &format));
    if (format != checkpoint_format)
        return kith_fail(KITH_BAD_FORMAT,
                         "its checkpoint has format %lld, but this version of kith supports %d; "
                         "use the version that wrote it",
                         (long long)format, checkpoint_format);
    KITH_TRY(read_count(group, "steps", &checkpoint->steps));
    KITH_TRY(hdf5_read_real(group, "start_time", &checkpoint->start_time));
    KITH_TRY(read_count(group, "start_steps", &checkpoint->start_steps));
    KITH_TRY(read_count(group, "evaluations", &checkpoint->evaluations));
    if (hdf5_exists(group, "next_step"))
        KITH_TRY(read_clock(group, checkpoint));
    kith_status status = read_rows(group, count, checkpoint);
    if (status == KITH_OK)
        status = measure_state(group, precision, checkpoint->bodies, dimensions, checkpoint);
    if (status != KITH_OK)
        kith_checkpoint_free(checkpoint);
    return status;
}
