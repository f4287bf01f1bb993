#ifndef CUDA_STATE_H
#define CUDA_STATE_H

#include "cuda/cuda.h"
#include "cuda/finding.h"
#include "kith/build.h"

/* Memory that a context keeps from call to call. */
struct cuda_block {
    void *memory;
    int64_t bytes;
    bool recorded; /* in a graph that may be replayed at any time */
};

/* A block that was outgrown, but belongs to a recorded graph. */
struct cuda_kept {
    void *memory;
    struct cuda_kept *next;
};

struct cuda_aside;

struct collisions_promise_state;

/* What a context on a CUDA device has: its backend_state. */
struct cuda_state {
    int device;
    int multiprocessors;
    bool overlaps;
    cudaStream_t stream;
    bool owns_stream;
    cudaMemPool_t pool; /* of this context alone; keeps some of what is freed for the next use */
    struct cuda_block scratch, arrays, workspace;
    struct cuda_kept *kept;
    void *host_workspace; /* page-locked */
    int64_t host_workspace_bytes;
    struct cuda_finding *finding;
    struct collisions_promise_state *spare_counts; /* collisions/collisions_cuda.c */
    struct cuda_aside *aside;                      /* NULL until it is used */
};

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_state *cuda_state_of(kith_context *context);

/* The functions of the backend table. All but the first three and close need the context's device
 * to be the thread's current one. */
int32_t cuda_device_count(const char **note);
kith_status cuda_describe(int32_t k, kith_device_info *info);
kith_status cuda_open(kith_context *context);
void cuda_close(kith_context *context);
kith_status cuda_synchronize(kith_context *context);

kith_status cuda_allocate(kith_context *context, int64_t count, int64_t bytes_each,
                          const char *what, void *memory);
void cuda_release(kith_context *context, void *memory);
kith_status cuda_workspace(kith_context *context, int64_t bytes, void **host, void **own);
kith_status cuda_copy_in(kith_context *context, void *to, const void *from_host, int64_t bytes);
kith_status cuda_copy_out(kith_context *context, void *to_host, const void *from, int64_t bytes);
kith_status cuda_combine(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                         const double *factor, const void *const *in, void *out);

kith_status cuda_allocate_host(kith_context *context, int64_t count, int64_t bytes_each,
                               const char *what, void *memory);
void cuda_release_host(kith_context *context, void *memory);
kith_status cuda_begin_copy_out(kith_context *context, void *to_host, const void *from,
                                int64_t bytes);
kith_status cuda_finish_copies(kith_context *context);
kith_status cuda_note_time(kith_context *context, int32_t k);
kith_status cuda_noted_seconds(kith_context *context, double *seconds);
kith_status cuda_widen(kith_context *context, kith_dtype dtype, int64_t count, const void *from,
                       double *to);

kith_status cuda_record(kith_context *context, kith_status (*work)(void *argument), void *argument,
                        void **recording);
kith_status cuda_replay(kith_context *context, void *recording, int64_t times, int64_t *done);
void cuda_forget(kith_context *context, void *recording);

/* Ends and gives back what goes on beside the stream; NULL is fine. */
void cuda_aside_free(struct cuda_aside *aside);

/* Frees what promises of collisions left behind; the stream is at its end. */
void collisions_release_spares_cuda(struct collisions_promise_state *spare);

/* Gives the state's blocks back. */
void cuda_release_blocks(struct cuda_state *state);

/* KITH_OK if this build has code for the current device. *overlaps: cuda_overlaps; not if what runs
 * is made of PTX for devices that cannot. */
kith_status cuda_check_architecture(bool *overlaps);

/* The device becomes the calling thread's current one, until leave with the same *previous. */
kith_status cuda_enter(int device, int *previous);

/* For return: the status, with the current device as it was. */
kith_status cuda_leave(int previous, kith_status status);

#ifdef __cplusplus
}
#endif

#endif
