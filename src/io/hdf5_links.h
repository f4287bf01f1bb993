#ifndef IO_HDF5_LINKS_H
#define IO_HDF5_LINKS_H

#include <hdf5.h>

#include "core/status.h"

/* Fails if a link leads out of the file: HDF5 follows external and user-defined links into any file
 * that the user may read. Without such files, soft links stay in the file too.
 *
 * Errors: KITH_UNSUPPORTED (such a link), KITH_BAD_FORMAT (damaged groups, or groups in groups more
 *         than 64 deep). Cost: a visit of each group. */
kith_status hdf5_refuse_links_out(hid_t file);

#endif
