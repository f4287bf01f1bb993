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
 * On the CPU, all threads of a context use the rounding mode of the calling thread and its
 * treatment of denormal numbers; kith does not change them. Floating-point exceptions must not
 * trap: kernels divide by zero where the quotient is not used. */
typedef struct kith_context kith_context;

typedef struct kith_context_options {
    kith_device device; /* kind 0: the first CUDA device if there is one, else the CPU */
    int32_t threads; /* CPU threads; 0: OMP_NUM_THREADS, else the result of kith tune, else one per
                        core */
    void *stream;    /* a cudaStream_t of the caller's; NULL: one of the context's own */
} kith_context_options;

/* Makes a context.
 *
 * On a CUDA device all work of the context is on one stream, in the order of the calls. A stream
 * that the context creates waits for work on the legacy default stream and vice versa, as CUDA's
 * blocking streams do; a stream of the caller's belongs to the same device and must outlive the
 * context (cudaStreamLegacy and cudaStreamPerThread name CUDA's default streams). The library never
 * waits for the whole device (but for kith_law_free), never resets it, and leaves the calling
 * thread's current device as it was.
 *
 *   options  NULL for the defaults
 *   context  [out] owned by the caller; free with kith_context_free; NULL on failure
 *
 * Errors: KITH_NO_DEVICE (the device does not exist, or this build has no backend for it),
 *         KITH_INVALID_ARGUMENT (threads < 0 or > 4096; KITH_ISA is not an instruction set of this
 *         build; the stream belongs to another device), KITH_UNSUPPORTED (this processor does not
 *         have the instruction set, or all of them; the device is too old), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_context_create(const kith_context_options *options,
                                         kith_context **context);

/* Frees a context; NULL is fine. Objects made with it must be freed before. */
KITH_API void kith_context_free(kith_context *context);

/* Waits until all work on the context's stream has ended, and returns its deferred errors: a call
 * with arrays on a device returns before their values are checked, so that NaN or infinity in them
 * is reported here (and the results are NaN). If a captured graph of such calls was replayed on
 * another stream, wait for that stream first.
 *
 * Errors: KITH_INVALID_ARGUMENT of an earlier call, reported once; KITH_INTERNAL_ERROR if the
 *         device failed: the message states whether it can still be used. */
KITH_API kith_status kith_context_synchronize(kith_context *context);

/* The cudaStream_t of the context; NULL on the CPU. Its owner does not change. */
KITH_API void *kith_context_stream(kith_context *context);

KITH_API kith_device kith_context_device(const kith_context *context);
KITH_API int32_t kith_context_threads(const kith_context *context);

/* The instruction set of the CPU kernels in use: the name of a row of kith_isa_list, "v4". */
KITH_API const char *kith_context_isa(const kith_context *context);

/* A progress callback: called from time to time, between steps, with the amount of work done.
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
 * replaced. A simulation is at the end of its last complete step, with the bits of a run that was
 * not cancelled (kith/simulation.h), and a run leaves a checkpoint (kith/run.h). On a GPU work in
 * flight is completed, but calls return without waiting for it.
 *
 * May be called from another thread or a signal handler. The context stays cancelled, so that later
 * calls are cancelled too, until kith_context_clear_cancel, which must not be called while another
 * call is running. */
KITH_API void kith_context_cancel(kith_context *context);
KITH_API void kith_context_clear_cancel(kith_context *context);
KITH_API bool kith_context_is_cancelled(const kith_context *context);

/* Returns whether the running call should be cancelled.
 *
 * Must not call kith with the same context other than kith_context_cancel. */
typedef bool kith_poll(void *user);

/* Sets a function that long calls call about every 0.05 s; NULL for none. If it returns true, the
 * call is cancelled as by kith_context_cancel.
 *
 * Only the thread that set it calls it: for environments that check for signals in their own
 * thread, such as Python (PyErr_CheckSignals), R or MATLAB. */
KITH_API void kith_context_set_poll(kith_context *context, kith_poll *poll, void *user);

#ifdef __cplusplus
}
#endif

#endif
