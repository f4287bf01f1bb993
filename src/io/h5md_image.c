#include "io/h5md_image.h"

#include <stdlib.h>

#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

#define START_POSITION H5MD_PARAMETERS "/start_position"

static void add_images(const double *image, kith_bodies *bodies)
{
    const int32_t dimensions = bodies->dimensions;
    for (int64_t i = 0; i < bodies->count; i++)
        for (int32_t c = 0; c < dimensions; c++) {
            double shift = 0;
            for (int32_t k = 0; k < dimensions; k++)
                if (bodies->periodic[k])
                    shift += image[i * dimensions + k] * bodies->cell[3 * k + c];
            bodies->position[i * dimensions + c] += shift;
        }
}

kith_status h5md_unwrap(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies)
{
    double *image = NULL;
    if (!bodies->has_cell || !hdf5_exists(reader->particles, "image"))
        return KITH_OK;
    KITH_TRY(kith_allocate(bodies->count, bodies->dimensions * (int64_t)sizeof *image, "images",
                           &image));
    const kith_status status = h5md_read_reals(reader, "image", frame, bodies->dimensions, image);
    if (status == KITH_OK)
        add_images(image, bodies);
    free(image);
    return status;
}

static struct hdf5_shape rows_of(const kith_bodies *bodies)
{
    return (struct hdf5_shape){2, {(hsize_t)bodies->count, (hsize_t)bodies->dimensions}};
}

kith_status h5md_make_start(hid_t file, kith_dtype precision, int64_t count, int32_t dimensions)
{
    return hdf5_make(file, START_POSITION, hdf5_real_in_file(precision),
                     (struct hdf5_shape){2, {(hsize_t)count, (hsize_t)dimensions}});
}

kith_status h5md_put_start(hid_t file, int64_t first, const kith_bodies *rows)
{
    const hsize_t from[hdf5_max_rank] = {(hsize_t)first};
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(file, START_POSITION, &dataset));
    const kith_status status = hdf5_write_box(dataset, START_POSITION, H5T_NATIVE_DOUBLE, from,
                                              rows_of(rows), rows->position);
    H5Dclose(dataset);
    return status;
}

kith_status h5md_read_start(const struct h5md_reader *reader, kith_bodies *start)
{
    struct hdf5_shape shape;
    const hsize_t first[hdf5_max_rank] = {(hsize_t)reader->first_row};
    const struct hdf5_shape rows = rows_of(start);
    if (!hdf5_exists(reader->file, START_POSITION))
        return KITH_OK;
    KITH_TRY(hdf5_shape_of(reader->file, START_POSITION, &shape));
    if (shape.rank != rows.rank || shape.size[0] != (hsize_t)reader->rows ||
        shape.size[1] != rows.size[1])
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset " START_POSITION " is not one of %lld rows of %d",
                         (long long)reader->rows, (int)start->dimensions);
    return hdf5_read(reader->file, START_POSITION, H5T_NATIVE_DOUBLE, first, rows, start->position);
}
