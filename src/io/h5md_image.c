#include "io/h5md_image.h"

#include <stdlib.h>

#include "cells/lattice.h"
#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

#define START_POSITION H5MD_PARAMETERS "/start_position"

static kith_status lattice_of(const kith_bodies *bodies, struct pairs_lattice *lattice)
{
    kith_cell cell = {.periodic = {false}};
    for (int32_t k = 0; k < bodies->dimensions; k++) {
        for (int32_t c = 0; c < bodies->dimensions; c++)
            cell.vectors[k][c] = bodies->cell[3 * k + c];
        cell.periodic[k] = bodies->periodic[k];
    }
    return pairs_lattice_make(&cell, bodies->dimensions, 1, lattice);
}

kith_status h5md_wrap(const kith_bodies *bodies, double *wrapped, int32_t *image)
{
    const int32_t dimensions = bodies->dimensions;
    struct pairs_lattice lattice;
    KITH_TRY(lattice_of(bodies, &lattice));
    for (int64_t i = 0; i < bodies->count; i++) {
        const double *from = bodies->position + i * dimensions;
        const double z = dimensions == 3 ? from[2] : 0;
        double x[3] = {from[0], from[1], z};
        if (!pairs_wrap(&lattice, x, image + 3 * i)) {
            x[0] = from[0], x[1] = from[1], x[2] = z;
            image[3 * i] = image[3 * i + 1] = image[3 * i + 2] = 0;
        }
        for (int32_t c = 0; c < dimensions; c++)
            wrapped[i * dimensions + c] = x[c];
    }
    return KITH_OK;
}

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
