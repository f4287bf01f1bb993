#include "io/npy_header.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bytes.h"

static const char magic[] = "\x93NUMPY";

enum {
    magic_bytes = 6,
    prefix_bytes = 8, /* magic and version */
    max_header_bytes = 1 << 20,
    alignment = 64
};

/* A position in the text of the dictionary. */
struct cursor {
    const char *text, *at;
};

static kith_status damaged(const struct cursor *cursor, const char *expected)
{
    return kith_fail(KITH_BAD_FORMAT, "the header is damaged: %s is missing at its byte %lld",
                     expected, (long long)(cursor->at - cursor->text));
}

static bool accept(struct cursor *cursor, char c)
{
    cursor->at += strspn(cursor->at, " \n");
    if (*cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static kith_status take_string(struct cursor *cursor, char *string, size_t bytes)
{
    const char quote = accept(cursor, '\'') ? '\'' : accept(cursor, '"') ? '"' : 0;
    if (!quote)
        return damaged(cursor, "a quote");
    size_t length = 0;
    while (cursor->at[length] && cursor->at[length] != quote)
        length++;
    if (!cursor->at[length] || length >= bytes)
        return damaged(cursor, "a short word in quotes");
    memcpy(string, cursor->at, length);
    string[length] = 0;
    cursor->at += length + 1;
    return KITH_OK;
}

static kith_status take_descr(struct cursor *cursor, struct npy_header *header)
{
    if (accept(cursor, '['))
        return kith_fail(KITH_BAD_FORMAT, "the array is structured; give plain numbers (for a "
                                          "structured array a, a.view or numpy.column_stack)");
    return take_string(cursor, header->descr, sizeof header->descr);
}

static kith_status take_order(struct cursor *cursor, struct npy_header *header)
{
    cursor->at += strspn(cursor->at, " \n");
    const bool fortran = strncmp(cursor->at, "True", 4) == 0;
    if (!fortran && strncmp(cursor->at, "False", 5) != 0)
        return damaged(cursor, "True or False");
    header->fortran_order = fortran;
    cursor->at += fortran ? 4 : 5;
    return KITH_OK;
}

static kith_status take_shape(struct cursor *cursor, struct npy_header *header)
{
    if (!accept(cursor, '('))
        return damaged(cursor, "the shape");
    const char *start = cursor->at - 1;
    header->ndim = 0;
    while (!accept(cursor, ')')) {
        char *end = NULL;
        errno = 0;
        const int64_t extent = strtoll(cursor->at, &end, 10);
        if (end == cursor->at || errno != 0 || extent < 0)
            return damaged(cursor, "a length");
        if (header->ndim < 3)
            header->shape[header->ndim] = extent;
        header->ndim++;
        cursor->at = end + (*end == 'L'); /* Python 2 wrote long integers so */
        if (!accept(cursor, ',') && *cursor->at != ')')
            return damaged(cursor, "a comma");
    }
    snprintf(header->shape_text, sizeof header->shape_text, "%.*s", (int)(cursor->at - start),
             start);
    return KITH_OK;
}

static const struct {
    const char *key;
    kith_status (*take)(struct cursor *cursor, struct npy_header *header);
} entries[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};

enum { entry_count = sizeof entries / sizeof entries[0] };

static kith_status take_entry(struct cursor *cursor, struct npy_header *header, unsigned *seen)
{
    char key[32];
    KITH_TRY(take_string(cursor, key, sizeof key));
    if (!accept(cursor, ':'))
        return damaged(cursor, "a colon");
    for (int32_t k = 0; k < entry_count; k++)
        if (strcmp(entries[k].key, key) == 0) {
            *seen |= 1u << k;
            return entries[k].take(cursor, header);
        }
    return kith_fail(KITH_BAD_FORMAT, "the header has the unknown key '%s'", key);
}

static kith_status parse(const char *text, struct npy_header *header)
{
    struct cursor cursor = {text, text};
    unsigned seen = 0;
    if (!accept(&cursor, '{'))
        return damaged(&cursor, "{");
    while (!accept(&cursor, '}')) {
        KITH_TRY(take_entry(&cursor, header, &seen));
        if (!accept(&cursor, ',') && *cursor.at != '}')
            return damaged(&cursor, "a comma");
    }
    for (int32_t k = 0; k < entry_count; k++)
        if (!(seen & 1u << k))
            return kith_fail(KITH_BAD_FORMAT, "the header has no key '%s'", entries[k].key);
    return KITH_OK;
}

static kith_status read_length(FILE *stream, int64_t *bytes)
{
    unsigned char prefix[prefix_bytes];
    KITH_TRY(read_bytes(stream, prefix, magic_bytes, "an NPY file's first bytes"));
    if (memcmp(prefix, magic, magic_bytes) != 0)
        return kith_fail(KITH_BAD_FORMAT, "not an NPY file: it does not begin with \\x93NUMPY");
    KITH_TRY(read_bytes(stream, prefix + magic_bytes, 2, "the version"));
    const int version = prefix[magic_bytes];
    if (version < 1 || version > 3)
        return kith_fail(KITH_BAD_FORMAT, "the version of NPY is %d.%d; 1.0, 2.0 and 3.0 are known",
                         version, prefix[magic_bytes + 1]);

    unsigned char length[4] = {0};
    KITH_TRY(read_bytes(stream, length, version == 1 ? 2 : 4, "the header's length"));
    *bytes = (int64_t)length[0] | (int64_t)length[1] << 8 | (int64_t)length[2] << 16 |
             (int64_t)length[3] << 24;
    if (*bytes > max_header_bytes)
        return kith_fail(KITH_BAD_FORMAT, "the header is %lld bytes long; the file is damaged",
                         (long long)*bytes);
    return KITH_OK;
}

kith_status npy_header_read(FILE *stream, struct npy_header *header)
{
    *header = (struct npy_header){0};
    int64_t bytes = 0;
    KITH_TRY(read_length(stream, &bytes));
    char *text = NULL;
    KITH_TRY(kith_allocate(bytes + 1, 1, "header", &text));
    kith_status status = read_bytes(stream, text, bytes, "the header");
    if (status == KITH_OK)
        status = parse(text, header);
    free(text);
    return status;
}

kith_status npy_check_bytes(FILE *stream, const struct npy_header *header, int64_t element_bytes)
{
    int64_t expected = element_bytes;
    for (int64_t k = header->ndim - 1; k >= 0;
         k--) /* from the last, where no columns are no bytes */
        if (__builtin_mul_overflow(expected, header->shape[k], &expected))
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

void npy_header_write_shape(FILE *stream, const char *type, int32_t ndim, const int64_t *shape)
{
    char text[192];
    int length = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                          machine_is_big_endian() ? '>' : '<', type);
    for (int32_t k = 0; k < ndim; k++)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%lld%s", (long long)shape[k],
                     k + 1 < ndim ? ", "
                     : ndim == 1  ? ","
                                  : "");
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");
    /* The data begin at a multiple of 64, and a newline ends the header. */
    const int start = prefix_bytes + 2;
    const int padding = (alignment - (start + length + 1) % alignment) % alignment;
    const int bytes = length + padding + 1;
    fwrite(magic, 1, magic_bytes, stream);
    const unsigned char version_and_length[] = {1, 0, (unsigned char)(bytes & 255),
                                                (unsigned char)(bytes >> 8)};
    fwrite(version_and_length, 1, sizeof version_and_length, stream);
    fprintf(stream, "%s%*s\n", text, padding, "");
}

void npy_header_write(FILE *stream, int64_t rows, int64_t columns)
{
    const int64_t shape[] = {rows, columns};
    npy_header_write_shape(stream, "f8", 2, shape);
}
