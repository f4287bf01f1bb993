#ifndef IO_HDF5_DRIVER_H
#define IO_HDF5_DRIVER_H

#include <hdf5.h>

#include "core/status.h"

/* A file driver of kith's for HDF5 that never fails to write.
 *
 * When a write fails, on a full disk for example, HDF5 cannot close the file: it keeps a dangling
 * handle and crashes when the program ends (1.10, H5F__close_cb). So after the first failure this
 * driver keeps all writes in memory, where reads find them too, and reports the error only to kith,
 * which then closes the file without further errors and discards it.
 *
 * HDF5 1.10 releases a file's driver before it closes the file with it (H5FD_close), so that the
 * driver must be held until after that.
 *
 *   access  a file access property list, which is given the driver
 *   error   where the driver puts the first error number; must outlive the file
 *   driver  [out] close with H5FDunregister when the file is closed; H5I_INVALID_HID on failure */
kith_status hdf5_use_steady_driver(hid_t access, int *error, hid_t *driver);

#endif
