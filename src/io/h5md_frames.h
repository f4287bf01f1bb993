#ifndef IO_H5MD_FRAMES_H
#define IO_H5MD_FRAMES_H

#include "io/h5md_reader.h"
#include "kith/io.h"

/* Takes the system of the options; an ensemble needs one. */
kith_status h5md_choose_system(const kith_read_options *options, struct h5md_reader *reader);

/* The number, from 0, of the frame of the options: 0 is the last one, k the k-th, −k the k-th from
 * the end. */
kith_status h5md_choose_frame(int64_t wanted, int64_t frames, int64_t *frame);

/* Open datasets keep their chunks of many frames, or of many rows, in HDF5's cache, from one
 * reading to the next; they are closed with the file. */
void h5md_keep_open(const struct h5md_reader *reader);

/* From now on the reader sees some of its rows, of those that it saw at first. */
static inline void h5md_reader_choose_rows(struct h5md_reader *reader, int64_t first, int64_t count)
{
    reader->first_row = first;
    reader->count = count;
}

/* Copies what is under /observables to a file of H5MD: of series the frames from first, counted
 * from 0, of an ensemble the chosen system's. Steps and times are those of the positions there; a
 * series with other frames than the positions keeps its own.
 *
 * Errors: KITH_UNSUPPORTED: a series has other frames than the positions, and not all are copied.
 */
kith_status h5md_copy_observables(const struct h5md_reader *reader, int64_t first, int64_t frames,
                                  hid_t to);

#endif
