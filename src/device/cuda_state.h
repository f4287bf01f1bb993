#ifndef DEVICE_CUDA_STATE_H
#define DEVICE_CUDA_STATE_H

#include "device/cuda.h"
#include "device/deferred_error.h"
#include "kith/build.h"

/* Memory that a context keeps from call to call. */
struct cuda_block {
    void *memory;
    int64_t bytes;
    int64_t recordings; /* of kith's that use it, until they are forgotten */
    bool captured;      /* by the caller, whose graph may be replayed at any time */
};

/* A block that was outgrown while a graph uses it. */
struct cuda_kept {
    struct cuda_block block;
    struct cuda_kept *next;
};

enum { cuda_block_count = 3 };

/* Work that kith recorded, and the memory of blocks that it uses. */
struct cuda_recording {
    cudaGraphExec_t graph;
    void *memory[cuda_block_count];
};

struct cuda_copies;

/* What a context on a CUDA device has: its device_state. */
struct cuda_state {
    int device;
    int multiprocessors;
    bool overlaps;
    cudaStream_t stream;
    bool owns_stream;
    cudaMemPool_t pool; /* of this context alone; keeps some of what is freed for the next use */
    struct cuda_block scratch, arrays, workspace;
    struct cuda_kept *kept;
    struct cuda_recording *recording; /* that kith is making; NULL at other times */
    void *host_workspace;             /* page-locked */
    int64_t host_workspace_bytes;
    char *mailbox; /* page-locked, for few bytes from the device; NULL until it is used */
    struct cuda_deferred_error *deferred; /* two: synchronize's, and the held ones of a call */
    bool holds_errors;
    struct cuda_copies *copies; /* NULL until it is used */
    bool has_unfinished;        /* a cancelled call's work may still use the workspace */
};

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_state *cuda_state_of(kith_context *context);

/* The functions of device/services.h. */
int32_t cuda_device_count(const char **note);
kith_status cuda_describe(int32_t k, kith_device_info *info);
kith_status cuda_open(kith_context *context);
void cuda_close(kith_context *context);
kith_status cuda_synchronize(kith_context *context);
void cuda_hold_errors(kith_context *context);
kith_status cuda_report_errors(kith_context *context);
void cuda_drop_errors(kith_context *context);

/* Queries the driver for the memory at the array's address: no stream operation, and allowed in a
 * capture. */
kith_status cuda_check_memory(const kith_context *context, kith_array array, const char *name);

kith_status cuda_allocate(kith_context *context, int64_t count, int64_t bytes_each,
                          const char *what, void *memory);
void cuda_release(kith_context *context, void *memory);
kith_status cuda_workspace(kith_context *context, int64_t bytes, void **host, void **own);
kith_status cuda_copy_in(kith_context *context, void *to, const void *from_host, int64_t bytes);
kith_status cuda_copy_out(kith_context *context, void *to_host, const void *from, int64_t bytes);

/* Few bytes of the device's memory that the host reads together, at most cuda_mailbox_bytes: waits
 * for the device once, and CUDA stages no copies. */
enum { cuda_mailbox_bytes = 4096 };
struct cuda_reading {
    void *to_host;
    const void *from;
    int64_t bytes;
};
kith_status cuda_read(kith_context *context, const struct cuda_reading *readings, int count);
kith_status cuda_allocate_host(kith_context *context, int64_t count, int64_t bytes_each,
                               const char *what, void *memory);
void cuda_release_host(kith_context *context, void *memory);
kith_status cuda_begin_copy_out(kith_context *context, void *to_host, const void *from,
                                int64_t bytes);
kith_status cuda_finish_copies(kith_context *context);
kith_status cuda_mark_time(kith_context *context, int32_t k);
kith_status cuda_elapsed_seconds(kith_context *context, double *seconds);
kith_status cuda_convert_to_double(kith_context *context, kith_dtype dtype, int64_t count,
                                   const void *from, double *to);

kith_status cuda_record(kith_context *context, kith_status (*work)(void *argument), void *argument,
                        void **recording);
kith_status cuda_replay(kith_context *context, void *recording, int64_t times, int64_t *done);
void cuda_forget(kith_context *context, void *recording);

/* The recording no longer uses its memory: frees what was outgrown and nothing uses any more. While
 * the caller captures the stream nothing is freed, but with the next recording. */
void cuda_release_recording(struct cuda_state *state, const struct cuda_recording *recording);

/* Frees the copy stream and its events; NULL is fine. */
void cuda_copies_free(struct cuda_copies *copies);

/* Gives the state's blocks back. */
void cuda_release_blocks(struct cuda_state *state);

/* KITH_OK if this build has code for the current device, which has this number. *overlaps:
 * cuda_overlaps; not if what runs is made of PTX for devices that cannot. */
kith_status cuda_check_architecture(int device, bool *overlaps);

/* The device becomes the calling thread's current one, until leave with the same *previous. */
kith_status cuda_enter(int device, int *previous);

void cuda_leave(int previous);

#ifdef __cplusplus
}
#endif

#endif
