#ifndef IO_KEY_VALUES_H
#define IO_KEY_VALUES_H

#include "core/status.h"

/* Calls take with each key=value of a line, which is taken apart in place: a value may be in quotes
 * or braces, words without = are left out. The first failure ends it.
 *
 * Errors: KITH_BAD_FORMAT (a quote that does not close), those of take. */
kith_status key_values_each(char *line,
                            kith_status (*take)(void *user, const char *key, char *value),
                            void *user);

#endif
