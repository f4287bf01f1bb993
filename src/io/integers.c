#include "kith/integers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "io/bytes.h"
#include "io/npy_elements.h"
#include "io/npy_header.h"
#include "io/output.h"
#include "io/text.h"

enum { chunk_elements = 8192 };

static kith_status find_element(const char *descr, const struct npy_element **element)
{
    *element = npy_element_of(descr);
    if (*element)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     "the numbers are of type '%s'; give integers (i1 … i8, u1 … u8) or whole "
                     "reals",
                     descr);
}

/* Sets the array's form from the header; *count is its elements. */
static kith_status set_shape(FILE *stream, const struct npy_header *header,
                             const struct npy_element *element, kith_array *array, int64_t *count)
{
    if (header->ndim < 1 || header->ndim > KITH_MAX_DIMENSIONS)
        return kith_fail(KITH_BAD_FORMAT, "the shape is %s; give 1 to 3 dimensions",
                         header->shape_text);
    KITH_TRY(npy_check_bytes(stream, header, element->bytes));
    *count = 1;
    array->ndim = (int32_t)header->ndim;
    for (int32_t k = array->ndim - 1; k >= 0; k--) {
        array->shape[k] = header->shape[k];
        array->strides[k] = *count;
        *count *= header->shape[k];
    }
    return KITH_OK;
}

static kith_status fail_at(const struct npy_element *element, const unsigned char *bytes,
                           int64_t row)
{
    double value = 0;
    if (strcmp(element->name, "f4") == 0) {
        float real;
        memcpy(&real, bytes, sizeof real);
        value = (double)real;
    } else if (strcmp(element->name, "f8") == 0) {
        memcpy(&value, bytes, sizeof value);
    } else {
        value = 0x1p63;
    }
    return kith_fail(KITH_BAD_FORMAT, "row %lld (from 0) has %.17g; give whole numbers of 64 bits",
                     (long long)row, value);
}

/* Where element k of the file goes: the array is row-major, the file perhaps column-major. */
static int64_t place_of(const struct npy_header *header, const kith_array *array, int64_t k)
{
    if (!header->fortran_order)
        return k;
    int64_t place = 0;
    for (int32_t d = 0; d < array->ndim; d++) {
        place += k % array->shape[d] * array->strides[d];
        k /= array->shape[d];
    }
    return place;
}

static kith_status read_elements(FILE *stream, const struct npy_header *header,
                                 const struct npy_element *element, int64_t count,
                                 const kith_array *array)
{
    /* Of three dimensions a row is a bead still. */
    const int64_t of_row = array->ndim == 1 ? 1 : array->shape[array->ndim - 1];
    int64_t *values = array->data;
    const bool swapped = header->descr[0] == (machine_is_big_endian() ? '<' : '>');
    unsigned char chunk[chunk_elements * 8];
    for (int64_t begin = 0; begin < count; begin += chunk_elements) {
        const int64_t here = count - begin < chunk_elements ? count - begin : chunk_elements;
        KITH_TRY(read_bytes(stream, chunk, here * element->bytes, "the numbers"));
        if (swapped)
            swap_bytes(chunk, here, element->bytes);
        for (int64_t k = 0; k < here; k++) {
            const int64_t place = place_of(header, array, begin + k);
            if (!element->to_whole(chunk + k * element->bytes, &values[place]))
                return fail_at(element, chunk + k * element->bytes, place / of_row);
        }
    }
    return getc(stream) == EOF
               ? KITH_OK
               : kith_fail(KITH_BAD_FORMAT, "there is more data than shape %s needs",
                           header->shape_text);
}

/* To int32 in place, if all numbers fit. */
static void shorten(int64_t count, kith_array *array)
{
    int64_t *values = array->data;
    for (int64_t k = 0; k < count; k++)
        if (values[k] < INT32_MIN || values[k] > INT32_MAX)
            return;
    char *bytes = array->data;
    for (int64_t k = 0; k < count; k++) {
        const int32_t value = (int32_t)values[k];
        memcpy(bytes + k * (int64_t)sizeof value, &value, sizeof value);
    }
    array->dtype = KITH_I32;
}

static kith_status read_array(FILE *stream, kith_array *array)
{
    struct npy_header header;
    const struct npy_element *element = NULL;
    int64_t count = 0;
    KITH_TRY(npy_header_read(stream, &header));
    KITH_TRY(find_element(header.descr, &element));
    KITH_TRY(set_shape(stream, &header, element, array, &count));
    KITH_TRY(kith_allocate(count, sizeof(int64_t), "the numbers", &array->data));
    KITH_TRY(read_elements(stream, &header, element, count, array));
    shorten(count, array);
    return KITH_OK;
}

kith_status kith_integers_read(const char *path, kith_array *array)
{
    KITH_TRY(kith_check_pointer(array, "array"));
    FILE *stream = NULL;
    *array = kith_array_none();
    KITH_TRY(kith_check_pointer(path, "path"));
    kith_array made = kith_array_vector(NULL, KITH_I64, 0);
    kith_status status = open_input(path, &stream);
    if (status == KITH_OK) {
        status = read_array(stream, &made);
        fclose(stream);
    }
    if (status != KITH_OK) {
        free(made.data);
        return kith_fail_within(status, "%s: ", path);
    }
    *array = made;
    return KITH_OK;
}

kith_status kith_integers_from_reals(const char *name, const double *values, int64_t rows,
                                     int64_t columns, kith_array *array)
{
    KITH_TRY(kith_check_pointer(array, "array"));
    *array = kith_array_none();
    KITH_TRY(kith_check_pointer(name, "name"));
    int64_t *whole = NULL, count = 0;
    if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &count))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s has %lld rows and %lld columns; give as many numbers as there are",
                         name, (long long)rows, (long long)columns);
    if (count > 0)
        KITH_TRY(kith_check_pointer(values, "values"));
    KITH_TRY(kith_allocate(count, sizeof *whole, name, &whole));
    for (int64_t k = 0; k < count; k++) {
        const double value = values[k];
        if (fabs(value) >= 0x1p53) { /* another integer may have become this one */
            free(whole);
            return kith_fail(KITH_BAD_FORMAT,
                             "row %lld (from 0) of %s has %.17g, and whole numbers as reals go to "
                             "2^53; give an NPY file of int64",
                             (long long)(k / columns), name, value);
        }
        if (value != rint(value)) {
            free(whole);
            return kith_fail(KITH_BAD_FORMAT,
                             "row %lld (from 0) of %s has %.17g; give whole numbers",
                             (long long)(k / columns), name, value);
        }
        whole[k] = (int64_t)value;
    }
    *array = kith_array_matrix(whole, KITH_I64, rows, columns);
    shorten(count, array);
    return KITH_OK;
}

kith_status kith_integers_write(const char *path, kith_array array)
{
    KITH_TRY(kith_check_pointer(path, "path"));
    if ((array.dtype != KITH_I32 && array.dtype != KITH_I64) || array.ndim < 1 ||
        array.ndim > KITH_MAX_DIMENSIONS)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "array has %d dimensions or is of reals; give "
                         "int32 or int64 of 1 to 3 dimensions",
                         (int)array.ndim);
    KITH_TRY(kith_check_extent(&array, "array"));
    int64_t count = 1;
    for (int32_t k = 0; k < array.ndim; k++)
        count *= array.shape[k];
    if (array.device.kind != KITH_CPU || (!array.data && count > 0))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "array has %lld elements on a device, or its data is NULL; give an array "
                         "on the host",
                         (long long)count);
    kith_output *output = NULL;
    KITH_TRY(kith_output_open(path, &output));
    FILE *stream = kith_output_stream(output);
    npy_header_write_shape(stream, array.dtype == KITH_I32 ? "i4" : "i8", array.ndim, array.shape);
    if (count > 0)
        fwrite(array.data, (size_t)kith_dtype_bytes(array.dtype), (size_t)count, stream);
    return kith_output_finish(output);
}

void kith_integers_free(kith_array *array)
{
    if (!array)
        return;
    free(array->data);
    *array = kith_array_none();
}
