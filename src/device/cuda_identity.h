#ifndef DEVICE_CUDA_IDENTITY_H
#define DEVICE_CUDA_IDENTITY_H

#include "core/status.h"
#include "kith/context.h"

/* The 16 bytes by which the context's GPU differs from all others in the world. Errors:
 * KITH_INTERNAL_ERROR (CUDA's). */
kith_status cuda_identify(const kith_context *context, char identity[16]);

#endif
