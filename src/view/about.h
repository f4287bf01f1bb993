#ifndef VIEW_ABOUT_H
#define VIEW_ABOUT_H

#include <stdio.h>

#include "core/status.h"
#include "kith/bodies.h"
#include "view/place.h"

/* The data that a page gets once: numbers and names as JSON, and columns, which change only as
 * bodies merge or escape. */

enum { about_most_columns = 6 + KITH_MAX_OTHER_COLUMNS, about_most_species = 32 };

struct about_column {
    kith_name name; /* "mass", "charge", "softening", "radius", "id", "species" or another */
    float *values;  /* of the bodies that are shown */
};

struct about {
    struct place place;
    int64_t shown;
    int columns;
    struct about_column column[about_most_columns];
    int species; /* 0: names are absent */
    kith_name species_name[about_most_species];
    char *text; /* JSON */
};

/* Besides the bodies: how many are shown; a title, or NULL; the frames of a trajectory, else 0; the
 * time at which a simulation ends. Free with about_free, also after a failure. */
kith_status about_make(const kith_bodies *bodies, int64_t shown, const char *title, int64_t frames,
                       double until, struct about *about);
/* New masses, charges and radii, of the same number of bodies. */
void about_update(const kith_bodies *bodies, struct about *about);
void about_free(struct about *about);

/* The column of a name, or NULL. */
const struct about_column *about_find(const struct about *about, const char *name);

/* A text as a string of JSON, which may be embedded in HTML, too. */
void about_write_string(FILE *stream, const char *text);

#endif
