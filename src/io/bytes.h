#ifndef IO_BYTES_H
#define IO_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"

/* Reads exactly this many bytes; what names them in the message. Errors: KITH_BAD_FORMAT if the
 * file ends before (the message says at which offset), KITH_IO_ERROR. */
kith_status read_bytes(FILE *stream, void *memory, int64_t bytes, const char *what);

/* Goes to an offset. Errors: KITH_IO_ERROR (a pipe). */
kith_status seek_to(FILE *stream, int64_t offset);

/* The bytes from here to the end of the file; false if that is unknown (a pipe). */
bool input_bytes_left(FILE *stream, int64_t *bytes);

static inline bool machine_is_big_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Turns the order of the bytes of each element around. */
static inline void swap_bytes(unsigned char *bytes, int64_t elements, int64_t bytes_each)
{
    for (int64_t k = 0; k < elements; k++)
        for (int64_t low = 0, high = bytes_each - 1; low < high; low++, high--) {
            const unsigned char kept = bytes[k * bytes_each + low];
            bytes[k * bytes_each + low] = bytes[k * bytes_each + high];
            bytes[k * bytes_each + high] = kept;
        }
}

#endif
