#include "io/h5md_chunk.h"

#include <math.h>
#include <string.h>

#include "cells/lattice.h"
#include "particles/bodies.h"

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

static kith_status lattice_of(const kith_bodies *bodies, struct pairs_lattice *lattice)
{
    kith_cell cell = {.periodic = {false}};
    for (int32_t k = 0; k < bodies->dimensions; k++) {
        for (int32_t c = 0; c < bodies->dimensions; c++)
            cell.vectors[k][c] = bodies->cell[3 * k + c];
        cell.periodic[k] = bodies->periodic[k];
    }
    return pairs_lattice_make(&cell, bodies->dimensions, 1, lattice);
}

kith_status h5md_wrap(const kith_bodies *bodies, double *wrapped, int32_t *image)
{
    const int32_t dimensions = bodies->dimensions;
    struct pairs_lattice lattice;
    KITH_TRY(lattice_of(bodies, &lattice));
    for (int64_t i = 0; i < bodies->count; i++) {
        const double *from = bodies->position + i * dimensions;
        const double z = dimensions == 3 ? from[2] : 0;
        double x[3] = {from[0], from[1], z};
        if (!pairs_wrap(&lattice, x, image + 3 * i)) {
            x[0] = from[0], x[1] = from[1], x[2] = z;
            image[3 * i] = image[3 * i + 1] = image[3 * i + 2] = 0;
        }
        for (int32_t c = 0; c < dimensions; c++)
            wrapped[i * dimensions + c] = x[c];
    }
    return KITH_OK;
}

static kith_dtype precision_of(struct h5md_chunk chunk)
{
    return chunk.real == (int32_t)sizeof(float) ? KITH_F32 : KITH_F64;
}

kith_status h5md_put_part(void *to, struct h5md_chunk chunk, enum h5md_part part,
                          const kith_bodies *rows)
{
    enum { at_once = 256 };
    double wrapped[3 * at_once];
    int32_t image[3 * at_once];
    if (part == h5md_velocities || !chunk.wraps) {
        h5md_put_rows(to, precision_of(chunk), 0, rows,
                      part == h5md_velocities ? rows->velocity : rows->position);
        return KITH_OK;
    }
    for (int64_t first = 0; first < rows->count; first += at_once) {
        const int64_t left = rows->count - first;
        const kith_bodies some = bodies_rows(rows, first, left < at_once ? left : at_once);
        KITH_TRY(h5md_wrap(&some, wrapped, image));
        h5md_put_rows(to, precision_of(chunk), first, &some, wrapped);
    }
    return KITH_OK;
}

#ifdef KITH_HAS_ZLIB

#include <zlib.h>

bool h5md_packs(void)
{
    return true;
}

/* A zlib stream (RFC 1950): blocks of deflate (RFC 1951), in which whoever writes may store bytes,
 * code them by their frequencies (Huffman), or look for repetitions as well. The last bytes of real
 * numbers are random: to look for repetitions in them takes most of the time and finds none. So the
 * parts of a chunk are written one by one, each as suits it. */
enum { stored_at_once = 65535, bytes_of_block = 5, bytes_of_check = 4 };
static const unsigned char first_bytes[] = {0x78, 0x01}, last_block[] = {1, 0, 0, 0xff, 0xff};

/* Less than a sixteenth is not worth the time. */
static const double least_gain = 1.0 / 16;

static int64_t stored_room(int64_t bytes)
{
    return bytes + (bytes / stored_at_once + 1) * bytes_of_block;
}

int64_t h5md_chunk_room(struct h5md_chunk chunk)
{
    return (int64_t)sizeof first_bytes + chunk.real * stored_room(3 * chunk.rows) +
           (int64_t)sizeof last_block + bytes_of_check;
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

/* The bits that codes of the bytes' frequencies take (Shannon 1948), of some thousand bytes each.
 */
static double bits_of(const unsigned char *part, int64_t bytes)
{
    enum { at_once = 1 << 14 };
    double bits = 0;
    for (int64_t first = 0; first < bytes; first += at_once) {
        const int64_t end = first + at_once < bytes ? first + at_once : bytes;
        int32_t times[256] = {0};
        for (int64_t i = first; i < end; i++)
            times[part[i]]++;
        for (int k = 0; k < 256; k++)
            if (times[k] > 0)
                bits -= times[k] * log2(times[k] / (double)(end - first));
    }
    return bits;
}

/* Whether bytes repeat some thousand bytes before, four or more at a time. */
static bool repeats(const unsigned char *part, int64_t bytes)
{
    enum { places = 1 << 12, bits_of_place = 12, key_bits = 32 };
    int32_t last[places] = {0};
    int64_t found = 0;
    for (int64_t i = 1; i + (int64_t)sizeof(uint32_t) <= bytes; i++) {
        uint32_t four, earlier;
        memcpy(&four, part + i, sizeof four);
        int32_t *place = &last[four * 2654435761U >> (key_bits - bits_of_place)]; /* Knuth, §6.4 */
        memcpy(&earlier, part + *place, sizeof earlier);
        found += four == earlier;
        *place = (int32_t)i;
    }
    return found > bytes / 16;
}

/* As blocks that refer to no bytes before them. Returns their bytes, or 0 if they do not fit. */
static int64_t deflate_bytes(z_stream *stream, int level, int strategy, const unsigned char *from,
                             int64_t bytes, unsigned char *to, int64_t room)
{
    deflateReset(stream);
    stream->next_in = (unsigned char *)from; /* zlib does not write to it */
    stream->next_out = to;
    stream->avail_out = (uInt)room;
    stream->avail_in = 0;
    if (deflateParams(stream, level, strategy) != Z_OK)
        return 0;
    stream->avail_in = (uInt)bytes;
    if (deflate(stream, Z_FULL_FLUSH) != Z_OK || stream->avail_in > 0 || stream->avail_out == 0)
        return 0;
    return room - stream->avail_out;
}

/* Whether repetitions gain something: tried with some of the bytes. `to` has room for them. */
static int strategy_for(z_stream *stream, int level, const unsigned char *part, int64_t bytes,
                        unsigned char *to, int64_t room)
{
    enum { samples = 4, bytes_of_sample = 1 << 11 };
    unsigned char some[samples * bytes_of_sample];
    if (bytes <= (int64_t)sizeof some)
        return Z_DEFAULT_STRATEGY;
    for (int k = 0; k < samples; k++)
        memcpy(some + k * bytes_of_sample, part + (bytes - bytes_of_sample) * k / (samples - 1),
               bytes_of_sample);
    const int64_t coded = deflate_bytes(stream, level, Z_HUFFMAN_ONLY, some, sizeof some, to, room);
    const int64_t repeated =
        deflate_bytes(stream, level, Z_DEFAULT_STRATEGY, some, sizeof some, to, room);
    return coded > 0 && coded < repeated ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
}

static int64_t store(const unsigned char *part, int64_t bytes, unsigned char *to)
{
    unsigned char *next = to;
    for (int64_t first = 0, count; first < bytes; first += count) {
        count = bytes - first < stored_at_once ? bytes - first : stored_at_once;
        const unsigned char head[bytes_of_block] = {
            0, (unsigned char)count, (unsigned char)(count >> 8), (unsigned char)~count,
            (unsigned char)(~count >> 8)};
        memcpy(next, head, sizeof head);
        memcpy(next + sizeof head, part + first, (size_t)count);
        next += (int64_t)sizeof head + count;
    }
    return next - to;
}

/* Returns the bytes written, at most stored_room of them. */
static int64_t pack_part(z_stream *stream, int level, const unsigned char *part, int64_t bytes,
                         unsigned char *to)
{
    const int64_t room = stored_room(bytes);
    int64_t packed = 0;
    if (bits_of(part, bytes) <= (1 - least_gain) * 8 * (double)bytes) {
        const int strategy = strategy_for(stream, level, part, bytes, to, room);
        packed = deflate_bytes(stream, level, strategy, part, bytes, to, room);
    } else if (repeats(part, bytes)) {
        packed = deflate_bytes(stream, level, Z_DEFAULT_STRATEGY, part, bytes, to, room);
    }
    return packed > 0 ? packed : store(part, bytes, to);
}

static int64_t put(const void *bytes, int64_t count, unsigned char *to)
{
    memcpy(to, bytes, (size_t)count);
    return count;
}

kith_status h5md_chunk_pack(struct h5md_chunk chunk, const void *numbers, int64_t rows,
                            unsigned char *shuffled, unsigned char *packed, int64_t *bytes)
{
    const int64_t all = 3 * chunk.rows;
    z_stream stream = {0};
    shuffle(chunk, numbers, 3 * rows, shuffled);
    if (deflateInit2(&stream, chunk.deflates, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory to compress %lld rows", (long long)rows);
    int64_t at = put(first_bytes, sizeof first_bytes, packed);
    for (int32_t b = 0; b < chunk.real; b++)
        at += pack_part(&stream, chunk.deflates, shuffled + b * all, all, packed + at);
    (void)deflateEnd(&stream);
    const uLong sum = adler32(adler32(0, NULL, 0), shuffled, (uInt)h5md_chunk_bytes(chunk));
    const unsigned char check[bytes_of_check] = {(unsigned char)(sum >> 24),
                                                 (unsigned char)(sum >> 16),
                                                 (unsigned char)(sum >> 8), (unsigned char)sum};
    at += put(last_block, sizeof last_block, packed + at);
    *bytes = at + put(check, sizeof check, packed + at);
    return KITH_OK;
}

#else

bool h5md_packs(void)
{
    return false;
}

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
