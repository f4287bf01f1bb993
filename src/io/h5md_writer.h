#ifndef IO_H5MD_WRITER_H
#define IO_H5MD_WRITER_H

#include "io/h5md_layout.h"

/* Appends frames to an H5MD file by whole chunks only: frames are buffered until they fill one. A
 * partial chunk would be rewritten each time, and the space of its old versions lost when the file
 * is closed. */
struct h5md_writer {
    hid_t file;
    struct h5md_layout layout;
    int64_t gathered; /* frames in memory, which follow those in the file */
    int64_t room;     /* for this many, a chunk */
    int64_t *step;
    double *time;
    double *observables; /* one after the other, each with `room` frames */
    double *edges;
    void *position, *velocity; /* in the layout's precision */
    int32_t *image;
    double *wrapped; /* the positions of one frame */
};

/* Begins to append to a file of this layout, a new one or one with frames.
 *
 *   writer  [out] close with h5md_writer_end; also after a failure */
kith_status h5md_writer_begin(hid_t file, const struct h5md_layout *layout,
                              struct h5md_writer *writer);
void h5md_writer_end(struct h5md_writer *writer);

/* Adds a frame; diagnostics, one per system, only if the layout has observables, else NULL. */
kith_status h5md_writer_add(struct h5md_writer *writer, int64_t step, const kith_bodies *bodies,
                            const kith_diagnostics *diagnostics);

/* Appends the frames gathered in memory to a file with the same full chunks, the writer's own or a
 * copy of it, which is then complete. The writer's own takes no more frames after that. */
kith_status h5md_writer_complete(const struct h5md_writer *writer, hid_t file);

/* Truncates a file of this layout to its first frames. */
kith_status h5md_truncate(hid_t file, const struct h5md_layout *layout, int64_t frames);

#endif
