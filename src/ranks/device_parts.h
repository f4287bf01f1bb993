#ifndef RANKS_DEVICE_PARTS_H
#define RANKS_DEVICE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Work of ranks that compute on devices with memory of their own: parts that come to all, and
 * messages between two ranks, by NCCL (ranks/nccl.h) or the message library. Where all ranks' takes
 * memory of GPUs, arrays are copied on the device into memory that it can share with other
 * processes, kept by the context, as long as the array of a gather or all messages of an exchange;
 * else into such memory of the host. For C and for CUDA. */

/* Collective: KITH_OK if the status of all ranks is that and none of them is to be cancelled. A
 * rank that has failed gets its own status; the others then get KITH_IO_ERROR, and
 * ranks->failed_elsewhere is set. If kith_context_cancel was called on any rank, all are cancelled
 * now and get KITH_CANCELLED, unless the context continues regardless. For a single process: the
 * status. */
kith_status ranks_agree(kith_context *context, kith_status status);

/* The number of this rank and of all; false, 0 and 1 for a single process. */
bool ranks_device_share(const kith_context *context, int32_t *index, int32_t *count);

/* Collective: of an array of which rank k has the elements first[k] to first[k + 1] − 1 (size + 1
 * numbers), all come to all. For a single process: nothing. */
void ranks_gather_parts(const kith_context *context, void *data, int64_t element_bytes,
                        const int64_t *first);

/* Collective: of an array in the device's memory whose elements ranks_first divides, those of each
 * rank come to all. status is that of this rank's work. Waits for that work.
 *
 * Errors: those of ranks_agree, of ranks_nccl_gather, the services' of copies; KITH_OUT_OF_MEMORY.
 */
kith_status ranks_gather_on_device(kith_context *context, kith_status status, void *data,
                                   int64_t elements, int64_t element_bytes);

/* Collective: the same of an array of which rank k has the elements first[k] to first[k + 1] − 1.
 */
kith_status ranks_gather_parts_on_device(kith_context *context, kith_status status, void *data,
                                         int64_t element_bytes, const int64_t *first);

/* Memory of the device that is sent to a rank, or received from it. */
struct ranks_device_message {
    void *data;
    int64_t bytes;
    int32_t rank, tag;
    bool is_sent;
};

/* Collective: sends and receives all messages. Both ranks of a pair list those from one to the
 * other in the same order. status is that of this rank's work. By NCCL they go in the order of the
 * stream, and nothing waits; else waits for that work.
 *
 * Errors: those of ranks_agree, of ranks_nccl_exchange, the services' of copies;
 *         KITH_OUT_OF_MEMORY. */
kith_status ranks_exchange_on_device(kith_context *context, kith_status status,
                                     const struct ranks_device_message *messages, int32_t count);

/* Collective: elements first_sent[k] … first_sent[k + 1] − 1 of an array in the device's memory go
 * to rank k, and those from first_received[k] on of another come from it (size + 1 numbers each);
 * this rank's own are copied in the order of the stream. Errors: the same. */
kith_status ranks_exchange_parts_on_device(kith_context *context, kith_status status, int32_t tag,
                                           int64_t element_bytes, const int64_t *first_sent,
                                           const void *sent, const int64_t *first_received,
                                           void *received);

/* Collective: two counts, replaced by their sums over all ranks. */
void ranks_add_counts(const kith_context *context, int64_t *first, int64_t *second);

#ifdef __cplusplus
}
#endif

#endif
