#ifndef KITH_CONTEXT_H
#define KITH_CONTEXT_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where and how to compute: a device, a number of threads, a stream.
 *
 * A context may be used by one thread at a time; different contexts by different threads
 * concurrently. Nothing in kith is global.
 *
 * On the CPU, all threads of a context round as the calling thread does, and treat denormal numbers
 * as it does; kith changes neither for it. Floating-point exceptions must not trap: kernels divide
 * by zero where the quotient is not used. */
typedef struct kith_context kith_context;

typedef struct kith_context_options {
    kith_device device; /* kind 0: the first CUDA device if there is one, else the CPU */
    int32_t threads;    /* CPU threads; 0: OMP_NUM_THREADS, as kith tune found, or one a core */
    void *stream;       /* a cudaStream_t of the caller's; NULL: one of the context's own */
} kith_context_options;

/* Makes a context.
 *
 * On a CUDA device, all that the context does goes on its one stream, in the order of the calls. A
 * stream of its own waits for work on the legacy default stream and vice versa, as CUDA's
 * blocking streams do; a stream of the caller's belongs to the same device and must outlive the
 * context (cudaStreamLegacy and cudaStreamPerThread name CUDA's default streams). The library never
 * waits for the whole device, never resets it, and leaves the calling thread's current device as it
 * was.
 *
 *   options  NULL for the defaults
 *   context  [out] owned by the caller; free with kith_context_free; NULL on failure
 *
 * Errors: KITH_NO_DEVICE (no such device, or this build has no backend for it),
 *         KITH_INVALID_ARGUMENT (threads < 0 or > 4096; KITH_ISA names no instruction set of this
 *         build; the stream is another device's), KITH_UNSUPPORTED (this processor does not have
 * the instruction set, or all of them; the device is too old), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_context_create(const kith_context_options *options,
                                         kith_context **context);

/* Frees a context; NULL is fine. Objects made with it must be freed before. */
KITH_API void kith_context_free(kith_context *context);

/* Waits until all work on the context's stream has ended, and returns its deferred errors: a call
 * that computes on a device's arrays returns before it has seen their numbers, so that one that is
 * not finite is reported here (and its results are NaN). After a recorded graph of such calls was
 * replayed on another stream, first wait for that one.
 *
 * Errors: KITH_INVALID_ARGUMENT as the call that was started would have given, once;
 *         KITH_INTERNAL_ERROR if the device failed. The message says if no more can be computed. */
KITH_API kith_status kith_context_synchronize(kith_context *context);

/* The cudaStream_t on which the context works; NULL on the CPU. It stays the owner's. */
KITH_API void *kith_context_stream(kith_context *context);

KITH_API kith_device kith_context_device(const kith_context *context);
KITH_API int32_t kith_context_threads(const kith_context *context);

/* The instruction set of the CPU kernels in use: the name of a row of kith_isa_list, "v4". */
KITH_API const char *kith_context_isa(const kith_context *context);

/* Called now and then, between steps, with how much of the work is done.
 *
 * Runs in the thread that called the long function; must not call kith with the same context other
 * than kith_context_cancel. */
typedef void kith_progress(void *user, int64_t done, int64_t total);

/* Sets the progress callback; NULL for none. */
KITH_API void kith_context_set_progress(kith_context *context, kith_progress *progress, void *user);

/* Cancels the running call: it returns KITH_CANCELLED, within about 0.1 s on the CPU.
 *
 * Every function with a context that computes can be cancelled. The contents of the arrays that a
 * cancelled call writes to are then unspecified, no object is made, and no file is written or
 * replaced. A simulation is at the end of its last whole step, with the bits of a run that was not
 * cancelled (kith/simulation.h), and a run leaves a checkpoint (kith/run.h). On a GPU, work that is
 * in flight goes on to its end, and calls return without waiting for it.
 *
 * May be called from another thread and from a signal handler. Stays set, so that the calls that
 * follow are cancelled too, until kith_context_clear_cancel, which must not be called while another
 * call is running. */
KITH_API void kith_context_cancel(kith_context *context);
KITH_API void kith_context_clear_cancel(kith_context *context);
KITH_API bool kith_context_is_cancelled(const kith_context *context);

/* Returns whether the running call should be cancelled.
 *
 * Must not call kith with the same context other than kith_context_cancel. */
typedef bool kith_poll(void *user);

/* Sets a function that long calls ask about every 0.05 s whether to stop; NULL for none. If it
 * returns true the call is cancelled as by kith_context_cancel.
 *
 * It is called by the thread that has set it, and by no other: for environments that check
 * for signals in their own thread, as Python (PyErr_CheckSignals), R or MATLAB. */
KITH_API void kith_context_set_poll(kith_context *context, kith_poll *poll, void *user);

#ifdef __cplusplus
}
#endif

#endif
