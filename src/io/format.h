#ifndef IO_FORMAT_H
#define IO_FORMAT_H

#include <sys/stat.h>

#include "core/status.h"
#include "io/frames.h"
#include "kith/io.h"

/* Functions of a format that holds several frames (io/frames.h). */
struct frame_functions {
    /* As struct format's read: frames first to first + count − 1, counted from 0, in order. */
    kith_status (*count)(const char *path, int64_t *frames);
    kith_status (*read)(const char *path, const kith_read_options *options, int64_t first,
                        int64_t count, visit_frame *visit, void *state);

    /* As write: begin makes a writer of about this many frames, which end frees; the file exists
     * only after finish. */
    kith_status (*begin)(const char *path, const kith_write_options *options, int64_t count,
                         void **writer);
    visit_frame *add;
    kith_status (*finish)(void *writer);
    void (*end)(void *writer); /* keeps the thread's message; NULL is fine */
};

extern const struct frame_functions xyz_frames, h5md_frames;
struct stream_functions; /* io/stream.h */

/* Adds the observables of frames of an H5MD file to a writer of h5md_frames that has just these
 * frames. Messages omit the path. Only in builds with HDF5. */
kith_status h5md_frames_add_observables(void *writer, const char *path,
                                        const kith_read_options *options, int64_t first,
                                        int64_t count);

/* A row of the table in formats.c: what kith_format describes, and its functions.
 *
 * Paths and options are never NULL here; *bodies is NULL on entry, and may hold bodies for the
 * caller to free after a failure. The thread's locale is "C" meanwhile. */
struct format {
    const char *name;
    const char *extensions; /* space-separated, without dots */
    const char *description;
    const struct frame_functions *frames;  /* several in a file: read inspects options->frame */
    const struct stream_functions *stream; /* to read some rows at a time; or NULL */
    const char *lacks;                     /* why read and write are NULL, or NULL */

    /* Messages omit the path: kith_bodies_read puts it before them, and checks that all
     * numbers are finite. */
    kith_status (*read)(const char *path, const kith_read_options *options, kith_bodies **bodies);

    /* Messages name the path, as those of io/output.h do. The bodies are checked already. */
    kith_status (*write)(const kith_bodies *bodies, const char *path,
                         const kith_write_options *options);

    /* The kith_column flags that a file of these bodies would keep. */
    unsigned (*holds)(const kith_bodies *bodies);

    /* Whether the content is of this format; NULL if the extension alone decides. Formats that
     * have this function share their extensions when reading. False if the file cannot be read. */
    bool (*recognizes)(const char *path);
};

/* A path that does not exist may be the base name of a snapshot.
 *   found  [out] on the heap; NULL: the path itself is to be read */
kith_status format_find_file(const char *path, char **found);

/* The row of the format that a file is read as, or written as. */
kith_status format_to_read(const char *path, const kith_read_options *options,
                           const struct format **format);
/* Whether a file of the format has this frame and system, as far as the format has them. */
kith_status format_check_options(const char *path, const struct format *format,
                                 const kith_read_options *options);
kith_status format_to_write(const char *path, const kith_write_options *options,
                            const struct format **format);

/* Whether kith_bodies_read of this path (format: a name, or NULL) reads this regular file, itself
 * or as one of several. */
bool bodies_are_read_from(const char *path, const char *format, const struct stat *file);

enum {
    all_columns = KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING | KITH_RADIUS |
                  KITH_EPSILON | KITH_SIGMA | KITH_ID | KITH_NAME
};

kith_status csv_read(const char *path, const kith_read_options *options, kith_bodies **bodies);
kith_status csv_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options);
unsigned csv_holds(const kith_bodies *bodies);

kith_status xyz_read(const char *path, const kith_read_options *options, kith_bodies **bodies);
kith_status xyz_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options);
unsigned xyz_holds(const kith_bodies *bodies);

kith_status xyz_count(const char *path, int64_t *frames);
kith_status xyz_visit(const char *path, const kith_read_options *options, int64_t first,
                      int64_t count, visit_frame *visit, void *state);

kith_status npy_read(const char *path, const kith_read_options *options, kith_bodies **bodies);
kith_status npy_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options);
unsigned npy_holds(const kith_bodies *bodies);

kith_status tipsy_read(const char *path, const kith_read_options *options, kith_bodies **bodies);
kith_status tipsy_write(const kith_bodies *bodies, const char *path,
                        const kith_write_options *options);
unsigned tipsy_holds(const kith_bodies *bodies);

/* Only in builds with HDF5 (KITH_HAS_HDF5). */
kith_status gadget_read(const char *path, const kith_read_options *options, kith_bodies **bodies);
kith_status gadget_write(const kith_bodies *bodies, const char *path,
                         const kith_write_options *options);
unsigned gadget_holds(const kith_bodies *bodies);
bool hdf5_looks_like_gadget(const char *path); /* has /Header and a /PartTypeN */

kith_status h5md_read(const char *path, const kith_read_options *options, kith_bodies **bodies);
kith_status h5md_write(const kith_bodies *bodies, const char *path,
                       const kith_write_options *options);
unsigned h5md_holds(const kith_bodies *bodies);
bool hdf5_looks_like_h5md(const char *path); /* has /h5md */

#endif
