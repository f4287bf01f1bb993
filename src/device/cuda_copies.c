/* The copy stream of a context: copies to the host while the next kernels run, and elapsed times.
 */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"

struct cuda_copies {
    cudaStream_t stream;
    cudaEvent_t ready; /* what was called before a copy is done */
    cudaEvent_t noted[2];
};

static kith_status make_all(struct cuda_copies *copies)
{
    KITH_TRY(cuda_check(cudaStreamCreateWithFlags(&copies->stream, cudaStreamNonBlocking),
                        "making a stream for copies"));
    KITH_TRY(cuda_check(cudaEventCreateWithFlags(&copies->ready, cudaEventDisableTiming),
                        "making an event"));
    for (int k = 0; k < 2; k++)
        KITH_TRY(cuda_check(cudaEventCreate(&copies->noted[k]), "making an event"));
    return KITH_OK;
}

/* Made when it is needed for the first time. */
static kith_status copies_of(kith_context *context, struct cuda_copies **copies)
{
    struct cuda_state *state = cuda_state_of(context);
    if (!state->copies) {
        struct cuda_copies *made = NULL;
        KITH_TRY(kith_allocate(1, sizeof *made, "context", &made));
        const kith_status status = make_all(made);
        if (status != KITH_OK) {
            cuda_copies_free(made);
            return status;
        }
        state->copies = made;
    }
    *copies = state->copies;
    return KITH_OK;
}

void cuda_copies_free(struct cuda_copies *copies)
{
    if (!copies)
        return;
    for (int k = 0; k < 2; k++)
        if (copies->noted[k])
            cudaEventDestroy(copies->noted[k]);
    if (copies->ready)
        cudaEventDestroy(copies->ready);
    if (copies->stream) {
        cudaStreamSynchronize(copies->stream);
        cudaStreamDestroy(copies->stream);
    }
    free(copies);
    cudaGetLastError();
}

kith_status cuda_allocate_host(kith_context *context, int64_t count, int64_t bytes_each,
                               const char *what, void *memory)
{
    (void)context;
    void *block = NULL;
    int64_t bytes = 0;
    memcpy(memory, &block, sizeof block);
    if (count == 0)
        return KITH_OK;
    if (count < 0 || bytes_each <= 0 || __builtin_mul_overflow(count, bytes_each, &bytes))
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: %lld × %lld bytes are more than can be addressed",
                         what, (long long)count, (long long)bytes_each);
    KITH_TRY(cuda_check(cudaHostAlloc(&block, (size_t)bytes, cudaHostAllocPortable), what));
    memset(block, 0, (size_t)bytes);
    memcpy(memory, &block, sizeof block);
    return KITH_OK;
}

void cuda_release_host(kith_context *context, void *memory)
{
    (void)context;
    if (memory && cudaFreeHost(memory) != cudaSuccess)
        cudaGetLastError();
}

kith_status cuda_begin_copy_out(kith_context *context, void *to_host, const void *from,
                                int64_t bytes)
{
    struct cuda_copies *copies = NULL;
    if (bytes <= 0)
        return KITH_OK;
    KITH_TRY(copies_of(context, &copies));
    KITH_TRY(cuda_check(cudaEventRecord(copies->ready, cuda_stream(context)),
                        "copying from the device"));
    KITH_TRY(cuda_check(cudaStreamWaitEvent(copies->stream, copies->ready, 0),
                        "copying from the device"));
    return cuda_check(
        cudaMemcpyAsync(to_host, from, (size_t)bytes, cudaMemcpyDeviceToHost, copies->stream),
        "copying from the device");
}

kith_status cuda_finish_copies(kith_context *context)
{
    const struct cuda_copies *copies = cuda_state_of(context)->copies;
    return copies ? cuda_check(cudaStreamSynchronize(copies->stream), "copying from the device")
                  : KITH_OK;
}

kith_status cuda_mark_time(kith_context *context, int32_t k)
{
    struct cuda_copies *copies = NULL;
    KITH_TRY(copies_of(context, &copies));
    return cuda_check(cudaEventRecord(copies->noted[k], cuda_stream(context)), "taking the time");
}

kith_status cuda_elapsed_seconds(kith_context *context, double *seconds)
{
    struct cuda_copies *copies = NULL;
    float milliseconds = 0;
    KITH_TRY(copies_of(context, &copies));
    KITH_TRY(cuda_check(cudaEventElapsedTime(&milliseconds, copies->noted[0], copies->noted[1]),
                        "taking the time"));
    *seconds = (double)milliseconds / 1e3;
    return KITH_OK;
}
