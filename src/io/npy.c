/* NumPy's array files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include "io/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/format.h"
#include "io/npy_array.h"
#include "io/output.h"
#include "io/stream.h"
#include "io/text.h"

static kith_status check_shape(const struct npy_header *header)
{
    if (header->ndim == 2 && header->shape[1] >= 2 && header->shape[1] <= 4)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     "the shape is %s; give N×2, N×3, or N×4 with the mass in the fourth column",
                     header->shape_text);
}

static void store(void *to, int64_t row, int64_t column, double value)
{
    kith_bodies *bodies = to;
    if (column < bodies->dimensions)
        bodies->position[row * bodies->dimensions + column] = value;
    else
        bodies->mass[row] = value;
}

static kith_status read_array(FILE *stream, kith_bodies **bodies)
{
    struct npy_header header;
    KITH_TRY(npy_header_read(stream, &header));
    KITH_TRY(check_shape(&header));
    KITH_TRY(npy_check_data(stream, &header));
    KITH_TRY(kith_bodies_create(header.shape[0], header.shape[1] == 2 ? 2 : 3,
                                header.shape[1] == 4 ? KITH_MASS : 0, bodies));
    return npy_read_elements(stream, &header, store, *bodies);
}

kith_status npy_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    (void)options;
    FILE *stream = NULL;
    KITH_TRY(open_input(path, &stream));
    const kith_status status = read_array(stream, bodies);
    fclose(stream);
    return status;
}

/* A file that is read some rows at a time. */
struct npy_rows {
    FILE *stream;
    struct npy_header header;
};

struct npy_place {
    kith_bodies *rows;
    int64_t first;
};

static void store_in_rows(void *to, int64_t row, int64_t column, double value)
{
    const struct npy_place *place = to;
    store(place->rows, row - place->first, column, value);
}

/* In Fortran's order the rows are not one after the other. */
static kith_status open_rows(const char *path, const kith_read_options *options, kith_bodies **like,
                             int64_t *count, void **state)
{
    struct npy_rows rows;
    (void)options;
    KITH_TRY(open_input(path, &rows.stream));
    kith_status status = npy_header_read(rows.stream, &rows.header);
    if (status == KITH_OK)
        status = check_shape(&rows.header);
    if (status == KITH_OK)
        status = npy_check_data(rows.stream, &rows.header);
    if (status == KITH_OK && !rows.header.fortran_order)
        status = kith_allocate(1, sizeof rows, "rows", state);
    if (status != KITH_OK || !*state) {
        fclose(rows.stream);
        return status;
    }
    memcpy(*state, &rows, sizeof rows);
    *count = rows.header.shape[0];
    return kith_bodies_create(1, rows.header.shape[1] == 2 ? 2 : 3,
                              rows.header.shape[1] == 4 ? KITH_MASS : 0, like);
}

static kith_status next_rows(void *state, int64_t first, kith_bodies *rows)
{
    const struct npy_rows *from = state;
    struct npy_place place = {rows, first};
    return npy_read_rows(from->stream, &from->header, first, rows->count, store_in_rows, &place);
}

static void close_rows(void *state)
{
    struct npy_rows *rows = state;
    if (rows)
        fclose(rows->stream);
    free(rows);
}

const struct stream_functions npy_stream = {open_rows, next_rows, close_rows};

kith_status npy_write_matrix(const char *path, int64_t rows, int64_t columns, const double *values)
{
    kith_output *output = NULL;
    KITH_TRY(kith_output_open(path, &output));
    FILE *stream = kith_output_stream(output);
    npy_header_write(stream, rows, columns);
    if (rows * columns > 0)
        fwrite(values, sizeof *values, (size_t)(rows * columns), stream);
    return kith_output_finish(output);
}

unsigned npy_holds(const kith_bodies *bodies)
{
    return bodies->dimensions == 3 ? KITH_MASS : 0;
}

kith_status npy_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options)
{
    (void)options;
    if (!bodies->mass || bodies->dimensions == 2)
        return npy_write_matrix(path, bodies->count, bodies->dimensions, bodies->position);

    kith_output *output = NULL;
    KITH_TRY(kith_output_open(path, &output));
    FILE *stream = kith_output_stream(output);
    npy_header_write(stream, bodies->count, 4);
    for (int64_t i = 0; i < bodies->count; i++) {
        fwrite(bodies->position + 3 * i, sizeof(double), 3, stream);
        fwrite(bodies->mass + i, sizeof(double), 1, stream);
    }
    return kith_output_finish(output);
}
