#include "io/run_images.h"

#include <stdlib.h>

#include "core/memory.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

/* The rows of an array of pairs may be apart in memory. */
kith_status run_exclusions_write(hid_t group, kith_array from)
{
    if (kith_array_is_none(from))
        return KITH_OK;
    const int64_t count = from.shape[0];
    int64_t(*rows)[2] = NULL;
    KITH_TRY(kith_allocate(count, sizeof *rows, "excluded pairs", &rows));
    for (int64_t k = 0; k < count; k++)
        for (int c = 0; c < 2; c++)
            rows[k][c] = ((const int64_t *)from.data)[k * from.strides[0] + c * from.strides[1]];
    const kith_status status = hdf5_write(group, "exclusions", H5T_STD_I64LE, H5T_NATIVE_INT64,
                                          (struct hdf5_shape){2, {(hsize_t)count, 2}}, rows);
    free(rows);
    return status;
}

kith_status run_images_write(hid_t group, const kith_ewald *ewald)
{
    static const char *const axes[3] = {"grid_a", "grid_b", "grid_c"};
    if (ewald->alpha > 0)
        KITH_TRY(hdf5_write_real(group, "alpha", ewald->alpha));
    if (ewald->absolute_error > 0)
        KITH_TRY(hdf5_write_real(group, "absolute_error", ewald->absolute_error));
    if (ewald->boundary == KITH_BOUNDARY_VACUUM)
        KITH_TRY(hdf5_write_text(group, "boundary", "vacuum"));
    for (int c = 0; c < 3 && ewald->grid[0] > 0; c++)
        KITH_TRY(hdf5_write_integer(group, axes[c], ewald->grid[c]));
    return KITH_OK;
}

kith_status run_exclusions_read(hid_t group, kith_array *exclusions, int64_t (**rows)[2])
{
    struct hdf5_shape shape;
    *exclusions = kith_array_none();
    if (!hdf5_exists(group, "exclusions"))
        return KITH_OK;
    KITH_TRY(hdf5_shape_of(group, "exclusions", &shape));
    if (shape.rank != 2 || shape.size[1] != 2)
        return kith_fail(KITH_BAD_FORMAT, "its parameter exclusions is not one of pairs of rows");
    KITH_TRY(kith_allocate((int64_t)shape.size[0], sizeof **rows, "excluded pairs", rows));
    *exclusions = kith_array_matrix(*rows, KITH_I64, (int64_t)shape.size[0], 2);
    return hdf5_read(group, "exclusions", H5T_NATIVE_INT64, NULL, shape, *rows);
}

kith_status run_images_read(hid_t group, kith_ewald *ewald)
{
    static const char *const axes[3] = {"grid_a", "grid_b", "grid_c"};
    if (hdf5_exists(group, "alpha"))
        KITH_TRY(hdf5_read_real(group, "alpha", &ewald->alpha));
    if (hdf5_exists(group, "absolute_error"))
        KITH_TRY(hdf5_read_real(group, "absolute_error", &ewald->absolute_error));
    if (hdf5_exists(group, "boundary"))
        ewald->boundary = KITH_BOUNDARY_VACUUM;
    for (int c = 0; c < 3 && hdf5_exists(group, axes[c]); c++) {
        int64_t points = 0;
        KITH_TRY(hdf5_read_integer(group, axes[c], &points));
        if (points < 1 || points > INT32_MAX)
            return kith_fail(KITH_BAD_FORMAT,
                             "its parameter %s is %lld, which is not a valid grid size", axes[c],
                             (long long)points);
        ewald->grid[c] = (int32_t)points;
    }
    return KITH_OK;
}
