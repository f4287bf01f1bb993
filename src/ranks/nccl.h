#ifndef RANKS_NCCL_H
#define RANKS_NCCL_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/context.h"
#include "ranks/device_parts.h"

/* Exchange between the GPUs of the ranks by NCCL, which is opened at run time (libnccl.so.2). */

/* Collective, before an exchange of this number of bytes, the same on all ranks: whether NCCL does
 * it. That is so as soon as the exchanges before it have carried 1 GiB, which takes about as long
 * by way of the host as it takes NCCL to begin, if all ranks find the library, 2.7 or later, and
 * each has a GPU of its own. */
bool ranks_nccl_is_used(kith_context *context, int64_t bytes);

/* Collective, where that is so: of an array in the device's memory of which rank k has the
 * elements first[k] to first[k + 1] − 1, all come to all, in the order of the stream. The ranks
 * agree that the operations of each have begun; if one fails to begin, all abort theirs, and NCCL
 * is not used again.
 *
 * An error that ends a rank's stream later leaves the others waiting in theirs: it has to end the
 * job. To free a context aborts what it still sends: all ranks synchronize before. Errors:
 * KITH_INTERNAL_ERROR (NCCL's), those of ranks_agree. */
kith_status ranks_nccl_gather(kith_context *context, void *data, int64_t element_bytes,
                              const int64_t *first);

/* Collective, where that is so: sends and receives all messages, in the order of the stream.
 * Errors: the same. */
kith_status ranks_nccl_exchange(kith_context *context, const struct ranks_device_message *messages,
                                int32_t count);

#endif
