#ifndef RANKS_NCCL_H
#define RANKS_NCCL_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/context.h"

/* Exchange between the GPUs of the ranks by NCCL, which is opened at run time (libnccl.so.2). */

/* Collective, before a gather of this number of bytes: whether NCCL does it. That is so as soon as
 * the gathers before it have carried 1 GiB, which takes about as long by way of the host as it
 * takes NCCL to begin, if all ranks find the library and each has a GPU of its own. */
bool ranks_nccl_is_used(kith_context *context, int64_t bytes);

/* Collective, where that is so: of an array in the device's memory of which rank k has the
 * elements first[k] to first[k + 1] − 1, all come to all, in the order of the stream. Errors:
 * KITH_INTERNAL_ERROR (NCCL's). */
kith_status ranks_nccl_gather(kith_context *context, void *data, int64_t element_bytes,
                              const int64_t *first);

#endif
