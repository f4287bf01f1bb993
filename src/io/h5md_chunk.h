#ifndef IO_H5MD_CHUNK_H
#define IO_H5MD_CHUNK_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/array.h"
#include "kith/bodies.h"

/* D doubles a row, `from` of the rows, to three numbers from row `at` on; z stays 0 in 2D, and all
 * of it without `from`. */
void h5md_put_rows(void *to, kith_dtype precision, int64_t at, const kith_bodies *rows,
                   const double *restrict from);

/* Positions within a periodic cell, and the image that each belongs to (H5MD 1.1, "image"):
 *
 *     x = wrapped + image · cell
 *
 * up to a rounding error of x. Along axes that are not periodic the image is 0. */

/* Wraps the bodies' positions into their cell.
 *
 *   wrapped  [out] as positions, N × D
 *   image    [out] N × 3; 0 in rows with a coordinate that is not finite, which stay as they are
 *
 * Errors: KITH_INVALID_ARGUMENT (the cell's vectors). */
kith_status h5md_wrap(const kith_bodies *bodies, double *wrapped, int32_t *image);

/* The chunks of a frame's rows as HDF5 stores them: three numbers a row, zeros after the last row,
 * their bytes shuffled (all first bytes, then all second ones, …) and deflated. So ranks can make
 * them, each those of its rows, and one writes them. */
struct h5md_chunk {
    int64_t rows;     /* of a chunk; 0: HDF5 alone can make those of this file */
    int32_t real;     /* bytes of a number */
    int32_t deflates; /* the level */
    bool wraps;       /* positions are within their cell */
};

static inline int64_t h5md_chunk_bytes(struct h5md_chunk chunk)
{
    return 3 * chunk.rows * chunk.real;
}

/* The positions or velocities of rows, as chunks have them. Errors: those of h5md_wrap. */
enum h5md_part { h5md_positions, h5md_velocities, h5md_parts };
kith_status h5md_put_part(void *to, struct h5md_chunk chunk, enum h5md_part part,
                          const kith_bodies *rows);

/* Whether this build can pack chunks: it has zlib. */
bool h5md_packs(void);

/* Bytes that a packed chunk has at most. */
int64_t h5md_chunk_room(struct h5md_chunk chunk);

/* Packs some rows, at most those of a chunk.
 *
 *   shuffled  room for h5md_chunk_bytes
 *   packed    [out] room for h5md_chunk_room
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status h5md_chunk_pack(struct h5md_chunk chunk, const void *numbers, int64_t rows,
                            unsigned char *shuffled, unsigned char *packed, int64_t *bytes);

#endif
