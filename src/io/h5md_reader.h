#ifndef IO_H5MD_READER_H
#define IO_H5MD_READER_H

#include <hdf5.h>

#include "core/status.h"
#include "kith/bodies.h"
#include "kith/simulation.h"

/* An H5MD file open for reading, of kith or another program: its one group under /particles, or the
 * one called trajectory. Messages omit the path. */
struct h5md_reader {
    hid_t file, particles;
    int64_t count;      /* N; of an ensemble the bodies of all systems, or of the chosen one */
    int64_t rows;       /* in the file: of all systems */
    int64_t first_row;  /* of the chosen system, else 0 */
    bool is_ensemble;   /* of kith */
    int64_t systems;    /* M; 1 unless an ensemble */
    int64_t system;     /* the chosen one, or −1 */
    int64_t frames;     /* 1 if the positions are fixed in time */
    int32_t dimensions; /* 2 or 3: kith's own 2D files have three components */
    bool fixed;         /* position is a dataset, not a series */
    double *time;       /* of every frame; 0 where the file has none */
    kith_units units;
    kith_event *events; /* what happened to bodies, of kith's runs */
    int64_t event_count;
    int64_t *step; /* of every frame; NULL without events */
};

/* Opens a file.
 *
 *   reader  [out] close with h5md_reader_close, only after success */
kith_status h5md_reader_open(const char *path, struct h5md_reader *reader);
void h5md_reader_close(struct h5md_reader *reader);

/* From now on the reader sees one system of an ensemble; of a single run that is system 0.
 * Errors: KITH_INVALID_ARGUMENT: the system does not exist. */
kith_status h5md_reader_choose_system(struct h5md_reader *reader, int64_t system);

/* The kith_column flags of what a frame holds. */
unsigned h5md_reader_columns(const struct h5md_reader *reader);

/* Reads frame k (0 ≤ k < frames) into bodies made with count, dimensions and columns. */
kith_status h5md_reader_frame(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies);

/* Reads rows of `width` numbers of frame k: N × width. A column may be one number for all. */
kith_status h5md_read_reals(const struct h5md_reader *reader, const char *name, int64_t frame,
                            int32_t width, double *rows);

/* Reads a column of integers of frame k. */
kith_status h5md_read_integers(const struct h5md_reader *reader, const char *name, int64_t frame,
                               int64_t *rows);

#endif
