#ifndef IO_HDF5_DATA_H
#define IO_HDF5_DATA_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "kith/array.h"

/* Groups, attributes and datasets, each in one call. Messages name the dataset. Objects are closed
 * with their file (see hdf5_open). */

enum { hdf5_max_rank = 4 };

struct hdf5_shape {
    int rank; /* 0: one number */
    hsize_t size[hdf5_max_rank];
};

/* HDF5's names of a precision, in memory and in a file. */
hid_t hdf5_real_in_memory(kith_dtype dtype);
hid_t hdf5_real_in_file(kith_dtype dtype);

/* Makes a group, and those above it that are missing; an old one is opened. */
kith_status hdf5_make_group(hid_t parent, const char *path, hid_t *group);

/* Sets an attribute: text of fixed length, or numbers (rank 0 or 1). */
kith_status hdf5_set_text(hid_t object, const char *name, const char *text);
kith_status hdf5_set_numbers(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                             struct hdf5_shape shape, const void *numbers);

/* Writes a dataset of fixed shape; one of that name is replaced. */
kith_status hdf5_write(hid_t parent, const char *name, hid_t file_type, hid_t memory_type,
                       struct hdf5_shape shape, const void *data);
kith_status hdf5_write_text(hid_t parent, const char *name, const char *text);
kith_status hdf5_write_real(hid_t parent, const char *name, double value);
kith_status hdf5_write_integer(hid_t parent, const char *name, int64_t value);

/* Makes an empty dataset that grows along its first axis: chunked, shuffled, and deflated if this
 * HDF5 can.
 *
 *   frame         shape of one entry
 *   chunk_frames  entries in a chunk; big entries are split over chunks by their rows */
kith_status hdf5_make_series(hid_t parent, const char *name, hid_t file_type,
                             struct hdf5_shape frame, int64_t chunk_frames);

/* Appends entries to a series. */
kith_status hdf5_append(hid_t parent, const char *name, hid_t memory_type, int64_t entries,
                        const void *data);

/* Entries in a chunk of a series. */
kith_status hdf5_chunk_of(hid_t parent, const char *name, int64_t *entries);

/* How a series of frames N × 3 is chunked, if its chunks can be written as they are stored
 * (io/h5md_chunk.h): rows of this many frames, as shuffled and deflated numbers of a type. Else
 * chunk->rows is 0. */
struct h5md_chunk;
void hdf5_stored_chunk(hid_t dataset, hid_t file_type, int64_t frames, struct h5md_chunk *chunk);

/* Writes a chunk as it is stored, which begins at this element. */
kith_status hdf5_write_chunk(hid_t dataset, const char *name, const hsize_t *first, int64_t bytes,
                             const void *stored);

/* Makes a dataset of fixed shape, to be written by hdf5_write_box; one of that name is replaced. */
kith_status hdf5_make(hid_t parent, const char *name, hid_t file_type, struct hdf5_shape shape);

/* Writes a box of an open dataset: from first on, of this shape. `name` is for messages. */
kith_status hdf5_write_box(hid_t dataset, const char *name, hid_t memory_type, const hsize_t *first,
                           struct hdf5_shape box, const void *data);

/* Truncates a series to its first entries, or adds some that are still to be written. */
kith_status hdf5_resize(hid_t parent, const char *name, int64_t entries);

/* Whether there is an object at path; false, not an error, if a group on the way is missing. */
bool hdf5_exists(hid_t parent, const char *path);
bool hdf5_is_group(hid_t parent, const char *path);

/* Opens a dataset whose data are in the file itself.
 *
 *   dataset  [out] close with H5Dclose; H5I_INVALID_HID on failure
 *
 * Errors: KITH_BAD_FORMAT (it is missing or damaged), KITH_UNSUPPORTED (external storage or a
 *         virtual dataset: HDF5 would read any file that it names). */
kith_status hdf5_open_dataset(hid_t parent, const char *path, hid_t *dataset);

/* Keeps a dataset open until its file is closed, with a cache of at least one chunk: readings of
 * some rows after the other decompress each chunk once. Errors: as hdf5_open_dataset. */
kith_status hdf5_keep_open(hid_t parent, const char *path);

/* The shape of a dataset; KITH_BAD_FORMAT if it is not there, not of numbers, or was never
 * written. */
kith_status hdf5_shape_of(hid_t parent, const char *path, struct hdf5_shape *shape);

/* Reads a box of a dataset: from first, as many as shape says; first NULL: from its beginning. */
kith_status hdf5_read(hid_t parent, const char *path, hid_t memory_type, const hsize_t *first,
                      struct hdf5_shape shape, void *data);

/* Reads one number; KITH_BAD_FORMAT if it is not there. */
kith_status hdf5_read_real(hid_t parent, const char *path, double *value);
kith_status hdf5_read_integer(hid_t parent, const char *path, int64_t *value);

/* Reads text of fixed length, cut to fit; KITH_BAD_FORMAT if it is not there. */
kith_status hdf5_read_text(hid_t parent, const char *path, size_t bytes, char *text);

/* Reads an attribute's numbers: rank 0 or 1, at most `most` of them.
 *   count  [out] how many there were; 0 if the attribute does not exist */
kith_status hdf5_get_numbers(hid_t object, const char *name, hid_t memory_type, int64_t most,
                             void *numbers, int64_t *count);

#endif
