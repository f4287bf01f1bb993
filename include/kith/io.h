#ifndef KITH_IO_H
#define KITH_IO_H

#include "kith/bodies.h"
#include "kith/context.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file format for bodies: a row of the table that kith_format_list returns. */
typedef struct kith_format {
    const char *name;        /* "csv", "xyz", "npy", "tipsy", "gadget", "h5md" */
    const char *extensions;  /* space-separated, without dots: "h5 h5md" */
    const char *description; /* one line */
    bool reads, writes;      /* supported by this build */
    const char *lacks;       /* the reason if not supported, else NULL: "this build has no HDF5" */
} kith_format;

/* The table of formats; *count rows, static memory. */
KITH_API const kith_format *kith_format_list(int64_t *count);

typedef struct kith_read_options {
    const char *format; /* a format's name; NULL: by the extension (and the content of .h5) */
    /* Frame of a file with several: 0 the last, k > 0 the k-th (from 1), −k from the end. */
    int64_t frame;
    int64_t system;          /* of an ensemble in H5MD (kith/ensemble.h), from 0 */
    bool system_given;       /* required if the file has several systems */
    bool without_velocities; /* velocities are not needed: momenta without masses are then no error
                              */
    /* Names of further columns to keep, if they are in the CSV or extended XYZ file,
     * NULL-terminated; at most KITH_MAX_OTHER_COLUMNS. Any other unknown column is then skipped,
     * also in CSV files, where it is an error otherwise. NULL: none. */
    const char *const *other_columns;
    kith_poll *poll; /* called every 0.05 s by the text formats, cancels if it returns true; NULL */
    void *poll_user; /* its argument */
} kith_read_options;

/* Reads bodies from a file.
 *
 *   path     the file; of a Gadget snapshot of several files BASE.0.hdf5, BASE.1.hdf5, … any of
 *            them, or BASE: all are read
 *   options  NULL for the defaults
 *   bodies   [out] owned by the caller; free with kith_bodies_free; NULL on failure
 *
 * Errors: KITH_IO_ERROR, KITH_BAD_FORMAT (the message names file, line or offset, and the error),
 *         KITH_UNSUPPORTED (this build has no HDF5), KITH_INVALID_ARGUMENT (unknown extension or
 *         format; the frame does not exist), KITH_OUT_OF_MEMORY, KITH_CANCELLED. NaN and infinity
 * are KITH_BAD_FORMAT. Cost: one pass over the file. */
KITH_API kith_status kith_bodies_read(const char *path, const kith_read_options *options,
                                      kith_bodies **bodies);

typedef struct kith_write_options {
    const char *format; /* a format's name; NULL: by the extension */
    const char *const
        *arguments;  /* the command line, recorded if the format can store it; NULL-terminated */
    kith_poll *poll; /* called every 0.05 s by the text formats, cancels if it returns true; NULL */
    void *poll_user; /* its argument */
} kith_write_options;

/* Writes bodies to a file: under a temporary name in the same directory, then renamed, so that the
 * file is complete or absent, and an existing file remains until then. A path that is not a regular
 * file (a pipe, /dev/stdout) is written in place. Reals are written with as many digits, at most
 * 17, as reproduce their bits when read.
 *
 * Columns that the format cannot store are left out; kith_format_drops returns them.
 *
 * Errors: KITH_IO_ERROR, KITH_UNSUPPORTED, KITH_INVALID_ARGUMENT (unknown extension or format;
 *         numbers not finite), KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
KITH_API kith_status kith_bodies_write(const kith_bodies *bodies, const char *path,
                                       const kith_write_options *options);

/* The columns (kith_column flags) of these bodies that the format of path cannot store, KITH_CELL
 * included if it cannot store their cell, and KITH_UNITS if it cannot store their G (other than 1)
 * or names of units. */
KITH_API kith_status kith_format_drops(const kith_bodies *bodies, const char *path,
                                       const kith_write_options *options, unsigned *columns);

#ifdef __cplusplus
}
#endif

#endif
