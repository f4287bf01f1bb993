#ifndef PARTICLES_BODIES_H
#define PARTICLES_BODIES_H

#include <stddef.h>

#include "kith/bodies.h"

/* The memory of bodies: the table of their columns, and rows of them. */

/* A column of kith_bodies; the first is the positions, which all bodies have. */
struct bodies_column {
    const char *name;
    unsigned flag; /* kith_column; 0: positions */
    bool is_real;  /* of numbers of type double */
    bool is_vector;
    size_t offset; /* of the pointer in kith_bodies */
    int64_t bytes; /* of one element */
};

enum { bodies_column_count = 10 };
extern const struct bodies_column bodies_columns[bodies_column_count];

/* The memory of a column; NULL where absent. */
void *bodies_column(const kith_bodies *bodies, const struct bodies_column *column);
void bodies_set_column(kith_bodies *bodies, const struct bodies_column *column, void *memory);

/* Bytes of a row of a column. */
int64_t bodies_row_bytes(const kith_bodies *bodies, const struct bodies_column *column);

/* The kith_column flags of the existing columns. */
unsigned kith_bodies_columns(const kith_bodies *bodies);

/* Changes the number of bodies: existing ones stay, new ones are zeros. For readers that know the
 * number only at the end: they double it, starting with at least 1 (without bodies there are no
 * columns). Errors: KITH_OUT_OF_MEMORY; the bodies may then only be passed to kith_bodies_free. */
kith_status kith_bodies_resize(kith_bodies *bodies, int64_t count);

/* Adds a column of zeros to bodies->other. Errors: KITH_OUT_OF_MEMORY. */
kith_status kith_bodies_add_other(kith_bodies *bodies, const char *name);

/* Another with the same columns, without other columns. Errors: KITH_OUT_OF_MEMORY. */
kith_status bodies_copy(const kith_bodies *bodies, kith_bodies **copy);

/* Zeros with the columns, the time, the cell and the units of others, without other columns.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status bodies_make_like(const kith_bodies *like, int64_t count, kith_bodies **bodies);

/* Copies the time, the cell and the units. */
void bodies_take_frame(const kith_bodies *from, kith_bodies *to);

/* Some of the bodies, in the memory of all, without other columns; not to be freed or resized. */
kith_bodies bodies_rows(const kith_bodies *bodies, int64_t first, int64_t count);

/* Copies some of the bodies, from first on, to rows: as many as these are, and their columns. */
void bodies_put_rows(const kith_bodies *bodies, int64_t first, kith_bodies *rows);

#endif
