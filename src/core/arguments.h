#ifndef CORE_ARGUMENTS_H
#define CORE_ARGUMENTS_H

#include <stddef.h>

#include "core/status.h"
#include "kith/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks at the start of every public function, so that an invalid call is reported and does not
 * end the process. All fail with KITH_INVALID_ARGUMENT. */

/* A pointer that the function follows is not NULL. */
kith_status kith_check_pointer(const void *pointer, const char *name);

/* The shape of an array is valid: sizes are not negative, and sizes times strides fit the address
 * space, so that offsets do not overflow. The absent array is allowed. */
kith_status kith_check_extent(const kith_array *array, const char *name);

/* Zeros in a struct of a call's arguments. Calls take less than a microsecond: the instructions by
 * which compilers clear some hundred bytes in place (rep stos) would be 10 ns of it each. */
void kith_clear(void *arguments, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
