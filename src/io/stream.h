#ifndef IO_STREAM_H
#define IO_STREAM_H

#include "kith/io.h"

/* The bodies of a file, read some rows at a time, as they are requested: texts and Tipsy files more
 * than once, to count lines and to find the frame and the columns. H5MD of runs whose bodies have
 * merged or escaped, NPY in Fortran's order, and what is not a regular file are read whole when
 * opened. */
struct bodies_stream {
    int64_t count;     /* N */
    kith_bodies *like; /* one body, with the columns, the time, the cell and the units of all */
    int64_t read;      /* rows so far */
    const struct stream_functions *functions; /* NULL: of bodies in memory */
    void *state;
    kith_bodies *bodies;
    char *path; /* for messages */
};

/* Of a format (io/format.h). Messages omit the path.
 *
 * open  *state is NULL if the file cannot be read so: it is then read whole. After a failure the
 *       caller frees *like and closes *state.
 * next  fills in rows that follow those before. */
struct stream_functions {
    kith_status (*open)(const char *path, const kith_read_options *options, kith_bodies **like,
                        int64_t *count, void **state);
    kith_status (*next)(void *state, int64_t first, kith_bodies *rows);
    void (*close)(void *state); /* NULL is fine */
};

extern const struct stream_functions csv_stream, npy_stream, xyz_stream, tipsy_stream;
extern const struct stream_functions gadget_stream, h5md_stream; /* in builds with HDF5 */

/* As kith_bodies_read.
 *   stream  [out] close with bodies_stream_close, after a failure too */
kith_status bodies_stream_open(const char *path, const kith_read_options *options,
                               struct bodies_stream *stream);

/* A stream of bodies in memory, which it owns. Errors: KITH_OUT_OF_MEMORY. */
kith_status bodies_stream_of(kith_bodies *bodies, struct bodies_stream *stream);

/* Fills in the next rows, rows->count of them; its columns are those of `like`. Errors: as
 * kith_bodies_read. */
kith_status bodies_stream_next(struct bodies_stream *stream, kith_bodies *rows);

void bodies_stream_close(struct bodies_stream *stream);

#endif
