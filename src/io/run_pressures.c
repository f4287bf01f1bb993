#include "io/run_pressures.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/hdf5_data.h"

#define PRESSURES H5MD_PARAMETERS "/pressure"

enum { rows_a_chunk = 1024, series_count = 5, virial_components = 9 };

/* The datasets, and where rows gather; the step is written last: a row without it does not
 * exist. */
struct series {
    const char *path;
    hid_t file_type, memory_type;
    struct hdf5_shape row;
    void *gathered;
};

static void list_series(const struct run_pressures *pressures, struct series list[series_count])
{
    const hid_t real = H5T_IEEE_F64LE, here = H5T_NATIVE_DOUBLE;
    const struct hdf5_shape one = {0}, nine = {1, {virial_components}};
    list[0] = (struct series){PRESSURES "/time", real, here, one, pressures->time};
    list[1] = (struct series){PRESSURES "/temperature", real, here, one, pressures->temperature};
    list[2] = (struct series){PRESSURES "/pressure", real, here, one, pressures->pressure};
    list[3] = (struct series){PRESSURES "/virial", real, here, nine, pressures->virial};
    list[4] =
        (struct series){PRESSURES "/step", H5T_STD_I64LE, H5T_NATIVE_INT64, one, pressures->step};
}

kith_status run_pressures_make(hid_t file)
{
    struct series list[series_count];
    hid_t group = H5I_INVALID_HID;
    list_series(&(struct run_pressures){0}, list);
    KITH_TRY(hdf5_make_group(file, PRESSURES, &group));
    H5Gclose(group);
    for (int k = 0; k < series_count; k++)
        KITH_TRY(
            hdf5_make_series(file, list[k].path, list[k].file_type, list[k].row, rows_a_chunk));
    return KITH_OK;
}

static kith_status truncate_all(hid_t file, int64_t rows)
{
    struct series list[series_count];
    list_series(&(struct run_pressures){0}, list);
    for (int k = series_count - 1; k >= 0; k--)
        KITH_TRY(hdf5_resize(file, list[k].path, rows));
    return KITH_OK;
}

static kith_status count_rows(hid_t file, int64_t *rows)
{
    struct hdf5_shape shape;
    KITH_TRY(hdf5_shape_of(file, PRESSURES "/step", &shape));
    *rows = (int64_t)shape.size[0];
    return shape.rank == 1
               ? KITH_OK
               : kith_fail(KITH_BAD_FORMAT, "dataset " PRESSURES "/step is not one number per row");
}

kith_status run_pressures_truncate(hid_t file, int64_t step)
{
    int64_t *steps = NULL, rows = 0, left = 0;
    KITH_TRY(count_rows(file, &rows));
    KITH_TRY(kith_allocate(rows, sizeof *steps, "pressures", &steps));
    const kith_status status = hdf5_read(file, PRESSURES "/step", H5T_NATIVE_INT64, NULL,
                                         (struct hdf5_shape){1, {(hsize_t)rows}}, steps);
    while (status == KITH_OK && left < rows && steps[left] < step)
        left++;
    free(steps);
    return status == KITH_OK ? truncate_all(file, left) : status;
}

static kith_status allocate(struct run_pressures *pressures)
{
    const int64_t real = sizeof(double);
    KITH_TRY(kith_allocate(rows_a_chunk, sizeof *pressures->step, "pressures", &pressures->step));
    KITH_TRY(kith_allocate(rows_a_chunk, real, "pressures", &pressures->time));
    KITH_TRY(kith_allocate(rows_a_chunk, real, "pressures", &pressures->temperature));
    KITH_TRY(kith_allocate(rows_a_chunk, real, "pressures", &pressures->pressure));
    return kith_allocate(rows_a_chunk, virial_components * real, "pressures", &pressures->virial);
}

/* Takes the rows after the last whole chunk back into memory. */
kith_status run_pressures_begin(hid_t file, struct run_pressures *pressures)
{
    struct series list[series_count];
    int64_t rows = 0;
    *pressures = (struct run_pressures){.file = file};
    KITH_TRY(count_rows(file, &rows));
    KITH_TRY(allocate(pressures));
    pressures->gathered = rows % rows_a_chunk;
    list_series(pressures, list);
    const hsize_t first[hdf5_max_rank] = {(hsize_t)(rows - pressures->gathered)};
    for (int k = 0; k < series_count && pressures->gathered > 0; k++) {
        struct hdf5_shape box = {list[k].row.rank + 1, {(hsize_t)pressures->gathered}};
        box.size[1] = list[k].row.size[0];
        KITH_TRY(hdf5_read(file, list[k].path, list[k].memory_type, first, box, list[k].gathered));
    }
    return truncate_all(file, rows - pressures->gathered);
}

void run_pressures_end(struct run_pressures *pressures)
{
    free(pressures->step);
    free(pressures->time);
    free(pressures->temperature);
    free(pressures->pressure);
    free(pressures->virial);
    *pressures = (struct run_pressures){.file = H5I_INVALID_HID};
}

kith_status run_pressures_complete(const struct run_pressures *pressures, hid_t file)
{
    struct series list[series_count];
    list_series(pressures, list);
    for (int k = 0; k < series_count && pressures->gathered > 0; k++)
        KITH_TRY(hdf5_append(file, list[k].path, list[k].memory_type, pressures->gathered,
                             list[k].gathered));
    return KITH_OK;
}

kith_status run_pressures_add(struct run_pressures *pressures, const struct run_pressure *row)
{
    const int64_t k = pressures->gathered++;
    pressures->step[k] = row->step;
    pressures->time[k] = row->time;
    pressures->temperature[k] = row->temperature;
    pressures->pressure[k] = row->pressure;
    memcpy(pressures->virial + virial_components * k, row->virial, sizeof row->virial);
    if (pressures->gathered < rows_a_chunk)
        return KITH_OK;
    KITH_TRY(run_pressures_complete(pressures, pressures->file));
    pressures->gathered = 0;
    return KITH_OK;
}
