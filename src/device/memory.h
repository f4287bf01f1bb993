#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array's memory is where its label says: asked of the context's device, which may know
 * (device/services.h). For every array that a public function takes. Arrays without elements or
 * data are fine. Fails with KITH_INVALID_ARGUMENT. */
kith_status kith_check_memory(const kith_context *context, kith_array array, const char *name);

#ifdef __cplusplus
}
#endif

#endif
