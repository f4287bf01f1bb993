/* NumPy's array files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

#include "io/bytes.h"
#include "io/format.h"
#include "io/npy_header.h"
#include "io/output.h"
#include "io/text.h"

/* Reads a number from native bytes; false if no double is equal to it. A double that rounded up to
 * the limit would not fit the integer type again. */
#define DEFINE_ELEMENT(name, type, limit)                                                          \
    static bool name(const unsigned char *bytes, double *value)                                    \
    {                                                                                              \
        type element;                                                                              \
        memcpy(&element, bytes, sizeof element);                                                   \
        *value = (double)element;                                                                  \
        return !((limit) > 0) || (*value < (limit) && (type)*value == element);                    \
    }

DEFINE_ELEMENT(from_f8, double, 0.0)
DEFINE_ELEMENT(from_f4, float, 0.0)
DEFINE_ELEMENT(from_i8, int64_t, 0x1p63)
DEFINE_ELEMENT(from_i4, int32_t, 0.0)
DEFINE_ELEMENT(from_i2, int16_t, 0.0)
DEFINE_ELEMENT(from_i1, int8_t, 0.0)
DEFINE_ELEMENT(from_u8, uint64_t, 0x1p64)
DEFINE_ELEMENT(from_u4, uint32_t, 0.0)
DEFINE_ELEMENT(from_u2, uint16_t, 0.0)
DEFINE_ELEMENT(from_u1, uint8_t, 0.0)

static const struct element {
    const char *name; /* NumPy's, without the byte order */
    int64_t bytes;
    bool (*to_real)(const unsigned char *bytes, double *value);
} elements[] = {
    {"f8", 8, from_f8}, {"f4", 4, from_f4}, {"i8", 8, from_i8}, {"i4", 4, from_i4},
    {"i2", 2, from_i2}, {"i1", 1, from_i1}, {"u8", 8, from_u8}, {"u4", 4, from_u4},
    {"u2", 2, from_u2}, {"u1", 1, from_u1},
};

enum { element_count = sizeof elements / sizeof elements[0], chunk_elements = 8192 };

static kith_status find_element(const char *descr, const struct element **element)
{
    for (int32_t k = 0; k < element_count; k++)
        if (descr[0] && strchr("<>=|", descr[0]) && strcmp(elements[k].name, descr + 1) == 0) {
            *element = &elements[k];
            return KITH_OK;
        }
    return kith_fail(KITH_BAD_FORMAT,
                     "the numbers are of type '%s'; give f8, f4, or integers (i1 … i8, u1 … u8)",
                     descr);
}

static kith_status check_shape(const struct npy_header *header)
{
    if (header->ndim == 2 && header->shape[1] >= 2 && header->shape[1] <= 4)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     "the shape is %s; give N×2, N×3, or N×4 with the mass in the fourth column",
                     header->shape_text);
}

/* Before memory is taken for what a damaged header promises. */
static kith_status check_size(FILE *stream, const struct npy_header *header,
                              const struct element *element)
{
    int64_t expected = 0;
    if (__builtin_mul_overflow(header->shape[0], header->shape[1] * element->bytes, &expected))
        return kith_fail(KITH_BAD_FORMAT, "the shape is %s; no file is that large",
                         header->shape_text);
    int64_t present = expected;
    if (!input_bytes_left(stream, &present) || present == expected)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     "%lld bytes of data, but shape %s of %s needs %lld; the file is %s",
                     (long long)present, header->shape_text, header->descr, (long long)expected,
                     present < expected ? "truncated" : "too long");
}

static void store(kith_bodies *bodies, int64_t row, int64_t column, double value)
{
    if (column < bodies->dimensions)
        bodies->position[row * bodies->dimensions + column] = value;
    else
        bodies->mass[row] = value;
}

static kith_status read_elements(FILE *stream, const struct npy_header *header,
                                 const struct element *element, kith_bodies *bodies)
{
    const int64_t rows = header->shape[0];
    const int64_t columns = header->shape[1];
    const bool swapped = header->descr[0] == (machine_is_big_endian() ? '<' : '>');
    unsigned char chunk[chunk_elements * 8];
    int64_t in_chunk = 0;
    for (int64_t k = 0; k < rows * columns; k++) {
        if (k % chunk_elements == 0) {
            in_chunk = rows * columns - k < chunk_elements ? rows * columns - k : chunk_elements;
            KITH_TRY(read_bytes(stream, chunk, in_chunk * element->bytes, "the numbers"));
            if (swapped)
                swap_bytes(chunk, in_chunk, element->bytes);
        }
        const int64_t row = header->fortran_order ? k % rows : k / columns;
        const int64_t column = header->fortran_order ? k / rows : k % columns;
        double value = 0;
        if (!element->to_real(chunk + k % chunk_elements * element->bytes, &value))
            return kith_fail(KITH_BAD_FORMAT,
                             "row %lld, column %lld (from 0) is an integer near %.17g, which no "
                             "double is equal to; give integers up to 2^53",
                             (long long)row, (long long)column, value);
        store(bodies, row, column, value);
    }
    return getc(stream) == EOF
               ? KITH_OK
               : kith_fail(KITH_BAD_FORMAT, "there is more data than shape %s needs",
                           header->shape_text);
}

static kith_status read_array(FILE *stream, kith_bodies **bodies)
{
    struct npy_header header;
    const struct element *element = NULL;
    KITH_TRY(npy_header_read(stream, &header));
    KITH_TRY(find_element(header.descr, &element));
    KITH_TRY(check_shape(&header));
    KITH_TRY(check_size(stream, &header, element));
    KITH_TRY(kith_bodies_create(header.shape[0], header.shape[1] == 2 ? 2 : 3,
                                header.shape[1] == 4 ? KITH_MASS : 0, bodies));
    return read_elements(stream, &header, element, *bodies);
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
