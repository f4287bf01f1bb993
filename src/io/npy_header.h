#ifndef IO_NPY_HEADER_H
#define IO_NPY_HEADER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"

/* The header of an NPY file: a Python dictionary with the type, the order and the shape. */
struct npy_header {
    char descr[16]; /* "<f8" */
    bool fortran_order;
    int64_t ndim;
    int64_t shape[3];    /* the first three of ndim */
    char shape_text[64]; /* as the file writes it, for messages */
};

/* Reads it and leaves the stream at the data. Errors: KITH_BAD_FORMAT, KITH_IO_ERROR. */
kith_status npy_header_read(FILE *stream, struct npy_header *header);

/* Whether the file has the data that its header, of at most three dimensions, states: checked
 * before memory is allocated for them. A pipe is trusted, unless 64 bits cannot count the bytes.
 * Errors: KITH_BAD_FORMAT. */
kith_status npy_check_bytes(FILE *stream, const struct npy_header *header, int64_t element_bytes);

/* Writes one of version 1.0 for a row-major array of numbers of a type ("f8", "i4"), in this
 * machine's byte order. */
void npy_header_write_shape(FILE *stream, const char *type, int32_t ndim, const int64_t *shape);

/* The same for a matrix of float64. */
void npy_header_write(FILE *stream, int64_t rows, int64_t columns);

#endif
