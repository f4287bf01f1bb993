#ifndef IO_BODIES_H
#define IO_BODIES_H

#include "core/status.h"
#include "kith/bodies.h"
#include "particles/bodies.h"

/* A body whose coordinates are all NaN was removed in the course of a run. drop_removed removes the
 * rows of such bodies. Errors: KITH_OUT_OF_MEMORY, as kith_bodies_resize. */
bool bodies_is_removed(const kith_bodies *bodies, int64_t row);
kith_status bodies_drop_removed(kith_bodies *bodies);

/* kith_bodies_check of the bodies that are left. */
kith_status bodies_check_left(const kith_bodies *bodies);

/* kith_bodies_check of some of the bodies, the first of which is body `first` in messages. */
kith_status bodies_check_rows(const kith_bodies *rows, int64_t first);

/* Which of names, NULL-ended or NULL, a name is; −1: none. */
int32_t bodies_find_name(const char *const *names, const char *name);

#endif
