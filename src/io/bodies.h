#ifndef IO_BODIES_H
#define IO_BODIES_H

#include "core/status.h"
#include "kith/bodies.h"

/* Changes the number of bodies: existing ones stay, new ones are zeros. For readers that know the
 * number only at the end: they double it, starting with at least 1 (without bodies there are no
 * columns). Errors: KITH_OUT_OF_MEMORY; the bodies may then only be passed to kith_bodies_free. */
kith_status kith_bodies_resize(kith_bodies *bodies, int64_t count);

/* The kith_column flags of the existing columns. */
unsigned kith_bodies_columns(const kith_bodies *bodies);

/* A body whose coordinates are all NaN was removed in the course of a run. drop_removed removes the
 * rows of such bodies. Errors: KITH_OUT_OF_MEMORY, as kith_bodies_resize. */
bool bodies_is_removed(const kith_bodies *bodies, int64_t row);
kith_status bodies_drop_removed(kith_bodies *bodies);

/* Another with the same columns, without other columns. Errors: KITH_OUT_OF_MEMORY. */
kith_status bodies_copy(const kith_bodies *bodies, kith_bodies **copy);

/* Some of the bodies, in the memory of all, without other columns; not to be freed or resized. */
kith_bodies bodies_rows(const kith_bodies *bodies, int64_t first, int64_t count);

/* Copies the time, the cell and the units. */
void bodies_take_frame(const kith_bodies *from, kith_bodies *to);

/* Copies some of the bodies, from first on, to rows: as many as these are, and their columns. */
void bodies_put_rows(const kith_bodies *bodies, int64_t first, kith_bodies *rows);

/* kith_bodies_check of the bodies that are left. */
kith_status bodies_check_left(const kith_bodies *bodies);

/* Adds a column of zeros to bodies->other. Errors: KITH_OUT_OF_MEMORY. */
kith_status kith_bodies_add_other(kith_bodies *bodies, const char *name);

/* Which of names, NULL-ended or NULL, a name is; −1: none. */
int32_t bodies_find_name(const char *const *names, const char *name);

#endif
