#include "io/h5md_chunk.h"

#include <string.h>

void h5md_put_rows(void *to, kith_dtype precision, int64_t at, const kith_bodies *rows,
                   const double *restrict from)
{
    const int32_t dimensions = rows->dimensions;
    if (!to || !from)
        return;
    for (int64_t i = 0; i < rows->count; i++)
        for (int32_t k = 0; k < dimensions; k++) {
            if (precision == KITH_F32)
                ((float *)to)[3 * (at + i) + k] = (float)from[i * dimensions + k];
            else
                ((double *)to)[3 * (at + i) + k] = from[i * dimensions + k];
        }
}

#ifdef KITH_HAS_ZLIB

#include <zlib.h>

int64_t h5md_chunk_room(struct h5md_chunk chunk)
{
    return (int64_t)compressBound((uLong)h5md_chunk_bytes(chunk));
}

/* Byte b of number i is byte i of part b, which has as many bytes as a chunk has numbers. */
static void shuffle(struct h5md_chunk chunk, const unsigned char *numbers, int64_t count,
                    unsigned char *shuffled)
{
    const int64_t all = 3 * chunk.rows;
    for (int32_t b = 0; b < chunk.real; b++) {
        unsigned char *part = shuffled + b * all;
        for (int64_t i = 0; i < count; i++)
            part[i] = numbers[i * chunk.real + b];
        memset(part + count, 0, (size_t)(all - count));
    }
}

kith_status h5md_chunk_pack(struct h5md_chunk chunk, const void *numbers, int64_t rows,
                            unsigned char *shuffled, unsigned char *packed, int64_t *bytes)
{
    uLongf length = (uLongf)h5md_chunk_room(chunk);
    shuffle(chunk, numbers, 3 * rows, shuffled);
    if (compress2(packed, &length, shuffled, (uLong)h5md_chunk_bytes(chunk), chunk.deflates) !=
        Z_OK)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory to compress %lld rows", (long long)rows);
    *bytes = (int64_t)length;
    return KITH_OK;
}

#else

int64_t h5md_chunk_room(struct h5md_chunk chunk)
{
    return h5md_chunk_bytes(chunk);
}

kith_status h5md_chunk_pack(struct h5md_chunk chunk, const void *numbers, int64_t rows,
                            unsigned char *shuffled, unsigned char *packed, int64_t *bytes)
{
    (void)chunk, (void)numbers, (void)rows, (void)shuffled, (void)packed, (void)bytes;
    return kith_fail(KITH_UNSUPPORTED, "this build has no zlib");
}

#endif
