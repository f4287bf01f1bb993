#ifndef DEVICE_SERVICES_H
#define DEVICE_SERVICES_H

#include "kith/array.h"
#include "kith/build.h"
#include "kith/context.h"

/* What every kind of device does for all rooms: contexts, memory, copies, time, recordings. The CPU
 * is one instance of this table (cpu.c), CUDA the other (cuda_services.c). A device knows no room:
 * what a room needs of a device beyond this is a struct of functions of its own (forces/backend.h,
 * …), and src/backends.c says which belongs to which kind of device.
 *
 * Common to all functions: memory arguments are the device's own (from allocate); work is ordered
 * as it is called, on the context's stream, and may go on after the return until synchronize;
 * errors are returned as a kith_status with the thread's message set. All but the first two, open
 * and close are called while the context's device is the thread's current one (device_enter). */
struct device_services {
    const char *name;
    kith_device_kind kind;

    /* Devices on this machine; *note says why there are none, or is NULL. Never fails. */
    int32_t (*device_count)(const char **note);

    /* What device k is; NULL where it cannot be described. */
    kith_status (*describe)(int32_t k, kith_device_info *info);

    /* Makes the context's device the calling thread's current one, *previous what it was; leave
     * undoes that. NULL where threads have no current device. */
    kith_status (*enter)(kith_context *context, int32_t *previous);
    void (*leave)(kith_context *context, int32_t previous);

    /* Prepares and releases context->device_state. close is called once for each open that
     * succeeded, after a synchronize. */
    kith_status (*open)(kith_context *context);
    void (*close)(kith_context *context);
    kith_status (*synchronize)(kith_context *context);

    /* KITH_OK if the array, which has elements, is labeled as the host's or as this device's and
     * its memory is there, aligned to the elements on a device; name names it in the message. A
     * label of another device is for the caller to judge. NULL where nobody knows. */
    kith_status (*check_memory)(const kith_context *context, kith_array array, const char *name);

    /* The stream of the context, as kith_context_stream gives it; NULL where there are none. */
    void *(*stream)(kith_context *context);

    /* Zeroed memory of count × bytes_each bytes, aligned to 64; what names it in the message.
     * memory is the address of a pointer; release(NULL) is fine. */
    kith_status (*allocate)(kith_context *context, int64_t count, int64_t bytes_each,
                            const char *what, void *memory);
    void (*release)(kith_context *context, void *memory);

    /* Memory for one call of the public API, kept by the context and grown if needed: bytes at
     * *host for the host, and as many at *own, the backend's own memory; one and the same on the
     * CPU. Aligned to 64, contents undefined. Both go back to the context with the next workspace.
     */
    kith_status (*workspace)(kith_context *context, int64_t bytes, void **host, void **own);

    /* Copies bytes from host memory to the backend's and back. The host's may be used again on
     * return, except that what was copied in from the workspace must stay until a copy_out. */
    kith_status (*copy_in)(kith_context *context, void *to, const void *from_host, int64_t bytes);
    kith_status (*copy_out)(kith_context *context, void *to_host, const void *from, int64_t bytes);

    /* Invalid numbers that kernels find are those of one call from hold_errors on, which is called
     * after a workspace, until report_errors, which waits and returns the first one, or until
     * drop_errors; at other times synchronize reports them. NULL where memory is the host's. */
    void (*hold_errors)(kith_context *context);
    kith_status (*report_errors)(kith_context *context);
    void (*drop_errors)(kith_context *context);

    /* Zeroed memory of the host for copies that are begun with begin_copy_out; on a GPU it is
     * page-locked, and taking it waits for the device. release_host(NULL) is fine. */
    kith_status (*allocate_host)(kith_context *context, int64_t count, int64_t bytes_each,
                                 const char *what, void *memory);
    void (*release_host)(kith_context *context, void *memory);

    /* Copies bytes to the host as they are when all that was called before is done, concurrently
     * with what is called after: `from` must stay as it is until finish_copies, which waits for all
     * copies begun and for nothing else. */
    kith_status (*begin_copy_out)(kith_context *context, void *to_host, const void *from,
                                  int64_t bytes);
    kith_status (*finish_copies)(kith_context *context);

    /* mark_time marks when the work called before is done, as mark k = 0 or 1; elapsed_seconds
     * gives the time from the last mark 0 to the last mark 1, after a synchronize. */
    kith_status (*mark_time)(kith_context *context, int32_t k);
    kith_status (*elapsed_seconds)(kith_context *context, double *seconds);

    /* to[i] = from[i] for i < count. */
    kith_status (*convert_to_double)(kith_context *context, kith_dtype dtype, int64_t count,
                                     const void *from, double *to);

    /* out[i] = Σ_k factor[k]·in[k][i], k ascending, for i < count; terms ≤ 4. out may be one of the
     * inputs. */
    kith_status (*combine)(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                           const double *factor, const void *const *in, void *out);

    /* to[i] += lost[i] + Σ_k factor[k]·in[k][i], and lost[i] = what of that did not fit; terms ≤ 4.
     * NULL where combine does, without lost. */
    kith_status (*accumulate)(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                              const double *factor, const void *const *in, void *to, void *lost);

    /* Records what work does on the context's stream, without doing it: *recording is freed with
     * forget and is NULL where that is impossible; the memory that work uses must stay. replay does
     * it so many times; *done is times, or 0 if that is impossible now, as the caller himself
     * records. All NULL where there is nothing to gain. */
    kith_status (*record)(kith_context *context, kith_status (*work)(void *argument),
                          void *argument, void **recording);
    kith_status (*replay)(kith_context *context, void *recording, int64_t times, int64_t *done);
    void (*forget)(kith_context *context, void *recording);
};

extern const struct device_services device_cpu;
#ifdef KITH_HAS_CUDA
extern const struct device_services device_cuda;
#endif

/* A kind of device: its services, and the rooms' functions for it, which only src/backends.h
 * knows. */
struct room_backends;
struct device_kind {
    const struct device_services *services;
    const struct room_backends *rooms;
};

/* The kinds of this build, the one that KITH_DEVICE_AUTO prefers first; services are NULL after the
 * last. Defined in src/backends.c. */
struct device_kind device_kind_at(int32_t k);

#endif
