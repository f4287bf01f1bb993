#ifndef IO_H5MD_WRITER_H
#define IO_H5MD_WRITER_H

#include "io/h5md_chunk.h"
#include "io/h5md_layout.h"

/* Appends frames to an H5MD file by whole chunks only: frames are buffered until they fill one. A
 * partial chunk would be rewritten each time, and the space of its old versions lost when the file
 * is closed. A frame that is larger than a chunk is written as its rows come, some thousand at a
 * time: no memory is as large as it. */
struct h5md_writer {
    hid_t file;
    struct h5md_layout layout;
    int64_t gathered; /* frames in memory, which follow those in the file */
    int64_t room;     /* for this many, a chunk */
    int64_t *step;
    double *time;
    double *observables; /* one after the other, each with `room` frames */
    double *edges;
    void *position, *velocity; /* in the layout's precision; of `room` frames, or of some rows */
    int32_t *image;
    double *wrapped;  /* positions of some rows */
    int64_t written;  /* frames in the file */
    hid_t dataset[3]; /* of large frames: positions, velocities, images, open within a frame */
};

enum { h5md_rows_at_once = 1 << 14 };

/* Begins to append to a file of this layout, a new one or one with frames.
 *
 *   writer  [out] close with h5md_writer_end; also after a failure */
kith_status h5md_writer_begin(hid_t file, const struct h5md_layout *layout,
                              struct h5md_writer *writer);
void h5md_writer_end(struct h5md_writer *writer);

/* Adds a frame; diagnostics, one per system, only if the layout has observables, else NULL. */
kith_status h5md_writer_add(struct h5md_writer *writer, int64_t step, const kith_bodies *bodies,
                            const kith_diagnostics *diagnostics);

/* The same in pieces: the time and the cell are those of `rows`, whichever they are; then come all
 * rows, in order; the frame is complete after h5md_writer_end_frame. */
kith_status h5md_writer_begin_frame(struct h5md_writer *writer, int64_t step,
                                    const kith_bodies *rows, const kith_diagnostics *diagnostics);
kith_status h5md_writer_add_rows(struct h5md_writer *writer, int64_t first,
                                 const kith_bodies *rows);
kith_status h5md_writer_end_frame(struct h5md_writer *writer);

/* After h5md_writer_begin_frame: the chunks of a large frame, if they may come packed
 * (io/h5md_chunk.h) instead of its rows; chunk.rows is 0 if not. They then come in order of their
 * rows, and of equal ones the positions before the velocities; if chunk.wraps the images of all
 * rows follow, in order. */
struct h5md_chunk h5md_writer_chunk(const struct h5md_writer *writer);
kith_status h5md_writer_add_chunk(struct h5md_writer *writer, enum h5md_part part, int64_t first,
                                  int64_t bytes, const void *packed);
kith_status h5md_writer_add_images(struct h5md_writer *writer, int64_t first,
                                   const kith_bodies *rows);

/* Appends the frames gathered in memory to a file with the same full chunks, the writer's own or a
 * copy of it, which is then complete. The writer's own takes no more frames after that. */
kith_status h5md_writer_complete(const struct h5md_writer *writer, hid_t file);

/* Truncates a file of this layout to its first frames. */
kith_status h5md_truncate(hid_t file, const struct h5md_layout *layout, int64_t frames);

#endif
