#include <stdlib.h>

#include "core/memory.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/records.h"

static kith_status write_column(hid_t file, const kith_table_column *column, int64_t rows)
{
    const struct hdf5_shape shape = {1, {(hsize_t)rows}};
    const bool real = record_is_real(&column->values);
    void *values = NULL;
    KITH_TRY(kith_allocate(rows, 8, column->name, &values));
    record_copy(&column->values, 0, rows, 8, values);
    const kith_status status =
        hdf5_write(file, column->name, real ? H5T_IEEE_F64LE : H5T_STD_I64LE,
                   real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, shape, values);
    free(values);
    return status;
}

static kith_status write_columns(hid_t file, int64_t column_count, const kith_table_column *columns,
                                 int64_t rows)
{
    for (int64_t k = 0; k < column_count; k++)
        KITH_TRY(write_column(file, &columns[k], rows));
    return KITH_OK;
}

kith_status records_write_hdf5(const char *path, int64_t column_count,
                               const kith_table_column *columns, int64_t rows)
{
    struct hdf5_session session;
    hid_t file = H5I_INVALID_HID;
    hdf5_begin(&session);
    kith_status status = hdf5_create_in_memory(&file);
    if (status == KITH_OK) {
        status = write_columns(file, column_count, columns, rows);
        status = status == KITH_OK ? hdf5_save(file, path) : kith_fail_within(status, "%s: ", path);
        H5Fclose(file);
    }
    hdf5_end(&session);
    return status;
}
