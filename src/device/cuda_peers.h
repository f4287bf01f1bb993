#ifndef DEVICE_CUDA_PEERS_H
#define DEVICE_CUDA_PEERS_H

#include "device/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The other GPUs of a context (kith_context_add_peers), each with a context of its own. */
kith_status cuda_add_peers(kith_context *context, const int32_t *indices, int32_t count);

/* Their number; 0 while the caller captures the context's stream: one device then does all of the
 * work, and results must not depend on that.
 *
 * Errors: KITH_UNSUPPORTED while kith records, which then continues without a recording. */
kith_status cuda_count_peers(kith_context *context, int32_t *count);

/* KITH_UNSUPPORTED while kith records: work that waits for the device on the host cannot be. */
kith_status cuda_check_not_recording(kith_context *context);

/* The part of one device in a work that all share: part `index` of `count`. Part 0 is that of the
 * context itself, the leader. */
struct cuda_part {
    kith_context *leader, *context;
    int32_t index, count;
    bool is_alone; /* while this part is at work, others are not: it must not wait for them */
};
typedef kith_status cuda_work(const struct cuda_part *part, void *argument);

/* Calls work once for each device, which is the thread's current one then: those of the peers
 * first, in the calling thread, or, if the work waits for its device, in a thread for each peer
 * beside that of the leader. A peer without a thread, if none could be started, is alone: it works
 * first. Streams of peers wait for all work of the leader so far before, and the leader's waits for
 * all of them after: memory of the leader that peers read or write is free again then, in the order
 * of its stream.
 *
 * Errors: those of work, of the first device that has failed, after all have returned;
 *         KITH_CANCELLED in all parts if the leader is cancelled. */
kith_status cuda_share(kith_context *context, bool waits, cuda_work *work, void *argument);

/* Copies from memory of the leader's device to the part's and back, on the part's stream. */
kith_status cuda_copy_to_part(const struct cuda_part *part, void *to, const void *from,
                              int64_t bytes);
kith_status cuda_copy_from_part(const struct cuda_part *part, void *to, const void *from,
                                int64_t bytes);

/* Device k of a context: 0 is its own, the others are its peers. */
kith_context *cuda_device_of(kith_context *context, int32_t k);

/* Whether kernels on each device of a context may use the memory of all others. */
bool cuda_peers_are_direct(kith_context *context);

/* The streams of all devices of a context wait for all work on all of them so far. */
kith_status cuda_wait_for_all(kith_context *context);

/* Copies between devices of a context, on the stream of the one that it is from. */
kith_status cuda_copy_between(kith_context *to, void *there, kith_context *from, const void *here,
                              int64_t bytes);

/* From memory of peer k, from 0, to the context's, on the context's stream: after cuda_share. */
kith_status cuda_copy_from_peer(kith_context *context, int32_t k, void *to, const void *from,
                                int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
