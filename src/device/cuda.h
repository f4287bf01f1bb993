#ifndef DEVICE_CUDA_H
#define DEVICE_CUDA_H

/* What all CUDA code of kith shares. The runtime's own header is C: only kernels need a .cu file.
 */

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The stream on which all work of a context goes: the caller's, or one of the context's own. */
cudaStream_t cuda_stream(kith_context *context);

/* Multiprocessors of the context's device. */
int cuda_multiprocessors(kith_context *context);

/* Whether kernels may be launched to wait for the previous one themselves (overlap.cuh). */
bool cuda_overlaps(kith_context *context);

/* Memory on the device for the kernels of one function of a room, aligned to 256 bytes.
 *
 * The context keeps it and it only grows: repeated sizes allocate nothing. Contents are undefined;
 * the next cuda_scratch returns the same memory, in the order of the stream. A recorded graph may
 * continue to use the memory that it was recorded with.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_INVALID_ARGUMENT (the stream is being captured and memory would
 *         have to be allocated). */
kith_status cuda_scratch(kith_context *context, int64_t bytes, void **memory);

/* The same for structures of arrays that a room makes of its arguments, before it calls a function
 * of its own that may use cuda_scratch. */
kith_status cuda_memory_of_arrays(kith_context *context, int64_t bytes, void **memory);

/* Waits for the work on the context's stream, or for an event on it.
 *
 * Errors: KITH_CANCELLED; the work on the stream then continues. */
kith_status cuda_wait(kith_context *context, const char *what);
kith_status cuda_wait_for(kith_context *context, cudaEvent_t event, const char *what);

/* KITH_OK, or the error as a status with a sentence that begins with what, "copying the positions".
 * The message states whether the process can still use the device. */
kith_status cuda_check(cudaError_t error, const char *what);

/* For after each <<< >>>. */
static inline kith_status cuda_check_launch(const char *what)
{
    return cuda_check(cudaGetLastError(), what);
}

#ifdef __cplusplus
}
#endif

#endif
