#ifndef IO_H5MD_BOX_H
#define IO_H5MD_BOX_H

#include "io/h5md_reader.h"

/* Reads the box of a frame into cell and periodic: edges as a vector (a cuboid) or a matrix, fixed
 * or of every frame; bodies without a box, or with one that has no edges, have no cell. */
kith_status h5md_read_box(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies);

#endif
