#ifndef CORE_ARGUMENTS_H
#define CORE_ARGUMENTS_H

#include "core/status.h"
#include "kith/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What every public function checks first, so that a wrong call is reported and does
 * not end the process. All fail with KITH_INVALID_ARGUMENT. */

/* A pointer that the function follows is not NULL. */
kith_status kith_check_pointer(const void *pointer, const char *name);

/* The elements of an array have addresses: sizes are not negative, and sizes times strides are
 * nothing that no memory has, so that offsets into it do not overflow. The absent array is fine. */
kith_status kith_check_extent(kith_array array, const char *name);

#ifdef __cplusplus
}
#endif

#endif
