/* The numbers of NPY files, for bodies and for plain arrays. */
#include "io/npy_array.h"

#include <stdlib.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "io/bytes.h"
#include "io/format.h"
#include "io/npy_elements.h"
#include "io/output.h"
#include "io/text.h"
#include "kith/npy.h"

enum { chunk_elements = 8192 };

static kith_status find_element(const char *descr, const struct npy_element **element)
{
    *element = npy_element_of(descr);
    if (*element)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     "the numbers are of type '%s'; give f8, f4, or integers (i1 … i8, u1 … u8)",
                     descr);
}

static int64_t columns_of(const struct npy_header *header)
{
    return header->ndim == 2 ? header->shape[1] : 1;
}

kith_status npy_check_data(FILE *stream, const struct npy_header *header)
{
    const struct npy_element *element = NULL;
    KITH_TRY(find_element(header->descr, &element));
    return npy_check_bytes(stream, header, element->bytes);
}

/* Numbers `begin` to end − 1 of the file's order, where the stream is. */
static kith_status read_numbers(FILE *stream, const struct npy_header *header, int64_t begin,
                                int64_t end, npy_store *store, void *to)
{
    const struct npy_element *element = NULL;
    KITH_TRY(find_element(header->descr, &element));
    const int64_t rows = header->shape[0], columns = columns_of(header);
    const bool swapped = header->descr[0] == (machine_is_big_endian() ? '<' : '>');
    unsigned char chunk[chunk_elements * 8];
    int64_t in_chunk = 0;
    for (int64_t k = begin; k < end; k++) {
        const int64_t place = (k - begin) % chunk_elements;
        if (place == 0) {
            in_chunk = end - k < chunk_elements ? end - k : chunk_elements;
            KITH_TRY(read_bytes(stream, chunk, in_chunk * element->bytes, "the numbers"));
            if (swapped)
                swap_bytes(chunk, in_chunk, element->bytes);
        }
        const int64_t row = header->fortran_order ? k % rows : k / columns;
        const int64_t column = header->fortran_order ? k / rows : k % columns;
        double value = 0;
        if (!element->to_real(chunk + place * element->bytes, &value))
            return kith_fail(KITH_BAD_FORMAT,
                             "row %lld, column %lld (from 0) is an integer near %.17g, which no "
                             "double is equal to; give integers up to 2^53",
                             (long long)row, (long long)column, value);
        store(to, row, column, value);
    }
    return end < rows * columns || getc(stream) == EOF
               ? KITH_OK
               : kith_fail(KITH_BAD_FORMAT, "there is more data than shape %s needs",
                           header->shape_text);
}

kith_status npy_read_elements(FILE *stream, const struct npy_header *header, npy_store *store,
                              void *to)
{
    return read_numbers(stream, header, 0, header->shape[0] * columns_of(header), store, to);
}

kith_status npy_read_rows(FILE *stream, const struct npy_header *header, int64_t first,
                          int64_t rows, npy_store *store, void *to)
{
    const int64_t columns = columns_of(header);
    return read_numbers(stream, header, first * columns, (first + rows) * columns, store, to);
}

static void store_in_array(void *to, int64_t row, int64_t column, double value)
{
    const kith_array *array = to;
    ((double *)array->data)[row * array->strides[0] + column] = value;
}

static kith_status read_array(FILE *stream, kith_array *array)
{
    struct npy_header header;
    KITH_TRY(npy_header_read(stream, &header));
    if (header.ndim != 1 && header.ndim != 2)
        return kith_fail(KITH_BAD_FORMAT, "the shape is %s; give a vector or a matrix",
                         header.shape_text);
    KITH_TRY(npy_check_data(stream, &header));
    const int64_t columns = columns_of(&header);
    double *data = NULL;
    KITH_TRY(kith_allocate(header.shape[0] * columns, sizeof *data, "the array", &data));
    *array = header.ndim == 1 ? kith_array_vector(data, KITH_F64, header.shape[0])
                              : kith_array_matrix(data, KITH_F64, header.shape[0], columns);
    return npy_read_elements(stream, &header, store_in_array, array);
}

kith_status kith_npy_read(const char *path, kith_array *array)
{
    KITH_TRY(kith_check_pointer(array, "array"));
    FILE *stream = NULL;
    *array = kith_array_none();
    KITH_TRY(kith_check_pointer(path, "path"));
    kith_status status = open_input(path, &stream);
    if (status == KITH_OK) {
        status = read_array(stream, array);
        fclose(stream);
    }
    if (status == KITH_OK)
        return KITH_OK;
    free(array->data);
    *array = kith_array_none();
    return kith_fail_within(status, "%s: ", path);
}

static void write_elements(FILE *stream, kith_array array)
{
    const int64_t columns = array.ndim == 2 ? array.shape[1] : 1;
    const int64_t each = kith_dtype_bytes(array.dtype);
    for (int64_t i = 0; i < array.shape[0]; i++)
        for (int64_t k = 0; k < columns; k++) {
            const int64_t at = i * array.strides[0] + (array.ndim == 2 ? k * array.strides[1] : 0);
            fwrite((const char *)array.data + at * each, (size_t)each, 1, stream);
        }
}

kith_status kith_npy_write(const char *path, kith_array array)
{
    KITH_TRY(kith_check_pointer(path, "path"));
    kith_output *output = NULL;
    if ((array.ndim != 1 && array.ndim != 2) || array.device.kind != KITH_CPU ||
        (array.dtype != KITH_F64 && array.dtype != KITH_F32))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "array has %d dimensions; give a vector or a matrix of float64 or float32 "
                         "on the host",
                         (int)array.ndim);
    KITH_TRY(kith_check_extent(&array, "array"));
    if (!array.data && array.shape[0] > 0 && (array.ndim == 1 || array.shape[1] > 0))
        return kith_fail(KITH_INVALID_ARGUMENT, "array has %lld rows and its data is NULL",
                         (long long)array.shape[0]);
    KITH_TRY(kith_output_open(path, &output));
    FILE *stream = kith_output_stream(output);
    npy_header_write_shape(stream, array.dtype == KITH_F64 ? "f8" : "f4", array.ndim, array.shape);
    write_elements(stream, array);
    return kith_output_finish(output);
}
