#ifndef DEVICE_SERVICES_H
#define DEVICE_SERVICES_H

#include "kith/array.h"
#include "kith/build.h"
#include "kith/context.h"

/* The services of a kind of device to all rooms: contexts, memory, copies, time, recordings. The
 * CPU is one instance of this table (cpu.c), CUDA the other (cuda_services.c). A device depends on
 * no room: what else a room needs of a device is its own struct of functions (forces/backend.h, …),
 * and src/backends.c combines these with the kinds of devices.
 *
 * Common to all functions: memory arguments are on the device (from allocate); work is executed in
 * the order of the calls, on the context's stream, and may continue after the return until
 * synchronize; errors are returned as a kith_status with the thread's message set. All but the
 * first two, open and close are called while the context's device is the thread's current one
 * (device_enter). */
struct device_services {
    const char *name;
    kith_device_kind kind;

    /* The number of devices on this machine; *note is the reason if that is 0, or NULL. Never
     * fails. */
    int32_t (*device_count)(const char **note);

    /* Describes device k; NULL if the kind has no description. */
    kith_status (*describe)(int32_t k, kith_device_info *info);

    /* Makes the context's device the calling thread's current one and saves the previous one in
     * *previous; leave restores it. NULL if threads have no current device. */
    kith_status (*enter)(kith_context *context, int32_t *previous);
    void (*leave)(kith_context *context, int32_t previous);

    /* Prepares and releases context->device_state. close is called once for each open that
     * succeeded, after a synchronize. */
    kith_status (*open)(kith_context *context);
    void (*close)(kith_context *context);
    kith_status (*synchronize)(kith_context *context);

    /* KITH_OK if the array, which has elements, is labeled as on the host or on this device and its
     * memory is there, on a device aligned to its elements; name is used in the message. The caller
     * checks for other devices. NULL if memory cannot be checked. */
    kith_status (*check_memory)(const kith_context *context, kith_array array, const char *name);

    /* The stream of the context, as returned by kith_context_stream; NULL on devices without
     * streams.
     */
    void *(*stream)(kith_context *context);

    /* Zeroed memory of count × bytes_each bytes, aligned to 64; what names it in the message.
     * memory is the address of a pointer; release(NULL) is fine. */
    kith_status (*allocate)(kith_context *context, int64_t count, int64_t bytes_each,
                            const char *what, void *memory);
    void (*release)(kith_context *context, void *memory);

    /* Memory for one call of the public API, kept by the context and grown if needed: bytes at
     * *host for the host, and as many at *own on the device; on the CPU these are the same. Aligned
     * to 64, contents undefined. Both go back to the context with the next workspace.
     */
    kith_status (*workspace)(kith_context *context, int64_t bytes, void **host, void **own);

    /* Copies bytes from host memory to the backend's and back. The host's memory may be reused on
     * return, except that what was copied in from the workspace must not change until a copy_out.
     */
    kith_status (*copy_in)(kith_context *context, void *to, const void *from_host, int64_t bytes);
    kith_status (*copy_out)(kith_context *context, void *to_host, const void *from, int64_t bytes);

    /* Between hold_errors, which is called after workspace, and report_errors or drop_errors,
     * invalid numbers that kernels find belong to one call: report_errors waits and returns the
     * first one. At other times synchronize reports them. NULL if the device uses the host's
     * memory. */
    void (*hold_errors)(kith_context *context);
    kith_status (*report_errors)(kith_context *context);
    void (*drop_errors)(kith_context *context);

    /* Zeroed memory of the host for copies by begin_copy_out; on a GPU it is page-locked, and
     * allocating it waits for the device. release_host(NULL) is fine. */
    kith_status (*allocate_host)(kith_context *context, int64_t count, int64_t bytes_each,
                                 const char *what, void *memory);
    void (*release_host)(kith_context *context, void *memory);

    /* Copies bytes to the host after all work called before, concurrently with work called later:
     * `from` must not change until finish_copies, which waits for these copies and for nothing
     * else. */
    kith_status (*begin_copy_out)(kith_context *context, void *to_host, const void *from,
                                  int64_t bytes);
    kith_status (*finish_copies)(kith_context *context);

    /* mark_time records the time at which the work called before is done, as mark k = 0 or 1;
     * elapsed_seconds returns the time from the last mark 0 to the last mark 1, after a
     * synchronize. */
    kith_status (*mark_time)(kith_context *context, int32_t k);
    kith_status (*elapsed_seconds)(kith_context *context, double *seconds);

    /* to[i] = from[i] for i < count. */
    kith_status (*convert_to_double)(kith_context *context, kith_dtype dtype, int64_t count,
                                     const void *from, double *to);

    /* out[i] = Σ_k factor[k]·in[k][i], k ascending, for i < count; terms ≤ 4. out may be one of the
     * inputs. */
    kith_status (*combine)(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                           const double *factor, const void *const *in, void *out);

    /* to[i] += lost[i] + Σ_k factor[k]·in[k][i], and lost[i] = the rounding error of that sum;
     * terms ≤ 4, with the same bits on every kind of device. */
    kith_status (*accumulate)(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                              const double *factor, const void *const *in, void *to, void *lost);

    /* Records what work does on the context's stream, without executing it: *recording is freed
     * with forget, and NULL if recording is impossible; the memory that work uses must stay
     * allocated. replay executes the recording this number of times; *done is times, or 0 if
     * replaying is impossible because the caller is recording. All three are NULL if recording has
     * no advantage. */
    kith_status (*record)(kith_context *context, kith_status (*work)(void *argument),
                          void *argument, void **recording);
    kith_status (*replay)(kith_context *context, void *recording, int64_t times, int64_t *done);
    void (*forget)(kith_context *context, void *recording);
};

extern const struct device_services device_cpu;
#ifdef KITH_HAS_CUDA
extern const struct device_services device_cuda;
#endif

/* A kind of device: its services, and the functions of the rooms for it, which only src/backends.h
 * defines. */
struct room_backends;
struct device_kind {
    const struct device_services *services;
    const struct room_backends *rooms;
};

/* The kinds of this build, the one that KITH_DEVICE_AUTO prefers first; services are NULL after the
 * last. Defined in src/backends.c. */
struct device_kind device_kind_at(int32_t k);

#endif
