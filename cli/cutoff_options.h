#ifndef CLI_CUTOFF_OPTIONS_H
#define CLI_CUTOFF_OPTIONS_H

#include "cell_options.h"

/* --cutoff, --shift, --tail and the options of a cell. */
struct cutoff_options {
    double cutoff; /* 0: all pairs */
    kith_shift shift;
    bool tail;
    bool has_images; /* the solver is one of a periodic cell, which needs no cutoff */
    struct cell_options cell;
};
extern const struct parser cutoff_parser;

/* Gives the bodies the cell of the options, if there is one. Fails if they are periodic without a
 * cutoff or a solver with images. Returns an exit code. */
int cutoff_take_cell(const char *command, const struct cutoff_options *options, const char *path,
                     kith_bodies *bodies);

/* The bodies' cell as forces take it. */
void cutoff_cell_of(const kith_bodies *bodies, kith_cell *cell);

#endif
