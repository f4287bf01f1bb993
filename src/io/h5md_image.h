#ifndef IO_H5MD_IMAGE_H
#define IO_H5MD_IMAGE_H

#include "io/h5md_reader.h"

/* Adds the images of a frame, where the file has some and a cell, to the bodies' positions. */
kith_status h5md_unwrap(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies);

/* A run that wraps its frames has the positions of its start as they were, to resume from. */
kith_status h5md_make_start(hid_t file, kith_dtype precision, int64_t count, int32_t dimensions);
kith_status h5md_put_start(hid_t file, int64_t first, const kith_bodies *rows);
kith_status h5md_read_start(const struct h5md_reader *reader, kith_bodies *start);

#endif
