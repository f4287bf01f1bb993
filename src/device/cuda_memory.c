/* Memory of the device, and copies. Everything is in the order of the context's stream, so that
 * nothing waits for the device: not even freeing does. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"

/* Blocks grow by steps of this. */
static const int64_t block_step = 1 << 20;

static kith_status is_captured(const struct cuda_state *state, bool *captured)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    KITH_TRY(cuda_check(cudaStreamIsCapturing(state->stream, &capture), "using the stream"));
    *captured = capture != cudaStreamCaptureStatusNone;
    return KITH_OK;
}

/* A graph must not own memory that the context continues to use. */
static kith_status check_not_captured(const struct cuda_state *state, const char *what)
{
    bool captured = false;
    KITH_TRY(is_captured(state, &captured));
    if (captured)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s: memory would have to be allocated while the stream is being "
                         "captured; make the same call once before the capture",
                         what);
    return KITH_OK;
}

static kith_status fail_to_allocate(const struct cuda_state *state, const char *what, int64_t bytes)
{
    size_t available = 0, total = 0;
    cudaGetLastError();
    if (cudaMemGetInfo(&available, &total) != cudaSuccess)
        cudaGetLastError();
    return kith_fail(KITH_OUT_OF_MEMORY,
                     "%s: %lld bytes cannot be allocated on cuda:%d, which has %lld of %lld free; "
                     "use fewer bodies or single precision, or free memory of the device",
                     what, (long long)bytes, state->device, (long long)available, (long long)total);
}

static kith_status allocate_bytes(const struct cuda_state *state, int64_t bytes, const char *what,
                                  void **memory)
{
    KITH_TRY(check_not_captured(state, what));
    const cudaError_t error =
        cudaMallocFromPoolAsync(memory, (size_t)bytes, state->pool, state->stream);
    if (error == cudaSuccess)
        return KITH_OK;
    *memory = NULL;
    return error == cudaErrorMemoryAllocation ? fail_to_allocate(state, what, bytes)
                                              : cuda_check(error, what);
}

kith_status cuda_allocate(kith_context *context, int64_t count, int64_t bytes_each,
                          const char *what, void *memory)
{
    const struct cuda_state *state = cuda_state_of(context);
    void *block = NULL;
    int64_t bytes = 0;
    memcpy(memory, &block, sizeof block);
    if (count == 0)
        return KITH_OK;
    if (count < 0 || bytes_each <= 0 || __builtin_mul_overflow(count, bytes_each, &bytes))
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: %lld × %lld bytes are more than can be addressed",
                         what, (long long)count, (long long)bytes_each);
    KITH_TRY(allocate_bytes(state, bytes, what, &block));
    const kith_status status =
        cuda_check(cudaMemsetAsync(block, 0, (size_t)bytes, state->stream), what);
    if (status == KITH_OK)
        memcpy(memory, &block, sizeof block);
    else
        cuda_release(context, block);
    return status;
}

void cuda_release(kith_context *context, void *memory)
{
    if (memory && cudaFreeAsync(memory, cuda_stream(context)) != cudaSuccess)
        cudaGetLastError();
}

static bool is_used_by_graphs(const struct cuda_block *block)
{
    return block->recordings > 0 || block->captured;
}

/* Frees the block, or keeps it apart if a graph uses it. */
static kith_status give_up(struct cuda_state *state, struct cuda_block *block)
{
    void *memory = block->memory;
    struct cuda_kept *kept = NULL;
    if (memory && is_used_by_graphs(block)) {
        KITH_TRY(kith_allocate(1, sizeof *kept, "memory of a recorded graph", &kept));
        *kept = (struct cuda_kept){*block, state->kept};
        state->kept = kept;
        memory = NULL;
    }
    *block = (struct cuda_block){0};
    return memory ? cuda_check(cudaFreeAsync(memory, state->stream), "freeing memory") : KITH_OK;
}

/* The stream is captured: by kith or by the caller. */
static void claim(const struct cuda_state *state, struct cuda_block *block)
{
    struct cuda_recording *recording = state->recording;
    if (!recording)
        block->captured = true;
    for (int k = 0; recording && block->memory && k < cuda_block_count; k++) {
        if (recording->memory[k] == block->memory)
            return;
        if (recording->memory[k])
            continue;
        recording->memory[k] = block->memory;
        block->recordings++;
        return;
    }
}

static kith_status grow(struct cuda_state *state, struct cuda_block *block, int64_t bytes,
                        const char *what)
{
    bool captured = false;
    KITH_TRY(is_captured(state, &captured));
    if (bytes > block->bytes) {
        KITH_TRY(check_not_captured(state, what));
        KITH_TRY(give_up(state, block));
        if (bytes > INT64_MAX - block_step)
            return fail_to_allocate(state, what, bytes);
        const int64_t rounded = (bytes + block_step - 1) / block_step * block_step;
        KITH_TRY(allocate_bytes(state, rounded, what, &block->memory));
        block->bytes = rounded;
    }
    if (captured)
        claim(state, block);
    return KITH_OK;
}

kith_status cuda_scratch(kith_context *context, int64_t bytes, void **memory)
{
    struct cuda_state *state = cuda_state_of(context);
    KITH_TRY(grow(state, &state->scratch, bytes, "working memory"));
    *memory = state->scratch.memory;
    return KITH_OK;
}

kith_status cuda_memory_of_arrays(kith_context *context, int64_t bytes, void **memory)
{
    struct cuda_state *state = cuda_state_of(context);
    KITH_TRY(grow(state, &state->arrays, bytes, "a copy of the arrays"));
    *memory = state->arrays.memory;
    return KITH_OK;
}

/* The host's side is page-locked: the only memory that the device reaches at its full speed. */
static kith_status grow_host_workspace(struct cuda_state *state, int64_t bytes)
{
    if (bytes <= state->host_workspace_bytes)
        return KITH_OK;
    cudaFreeHost(state->host_workspace);
    state->host_workspace = NULL;
    state->host_workspace_bytes = 0;
    KITH_TRY(cuda_check(cudaHostAlloc(&state->host_workspace, (size_t)bytes, cudaHostAllocPortable),
                        "page-locked memory of the host for a copy of the arrays"));
    state->host_workspace_bytes = bytes;
    return KITH_OK;
}

/* What belongs to a workspace that has grown on the device. */
static kith_status complete_workspace(struct cuda_state *state)
{
    KITH_TRY(grow_host_workspace(state, state->workspace.bytes));
    /* The padding of columns is copied out too. */
    return cuda_check(
        cudaMemsetAsync(state->workspace.memory, 0, (size_t)state->workspace.bytes, state->stream),
        "clearing memory");
}

kith_status cuda_workspace(kith_context *context, int64_t bytes, void **host, void **own)
{
    struct cuda_state *state = cuda_state_of(context);
    bool captured = false;
    KITH_TRY(is_captured(state, &captured));
    if (captured)
        return kith_fail(KITH_INVALID_ARGUMENT, "arrays in the host's memory cannot be part of a "
                                                "captured graph; give arrays on the device");
    if (state->has_unfinished)
        KITH_TRY(cuda_wait(context, "waiting for a call that was cancelled"));
    const int64_t bytes_before = state->workspace.bytes;
    KITH_TRY(grow(state, &state->workspace, bytes, "a copy of the arrays"));
    if (state->workspace.bytes > bytes_before) {
        const kith_status status = complete_workspace(state);
        if (status != KITH_OK) { /* so that the next call completes it */
            (void)give_up(state, &state->workspace);
            return status;
        }
    }
    *host = state->host_workspace;
    *own = state->workspace.memory;
    return KITH_OK;
}

/* The device copies from and to the workspace in the order of the stream; copies of other memory
 * are waited for by CUDA itself, which cannot be cancelled. */
static bool is_in_workspace(const struct cuda_state *state, const void *host)
{
    const uintptr_t offset = (uintptr_t)host - (uintptr_t)state->host_workspace;
    return offset < (uintptr_t)state->host_workspace_bytes;
}

kith_status cuda_copy_in(kith_context *context, void *to, const void *from_host, int64_t bytes)
{
    const struct cuda_state *state = cuda_state_of(context);
    if (bytes <= 0)
        return KITH_OK;
    if (!is_in_workspace(state, from_host))
        KITH_TRY(cuda_wait(context, "copying to the device"));
    KITH_TRY(cuda_check(
        cudaMemcpyAsync(to, from_host, (size_t)bytes, cudaMemcpyHostToDevice, state->stream),
        "copying to the device"));
    if (is_in_workspace(state, from_host))
        return KITH_OK;
    return cuda_check(cudaStreamSynchronize(state->stream), "copying to the device");
}

kith_status cuda_read(kith_context *context, const struct cuda_reading *readings, int count)
{
    struct cuda_state *state = cuda_state_of(context);
    if (!state->mailbox)
        KITH_TRY(cuda_check(
            cudaHostAlloc((void **)&state->mailbox, cuda_mailbox_bytes, cudaHostAllocPortable),
            "page-locked memory of the host"));
    char *at = state->mailbox;
    for (int k = 0; k < count; at += readings[k++].bytes)
        KITH_TRY(cuda_check(cudaMemcpyAsync(at, readings[k].from, (size_t)readings[k].bytes,
                                            cudaMemcpyDeviceToHost, state->stream),
                            "copying from the device"));
    KITH_TRY(cuda_wait(context, "copying from the device"));
    at = state->mailbox;
    for (int k = 0; k < count; at += readings[k++].bytes)
        memcpy(readings[k].to_host, at, (size_t)readings[k].bytes);
    return KITH_OK;
}

kith_status cuda_copy_out(kith_context *context, void *to_host, const void *from, int64_t bytes)
{
    const struct cuda_state *state = cuda_state_of(context);
    const bool is_staged = !is_in_workspace(state, to_host);
    if (bytes <= 0)
        return KITH_OK;
    if (is_staged && bytes <= cuda_mailbox_bytes)
        return cuda_read(context, &(struct cuda_reading){to_host, from, bytes}, 1);
    if (is_staged)
        KITH_TRY(cuda_wait(context, "copying from the device"));
    KITH_TRY(cuda_check(
        cudaMemcpyAsync(to_host, from, (size_t)bytes, cudaMemcpyDeviceToHost, state->stream),
        "copying from the device"));
    return is_staged ? cuda_check(cudaStreamSynchronize(state->stream), "copying from the device")
                     : cuda_wait(context, "copying from the device");
}

static kith_status check_device_memory(int device, kith_array array, const char *name,
                                       const struct cudaPointerAttributes *memory)
{
    const int64_t each = kith_dtype_bytes(array.dtype);
    if (memory->type == cudaMemoryTypeDevice && memory->device != device)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is labeled cuda:%d and its memory is on cuda:%d; copy it or make a "
                         "context there",
                         name, device, memory->device);
    if (memory->type == cudaMemoryTypeUnregistered || !memory->devicePointer)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is labeled cuda:%d and its memory is not the device's; give device "
                         "memory, or label it as the host's",
                         name, device);
    if ((uintptr_t)array.data % (uintptr_t)each)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "%s begins at an address that is not a multiple of its elements' %lld bytes; "
            "copy it to one that is",
            name, (long long)each);
    return KITH_OK;
}

kith_status cuda_check_memory(const kith_context *context, kith_array array, const char *name)
{
    const struct cuda_state *state = context->device_state;
    const bool on_host = array.device.kind == KITH_CPU;
    struct cudaPointerAttributes memory;
    if (!on_host && (array.device.kind != KITH_CUDA || array.device.index != state->device))
        return KITH_OK;
    KITH_TRY(cuda_check(cudaPointerGetAttributes(&memory, array.data), name));
    if (!on_host)
        return check_device_memory(state->device, array, name, &memory);
    if (memory.type != cudaMemoryTypeDevice)
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s is labeled as the host's and its memory is on cuda:%d; label it cuda:%d, "
                     "or copy it to the host",
                     name, memory.device, memory.device);
}

static void release_claims(struct cuda_state *state, const void *memory)
{
    struct cuda_block *const blocks[] = {&state->scratch, &state->arrays, &state->workspace};
    for (int k = 0; k < cuda_block_count; k++)
        blocks[k]->recordings -= blocks[k]->memory == memory;
    for (struct cuda_kept *kept = state->kept; kept; kept = kept->next)
        kept->block.recordings -= kept->block.memory == memory;
}

void cuda_release_recording(struct cuda_state *state, const struct cuda_recording *recording)
{
    bool captured = false;
    for (int k = 0; k < cuda_block_count; k++)
        if (recording->memory[k])
            release_claims(state, recording->memory[k]);
    if (is_captured(state, &captured) != KITH_OK || captured)
        return; /* the caller's graph must not free it */
    for (struct cuda_kept **link = &state->kept; *link;) {
        struct cuda_kept *kept = *link;
        if (is_used_by_graphs(&kept->block)) {
            link = &kept->next;
            continue;
        }
        *link = kept->next;
        cudaFreeAsync(kept->block.memory, state->stream);
        free(kept);
    }
}

void cuda_release_blocks(struct cuda_state *state)
{
    void *const blocks[] = {state->scratch.memory, state->arrays.memory, state->workspace.memory};
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        if (blocks[k])
            cudaFreeAsync(blocks[k], state->stream);
    while (state->kept) {
        struct cuda_kept *next = state->kept->next;
        cudaFreeAsync(state->kept->block.memory, state->stream);
        free(state->kept);
        state->kept = next;
    }
    if (state->stream)
        cudaStreamSynchronize(state->stream);
    cudaFreeHost(state->host_workspace);
    cudaFreeHost(state->mailbox);
    cudaGetLastError();
}
