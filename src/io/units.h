#ifndef IO_UNITS_H
#define IO_UNITS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/status.h"
#include "kith/bodies.h"

/* Whether there is anything to keep: a G other than 1, or a name. */
bool units_are_known(const kith_units *units);

/* Errors: KITH_INVALID_ARGUMENT (a G that is not finite, a name with a character that it must not
 * have or without a final zero). */
kith_status units_check(const kith_units *units);

/* Keeps a name, or none if it is no name of a unit. */
void units_set_name(kith_name name, const char *text);

/* In text files: gravitational_constant=0.00029591220828559115 units="AU,day,Msun", on one line, of
 * which G or the names may be missing. */
void units_write(FILE *stream, const kith_units *units);

/* Takes one of the two; other keys, and units that are not three names, are left alone. Errors:
 * KITH_BAD_FORMAT (a G that is not a finite number other than 0). */
kith_status units_take(const char *key, char *value, kith_units *units);

/* Takes a comment, without its #, if it begins with one of the two; changes it. */
kith_status units_take_comment(char *comment, kith_units *units);

#endif
