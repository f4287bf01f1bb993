#ifndef IO_NPY_ELEMENTS_H
#define IO_NPY_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* The types of numbers in NPY files. */
struct npy_element {
    const char *name; /* NumPy's, without the byte order */
    int64_t bytes;
    /* A number from native bytes; false if no double, or no 64-bit integer, is equal to it. */
    bool (*to_real)(const unsigned char *bytes, double *value);
    bool (*to_whole)(const unsigned char *bytes, int64_t *value);
};

/* NULL: none of the table. */
const struct npy_element *npy_element_of(const char *descr);

#endif
