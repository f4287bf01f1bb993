#ifndef IO_H5MD_FRAMES_H
#define IO_H5MD_FRAMES_H

#include "io/h5md_reader.h"
#include "kith/io.h"

/* Takes the system of the options; an ensemble needs one. */
kith_status h5md_choose_system(const kith_read_options *options, struct h5md_reader *reader);

/* Copies what is under /observables to a file of H5MD: of series the frames from first, counted
 * from 0, of an ensemble the chosen system's. Steps and times are those of the positions there; a
 * series with other frames than the positions keeps its own.
 *
 * Errors: KITH_UNSUPPORTED: a series has other frames than the positions, and not all are copied.
 */
kith_status h5md_copy_observables(const struct h5md_reader *reader, int64_t first, int64_t frames,
                                  hid_t to);

#endif
