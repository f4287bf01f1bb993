#ifndef RANKS_LIBRARY_H
#define RANKS_LIBRARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exchanges that are waited for apart: those of one part of the work go on while the next part is
 * computed. */
enum { ranks_batches = 2, ranks_values = 3 };

/* What kith needs of a library that passes messages between the ranks of a job: one instance a
 * library. Memory is the host's. All functions are called by one thread of each rank; a library
 * whose communication fails ends the job.
 *
 * post_send, post_receive
 *          Begin to send or receive bytes; the memory belongs to the library until wait(batch).
 *          Messages with the same tag between two ranks arrive in the order in which they were
 *          sent.
 * post_maximum
 *          Collective: begins to replace each of count ≤ ranks_values values by its maximum over
 *          all ranks, which is there after wait(batch).
 * progress Lets what was posted go on; called between pieces of work.
 * wait     Completes everything posted in a batch.
 * broadcast
 *          Collective: bytes of rank 0 come to all.
 * gather   Collective: of an array that all ranks have, rank k's elements, first[k] to
 *          first[k + 1] − 1, come to all.
 * add      Collective: replaces each value by its sum over all ranks, modulo 2^64. */
struct ranks_library {
    const char *name;
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
};

#ifdef __cplusplus
}
#endif

#endif
