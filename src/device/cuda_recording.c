/* Work that is recorded as a CUDA graph and replayed. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_state.h"

static bool is_captured(const struct cuda_state *state)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(state->stream, &capture) != cudaSuccess ||
           capture != cudaStreamCaptureStatusNone;
}

/* What work starts, as a graph; NULL if it cannot be had. */
static cudaGraphExec_t make_graph(cudaStream_t stream, kith_status (*work)(void *argument),
                                  void *argument)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
        return NULL;
    const kith_status status = work(argument);
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || status != KITH_OK ||
        cudaGraphInstantiate(&made, graph, 0) != cudaSuccess)
        made = NULL;
    if (graph)
        cudaGraphDestroy(graph);
    return made;
}

/* On a stream apart: while one is captured that waits for the default stream, as the context's own
 * does, other threads could not use that. */
static void record_apart(struct cuda_state *state, cudaStream_t apart,
                         kith_status (*work)(void *argument), void *argument,
                         struct cuda_recording *made)
{
    cudaStream_t stream = state->stream;
    state->stream = apart;
    state->recording = made;
    made->graph = make_graph(apart, work, argument);
    state->recording = NULL;
    state->stream = stream;
}

static void free_recording(struct cuda_state *state, struct cuda_recording *recording)
{
    if (recording->graph)
        cudaGraphExecDestroy(recording->graph);
    cuda_release_recording(state, recording);
    free(recording);
    cudaGetLastError();
}

/* Work that needs more memory than the context has fails, and the caller continues without a
 * recording. */
kith_status cuda_record(kith_context *context, kith_status (*work)(void *argument), void *argument,
                        void **recording)
{
    struct cuda_state *state = cuda_state_of(context);
    struct cuda_recording *made = NULL;
    cudaStream_t apart = NULL;
    *recording = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "a recording", &made));
    if (!is_captured(state) &&
        cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking) == cudaSuccess) {
        record_apart(state, apart, work, argument, made);
        cudaStreamDestroy(apart);
    }
    if (made->graph)
        *recording = made;
    else
        free_recording(state, made);
    cudaGetLastError();
    return KITH_OK;
}

kith_status cuda_replay(kith_context *context, void *recording, int64_t times, int64_t *done)
{
    const struct cuda_state *state = cuda_state_of(context);
    const struct cuda_recording *recorded = recording;
    *done = 0;
    if (is_captured(state))
        return KITH_OK;
    for (; *done < times; ++*done)
        KITH_TRY(cuda_check(cudaGraphLaunch(recorded->graph, state->stream),
                            "starting recorded kernels"));
    return KITH_OK;
}

void cuda_forget(kith_context *context, void *recording)
{
    if (recording)
        free_recording(cuda_state_of(context), recording);
}
