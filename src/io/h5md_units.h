#ifndef IO_H5MD_UNITS_H
#define IO_H5MD_UNITS_H

#include <hdf5.h>

#include "core/status.h"
#include "kith/bodies.h"

/* Writes /parameters/kith/units/{length,time,mass,gravitational_constant}; those not known are left
 * as they are. Lengths and times that MDAnalysis knows become attributes of the data, too. */
kith_status h5md_write_units(hid_t file, const kith_units *units);

/* Reads them; missing units are marked as unknown.
 * Errors: KITH_BAD_FORMAT (G is not a number). */
kith_status h5md_read_units(hid_t file, kith_units *units);

#endif
