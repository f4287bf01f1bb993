#ifndef SUMS_NAMES_CUDA_H
#define SUMS_NAMES_CUDA_H

#include "core/status.h"
#include "kith/context.h"

/* The name of a column of targets or sources, "targets.mass", which the context keeps: an error
 * that a kernel finds is reported after the call. Errors: KITH_OUT_OF_MEMORY. */
kith_status sums_name_cuda(kith_context *context, const char *side, const char *column,
                           const char **name);

#endif
