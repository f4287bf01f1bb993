#ifndef IO_NPY_ARRAY_H
#define IO_NPY_ARRAY_H

#include <stdio.h>

#include "io/npy_header.h"

/* Where the numbers of a file go, one after the other in its order: row and column as in the shape,
 * a vector has one column. */
typedef void npy_store(void *to, int64_t row, int64_t column, double value);

/* The type of the header's numbers is one that npy_read_elements takes, and the file is as long as
 * its shape needs. Errors: KITH_BAD_FORMAT. */
kith_status npy_check_data(FILE *stream, const struct npy_header *header);

/* Reads all numbers, and that the file ends after them. Errors: KITH_BAD_FORMAT, KITH_IO_ERROR. */
kith_status npy_read_elements(FILE *stream, const struct npy_header *header, npy_store *store,
                              void *to);

/* The same of some rows of an array in C order, at whose beginning the stream is. */
kith_status npy_read_rows(FILE *stream, const struct npy_header *header, int64_t first,
                          int64_t rows, npy_store *store, void *to);

#endif
