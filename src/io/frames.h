#ifndef IO_FRAMES_H
#define IO_FRAMES_H

#include "kith/io.h"

/* How many frames a file of bodies has; 1 for formats of one frame. Reads an XYZ file to its end.
 *
 * Errors: as kith_bodies_read. */
kith_status frames_count(const char *path, const kith_read_options *options, int64_t *frames);

/* A frame of a file; the bodies are the reader's. */
typedef kith_status visit_frame(void *state, int64_t step, const kith_bodies *bodies);

/* Calls visit for frames first to last (from 1, both included; last 0: to the end) of a file of
 * bodies, in order. The numbers of runs need not be finite: bodies may have been removed.
 *
 * Errors: as kith_bodies_read; KITH_INVALID_ARGUMENT (the frames do not exist); what visit returns.
 *         Messages begin with the path. */
kith_status frames_read(const char *path, const kith_read_options *options, int64_t first,
                        int64_t last, visit_frame *visit, void *state);

/* Converts frames first to last (from 1, both included; last 0: to the end) of a file to a file of
 * a format that holds several: extended XYZ, or H5MD, where masses, charges, softening lengths,
 * radii, ids, names and units must be the same in all frames. Steps and observables go from H5MD to
 * H5MD. The file is complete or absent (io/output.h, io/working_file.h).
 *
 *   is_stopped  asked before every frame; once it is true, nothing is written
 *
 * Errors: as kith_bodies_read and kith_bodies_write; KITH_INVALID_ARGUMENT (the frames do not
 *         exist), KITH_UNSUPPORTED (the output's format holds one frame; what H5MD stores once
 *         changes), KITH_CANCELLED. */
kith_status frames_convert(const char *from, const kith_read_options *read, int64_t first,
                           int64_t last, const char *to, const kith_write_options *write,
                           bool (*is_stopped)(void));

#endif
