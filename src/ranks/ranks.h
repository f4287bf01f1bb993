#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include <stdbool.h>

#include "core/status.h"
#include "device/context.h"
#include "kith/ranks.h"
#include "ranks/device_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The processes that do one job together, as one of them sees it.
 *
 * Every rank makes the same calls with the same arguments and has the same state: what is divided
 * is the work on pairs, whose results come to all. Control flow is therefore the same on all ranks;
 * local events (a signal, an error, a clock) may change it only through ranks_agree. */
struct ranks {
    const kith_messages *library;
    void *state; /* the library's */
    int32_t size, rank;
    int64_t *first;        /* size + 1, room for a gather */
    bool failure_is_known; /* to all: in a vote, a rank had failed */
    bool failed_elsewhere; /* and not this one */
    int64_t gathered;      /* bytes of arrays on devices */
    double copied;         /* seconds of copies of them, and in NCCL */
    bool nccl_was_tried, nccl_is_used;
    const char *why_not_nccl; /* after it was tried, if it is not used */
    bool takes_device_memory; /* on all ranks, the library */
};

/* Makes a context that of one rank of a job, for its lifetime; ranks must exist as long.
 * Collective: all ranks then compute with the best instruction set that all of them have, and with
 * the tuning of rank 0. Errors: those of ranks_agree; KITH_UNSUPPORTED (devices of several kinds).
 */
kith_status ranks_join(kith_context *context, struct ranks *ranks);

/* Whether this rank reads and writes files; true for a single process. */
static inline bool ranks_are_first(const kith_context *context)
{
    return !context->ranks || context->ranks->rank == 0;
}

/* A vote of all ranks: whether any has failed, whether any is to be cancelled, and the maximum of a
 * value. Each member is replaced by the result over all ranks. */
struct ranks_vote {
    int64_t failed, stops, value;
};
void ranks_take_vote(const struct ranks *ranks, struct ranks_vote *vote);

/* As ranks_agree, and *value is replaced by its maximum over all ranks. */
kith_status ranks_agree_on(kith_context *context, kith_status status, int64_t *value);

/* Collective: broadcasts bytes of rank 0. For a single process: nothing. */
void ranks_broadcast(const kith_context *context, void *data, int64_t bytes);

/* Collective: each value is replaced by its sum over all ranks, modulo 2^64. For a single process:
 * nothing. */
void ranks_add(const kith_context *context, unsigned long long *values, int64_t count);

/* Collective: each of at most KITH_MESSAGE_VALUES values is replaced by its maximum over all ranks.
 * NaN counts as larger or, with a sign, as smaller than all numbers, on all ranks alike. Of one
 * process: nothing. */
void ranks_maximum(const kith_context *context, double *values, int32_t count);

/* Collective: work is done on a state (`bytes` long) by one rank after the other: it comes from the
 * rank before, and that of the last one to all. For a single process: work alone. */
typedef void ranks_work(void *argument, void *state);
void ranks_in_turn(const kith_context *context, ranks_work *work, void *argument, void *state,
                   int64_t bytes);

/* Collective: elements of an array, in parts of `part` of them (the last may be shorter) that are
 * dealt as ranks_first says, come from the ranks that have them to all. For a single process:
 * nothing. */
void ranks_gather(const kith_context *context, void *data, int64_t element_bytes, int64_t count,
                  int64_t part);

/* Begins to send bytes to another rank, or, with sent NULL, to receive them from it: in messages as
 * long as the library takes, of batch 0, which the library's wait completes. */
void ranks_post(const struct ranks *ranks, int32_t other, int32_t tag, const char *sent,
                char *received, int64_t bytes);

/* Collective: elements that are dealt in parts of `part_before` (ranks_first_element), of which
 * each rank has its own, come to those to whom they are dealt in parts of `part_after`. The
 * memories do not overlap. For a single process: a copy. */
void ranks_divide_again(const kith_context *context, int64_t count, int64_t element_bytes,
                        int64_t part_before, const void *before, int64_t part_after, void *after);

#ifdef __cplusplus
}
#endif

#endif
