#ifndef CELLS_LATTICE_H
#define CELLS_LATTICE_H

#include "cells/geometry.h"
#include "cells/nearest_image.h"
#include "core/status.h"
#include "kith/cell.h"

/* The lattice of a cell in units of `unit`; cell NULL: open space. Errors: KITH_INVALID_ARGUMENT
 * (numbers that are not finite, periodic vectors that are linearly dependent). */
kith_status pairs_lattice_make(const kith_cell *cell, int32_t dimensions, double unit,
                               struct pairs_lattice *lattice);

/* Fails with KITH_UNSUPPORTED if each point has too many images within a distance; the distance is
 * in units of `unit`. */
kith_status pairs_check_images(const struct pairs_lattice *lattice, double distance, double unit);

#endif
