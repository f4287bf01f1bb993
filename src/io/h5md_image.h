#ifndef IO_H5MD_IMAGE_H
#define IO_H5MD_IMAGE_H

#include "io/h5md_reader.h"

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

/* Adds the images of a frame, where the file has some and a cell, to the bodies' positions. */
kith_status h5md_unwrap(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies);

/* A run that wraps its frames has the positions of its start as they were, to resume from. */
kith_status h5md_make_start(hid_t file, kith_dtype precision, int64_t count, int32_t dimensions);
kith_status h5md_put_start(hid_t file, int64_t first, const kith_bodies *rows);
kith_status h5md_read_start(const struct h5md_reader *reader, kith_bodies *start);

#endif
