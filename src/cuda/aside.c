/* What goes on beside a context's stream: copies to the host while the next kernels run, and the
 * times at which the stream came past. */

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "cuda/state.h"

struct cuda_aside {
    cudaStream_t copies;
    cudaEvent_t ready; /* what was called before a copy is done */
    cudaEvent_t noted[2];
};

static kith_status make_all(struct cuda_aside *aside)
{
    KITH_TRY(cuda_check(cudaStreamCreateWithFlags(&aside->copies, cudaStreamNonBlocking),
                        "making a stream for copies"));
    KITH_TRY(cuda_check(cudaEventCreateWithFlags(&aside->ready, cudaEventDisableTiming),
                        "making an event"));
    for (int k = 0; k < 2; k++)
        KITH_TRY(cuda_check(cudaEventCreate(&aside->noted[k]), "making an event"));
    return KITH_OK;
}

/* Made when it is needed for the first time. */
static kith_status aside_of(kith_context *context, struct cuda_aside **aside)
{
    struct cuda_state *state = cuda_state_of(context);
    if (!state->aside) {
        struct cuda_aside *made = NULL;
        KITH_TRY(kith_allocate(1, sizeof *made, "context", &made));
        const kith_status status = make_all(made);
        if (status != KITH_OK) {
            cuda_aside_free(made);
            return status;
        }
        state->aside = made;
    }
    *aside = state->aside;
    return KITH_OK;
}

void cuda_aside_free(struct cuda_aside *aside)
{
    if (!aside)
        return;
    for (int k = 0; k < 2; k++)
        if (aside->noted[k])
            cudaEventDestroy(aside->noted[k]);
    if (aside->ready)
        cudaEventDestroy(aside->ready);
    if (aside->copies) {
        cudaStreamSynchronize(aside->copies);
        cudaStreamDestroy(aside->copies);
    }
    free(aside);
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
    struct cuda_aside *aside = NULL;
    if (bytes <= 0)
        return KITH_OK;
    KITH_TRY(aside_of(context, &aside));
    KITH_TRY(
        cuda_check(cudaEventRecord(aside->ready, cuda_stream(context)), "copying from the device"));
    KITH_TRY(
        cuda_check(cudaStreamWaitEvent(aside->copies, aside->ready, 0), "copying from the device"));
    return cuda_check(
        cudaMemcpyAsync(to_host, from, (size_t)bytes, cudaMemcpyDeviceToHost, aside->copies),
        "copying from the device");
}

kith_status cuda_finish_copies(kith_context *context)
{
    const struct cuda_aside *aside = cuda_state_of(context)->aside;
    return aside ? cuda_check(cudaStreamSynchronize(aside->copies), "copying from the device")
                 : KITH_OK;
}

kith_status cuda_note_time(kith_context *context, int32_t k)
{
    struct cuda_aside *aside = NULL;
    KITH_TRY(aside_of(context, &aside));
    return cuda_check(cudaEventRecord(aside->noted[k], cuda_stream(context)), "taking the time");
}

kith_status cuda_noted_seconds(kith_context *context, double *seconds)
{
    struct cuda_aside *aside = NULL;
    float milliseconds = 0;
    KITH_TRY(aside_of(context, &aside));
    KITH_TRY(cuda_check(cudaEventElapsedTime(&milliseconds, aside->noted[0], aside->noted[1]),
                        "taking the time"));
    *seconds = (double)milliseconds / 1e3;
    return KITH_OK;
}
