#ifndef IO_XYZ_COMMENT_H
#define IO_XYZ_COMMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "kith/io.h"

/* A property of an atom that kith keeps. */
struct xyz_property {
    const char *name, *aliases; /* the name is written, the space-separated aliases are read too */
    char type;                  /* S, R or I */
    int32_t width;              /* columns of the file */
    unsigned flag;              /* kith_column; 0 for positions */
    size_t offset;              /* of the pointer in kith_bodies */
};

enum { xyz_property_count = 10, xyz_max_columns = 256 };

/* In the order in which they are written. */
extern const struct xyz_property xyz_properties[xyz_property_count];

/* Names that are not chemical symbols, in a column of their own: readers of atoms refuse them as
 * species. */
extern const struct xyz_property xyz_names;

/* Whether a name is the symbol of an element, or X for none: what a species column may hold. */
bool xyz_is_symbol(const char *name);

/* The second line of a frame: key=value pairs, of which kith takes Lattice, pbc, Properties, Time,
 * dimensions, gravitational_constant and units. A line with neither Lattice nor Properties is free
 * text, and the columns then are species and position. */
struct xyz_comment {
    bool has_lattice, has_pbc, pbc[3];
    double lattice[9];
    double time;
    kith_units units;
    int32_t dimensions;
    unsigned flags; /* kith_column */
    bool without_velocities;
    bool has_momenta; /* the velocities' columns are momenta, as ASE writes them */
    int32_t columns;
    struct {
        const struct xyz_property *property; /* NULL: of `other`, or skipped */
        int32_t component;
        int32_t other; /* 1 + which of other */
    } column[xyz_max_columns];
    const char *const *wanted; /* kith_read_options' other_columns */
    int32_t other_count;
    const char *other[KITH_MAX_OTHER_COLUMNS]; /* names of the caller's */
};

/* Parses the line, which it changes, with the options without_velocities and other_columns. Errors:
 * KITH_BAD_FORMAT; messages omit the line. */
kith_status xyz_comment_parse(char *line, const kith_read_options *options,
                              struct xyz_comment *comment);

#endif
