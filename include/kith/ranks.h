#ifndef KITH_RANKS_H
#define KITH_RANKS_H

#include <stdbool.h>

#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of batches of exchanges, each completed by its own wait: those of one part of the work
 * proceed while the next part is computed. */
#define KITH_MESSAGE_BATCHES 2

/* Maximum number of values of one post_maximum. */
#define KITH_MESSAGE_VALUES 3

/* The functions that kith needs of a library that passes messages between the processes of a job
 * (its ranks), with the corresponding functions of MPI. Memory is on the host, except where
 * takes_device_memory returns true, and buffers belong to the caller: receive and collective
 * functions write into them. Each rank calls all functions from the thread that called kith. They
 * return no errors: a library that fails must end the job (MPI_Abort).
 *
 * post_send, post_receive
 *          Begin to send or receive bytes (MPI_Isend, MPI_Irecv): the memory belongs to the library
 *          until wait(batch). Messages with the same tag between two ranks arrive in the order in
 *          which they were sent. 0 <= batch < KITH_MESSAGE_BATCHES; tags are not negative.
 * post_maximum
 *          Collective: begins to replace each of count <= KITH_MESSAGE_VALUES values by its maximum
 *          over all ranks, which is there after wait(batch) (MPI_Iallreduce, MPI_MAX).
 * progress Lets what was posted go on; called between pieces of work (MPI_Iprobe, MPI_Test).
 * wait     Completes everything posted in a batch (MPI_Waitall).
 * broadcast
 *          Collective: broadcasts bytes of rank 0 (MPI_Bcast).
 * gather   Collective: of an array that all ranks have, rank k's elements, first[k] to
 *          first[k + 1] - 1, come to all (MPI_Allgatherv in place).
 * add      Collective: replaces each value by its sum over all ranks, modulo 2^64
 *          (MPI_Allreduce, MPI_SUM).
 * takes_device_memory
 *          Whether post_send and post_receive take memory of a GPU, too, that cudaMalloc allocated
 *          and no kernel is using (MPIX_Query_cuda_support); NULL: they do not. If this is so on
 *          all ranks, arrays of GPUs are exchanged without copies on the host. */
typedef struct kith_messages {
    const char *name; /* "MPI" */
    void (*post_send)(void *state, int32_t batch, int32_t to, int32_t tag, const void *data,
                      int64_t bytes);
    void (*post_receive)(void *state, int32_t batch, int32_t from, int32_t tag, void *data,
                         int64_t bytes);
    void (*post_maximum)(void *state, int32_t batch, int64_t *values, int32_t count);
    void (*progress)(void *state);
    void (*wait)(void *state, int32_t batch);
    void (*broadcast)(void *state, void *data, int64_t bytes);
    void (*gather)(void *state, void *data, int64_t element_bytes, const int64_t *first);
    void (*add)(void *state, unsigned long long *values, int64_t count);
    bool (*takes_device_memory)(void *state);
} kith_messages;

/* Makes a context that of one rank of a job, for its lifetime: forces and simulations then divide
 * their work on pairs among the ranks; solvers and integrators that do not support this are
 * refused. All other functions compute the same on every rank.
 *
 * Every rank makes the same calls with the same arguments. All get the results, which have the bits
 * of one process for every number of ranks. All use the best instruction set that all of them have,
 * and the tuning of rank 0. If a call fails on one rank, the others get KITH_IO_ERROR; if one is
 * cancelled, all are. A rank that cannot continue must end the job (MPI_Abort), because the others
 * would wait for it.
 *
 *   context   not yet part of a job; on the CPU, or each on a GPU of one kind: those divide what
 *             the peers of a context do (below); each computes all other work
 *   messages  the library's functions, and state, their first argument: both must exist as long as
 *             the context
 *   size      the number of ranks, at least 1
 *   rank      which of them this is, 0 to size - 1
 *
 * Collective. Errors: KITH_INVALID_ARGUMENT (a function is NULL; size or rank is out of range; the
 * context is part of a job), KITH_UNSUPPORTED (the contexts are on devices of several kinds),
 * KITH_OUT_OF_MEMORY. The bytes and messages of each solver are in docs/howto/cluster.md. */
KITH_API kith_status kith_context_join(kith_context *context, const kith_messages *messages,
                                       void *state, int32_t size, int32_t rank);

/* Further GPUs that share the work of a context, without MPI. Arrays and results are on the
 * context's own device; every call is made once, by one thread.
 *
 * They share the solver direct for gravity and laws of the table where each pair is summed once,
 * with one softening (from about 61 000 bodies in double precision and 123 000 in single on), the
 * solvers tree and fmm, and runs within a cutoff in a periodic cell by a law of the table (both
 * from 524 288 on). All other work is that of the context's own device, as all work is while the
 * caller captures its stream. Results have the bits of one GPU.
 *
 *   context  on a GPU, without peers; they are freed with it
 *   peers    indices of GPUs of the same kind, k of cuda:k; an index may be repeated, and may be
 *            that of the context's own device, which then does several parts
 *   count    0 to 63; 0: nothing is done
 *
 * Errors: KITH_INVALID_ARGUMENT (count is out of range, peers is NULL, the context has peers),
 *         KITH_NO_DEVICE (one does not exist), KITH_UNSUPPORTED (the context is on the CPU; one is
 *         of another kind than the context's), KITH_OUT_OF_MEMORY. The context is then as before.
 * Cost:   memory on a peer is that of the context's own device for the same work. */
KITH_API kith_status kith_context_add_peers(kith_context *context, const int32_t *peers,
                                            int32_t count);

#ifdef __cplusplus
}
#endif

#endif
