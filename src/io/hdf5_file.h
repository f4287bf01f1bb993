#ifndef IO_HDF5_FILE_H
#define IO_HDF5_FILE_H

#include <hdf5.h>

#include "core/status.h"

/* A session of the HDF5 library.
 *
 * HDF5 keeps global state, prints errors by itself and is not always built for threads. So one
 * thread of kith at a time is inside it, with the printing off. Functions that begin a session must
 * not be called within one. */
struct hdf5_session {
    H5E_auto2_t report;
    void *report_data;
};

void hdf5_begin(struct hdf5_session *session);
void hdf5_end(const struct hdf5_session *session);

/* As kith_fail, with HDF5's reason for its last failure appended. Call it before HDF5 again. */
#define hdf5_fail(status, ...) (hdf5_fail_message(__VA_ARGS__), (status))

void hdf5_fail_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens an HDF5 file. Closing it closes all that was opened in it (H5F_CLOSE_STRONG), so that the
 * functions of this room need not on their error paths. Messages omit the path.
 *
 *   file   [out] close with H5Fclose; H5I_INVALID_HID on failure
 *
 * Errors: KITH_IO_ERROR (no such file, no permission), KITH_BAD_FORMAT (no HDF5, truncated),
 *         KITH_UNSUPPORTED (an external or user-defined link: HDF5 would read any file that the
 *         link names). */
kith_status hdf5_open(const char *path, hid_t *file);

/* The same for reading and writing. Writing as such never fails (io/hdf5_driver.h).
 *
 *   error [out] the first error number of the system, 0 without an error; must outlive the
 *          file and be inspected after the work and after H5Fclose */
kith_status hdf5_open_to_write(const char *path, int *error, hid_t *file);

/* Closes a file of hdf5_open_to_write or hdf5_create; negative if HDF5 could not. */
herr_t hdf5_close_written(hid_t file);

/* Makes an HDF5 file in the earliest format, which every reader supports. An existing file is
 * truncated. */
kith_status hdf5_create(const char *path, int *error, hid_t *file);

/* Makes an HDF5 file in memory, to be written at the end: failures of the disk then do not affect
 * HDF5, and pipes work. */
kith_status hdf5_create_in_memory(hid_t *file);

/* Writes a file in memory to path (io/output.h). Messages name the path. Errors: KITH_IO_ERROR. */
kith_status hdf5_save(hid_t file, const char *path);

#endif
