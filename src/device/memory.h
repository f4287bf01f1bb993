#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks that an array's memory is on the device of its label, if the context's device can
 * determine it (device/services.h). For every array argument of a public function. Arrays without
 * elements or data are allowed. Errors: KITH_INVALID_ARGUMENT. */
kith_status kith_check_memory(const kith_context *context, const kith_array *array,
                              const char *name);

#ifdef __cplusplus
}
#endif

#endif
