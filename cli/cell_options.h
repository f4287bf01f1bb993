#ifndef CLI_CELL_OPTIONS_H
#define CLI_CELL_OPTIONS_H

#include "options.h"

/* --box, --cell and --periodic. */
struct cell_options {
    double numbers[9];
    int count;
    bool is_box;
    const char *periodic;
};
extern const struct parser cell_parser;

/* The cell of the options or else the bodies'; *found is false if neither has one. Returns an
 * exit code. */
int cell_choose(const char *command, const struct cell_options *options, const kith_bodies *bodies,
                kith_cell *cell, bool *found);

#endif
