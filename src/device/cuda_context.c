/* The devices of the machine, and a context on one. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bad_row.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_identity.h"
#include "device/cuda_state.h"

/* Freed memory that stays with a context: what a simulation takes and gives back each time that
 * it writes a frame then costs nothing, and other programs can have the rest. */
static const uint64_t idle_bytes = (uint64_t)256 << 20;

struct cuda_state *cuda_state_of(kith_context *context)
{
    return context->device_state;
}

cudaStream_t cuda_stream(kith_context *context)
{
    return cuda_state_of(context)->stream;
}

int cuda_multiprocessors(kith_context *context)
{
    return cuda_state_of(context)->multiprocessors;
}

bool cuda_overlaps(kith_context *context)
{
    return cuda_state_of(context)->overlaps;
}

struct cuda_deferred_error *cuda_deferred_error_of(kith_context *context)
{
    const struct cuda_state *state = cuda_state_of(context);
    return &state->deferred[state->holds_errors];
}

void cuda_hold_errors(kith_context *context)
{
    struct cuda_state *state = cuda_state_of(context);
    state->holds_errors = true;
    state->deferred[1] = (struct cuda_deferred_error){0};
}

void cuda_drop_errors(kith_context *context)
{
    struct cuda_state *state = cuda_state_of(context);
    state->holds_errors = false;
    state->has_unfinished = true; /* kernels that may still find some */
}

kith_status cuda_report_errors(kith_context *context)
{
    struct cuda_state *state = cuda_state_of(context);
    state->holds_errors = false;
    KITH_TRY(cuda_wait(context, "waiting for the device"));
    return cuda_report_deferred_error(&state->deferred[1]);
}

kith_status cuda_report_deferred_error(struct cuda_deferred_error *deferred)
{
    if (!deferred->array)
        return KITH_OK;
    const struct cuda_deferred_error found = *deferred;
    deferred->array = NULL;
    return kith_fail_at_row(found.array, found.row, found.value, found.remedy);
}

static const char *why_none(cudaError_t error)
{
    static _Thread_local char versions[128];
    int driver = 0;
    if (error != cudaErrorInsufficientDriver)
        return error == cudaSuccess || error == cudaErrorNoDevice ? "no NVIDIA GPU was found"
                                                                  : cudaGetErrorString(error);
    cudaDriverGetVersion(&driver);
    if (driver == 0)
        return "no NVIDIA driver is installed";
    snprintf(versions, sizeof versions,
             "the NVIDIA driver supports CUDA up to %d.%d, but this build needs %d.%d; update it",
             driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return versions;
}

int32_t cuda_device_count(const char **note)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) {
        *note = NULL;
        return count;
    }
    cudaGetLastError();
    *note = why_none(error);
    return 0;
}

kith_status cuda_describe(int32_t k, kith_device_info *info)
{
    struct cudaDeviceProp properties;
    KITH_TRY(cuda_check(cudaGetDeviceProperties(&properties, k), "describing the device"));
    snprintf(info->name, sizeof info->name, "%s", properties.name);
    snprintf(info->architecture, sizeof info->architecture, "sm_%d%d", properties.major,
             properties.minor);
    info->multiprocessors = properties.multiProcessorCount;
    info->memory_bytes = (int64_t)properties.totalGlobalMem;
    return KITH_OK;
}

kith_status cuda_identify(const kith_context *context, char identity[16])
{
    struct cudaDeviceProp properties;
    KITH_TRY(cuda_check(cudaGetDeviceProperties(&properties, context->device.index),
                        "describing the device"));
    memcpy(identity, properties.uuid.bytes, 16);
    return KITH_OK;
}

kith_status cuda_enter(int device, int *previous)
{
    KITH_TRY(cuda_check(cudaGetDevice(previous), "querying the current device"));
    return *previous == device ? KITH_OK : cuda_check(cudaSetDevice(device), "choosing the device");
}

void cuda_leave(int previous)
{
    int current = previous;
    if (cudaGetDevice(&current) == cudaSuccess && current != previous)
        cudaSetDevice(previous);
}

static kith_status check_stream(const struct cuda_state *state)
{
    int device = state->device;
#if CUDART_VERSION >= 12080
    KITH_TRY(cuda_check(cudaStreamGetDevice(state->stream, &device), "the caller's stream"));
#endif
    if (device != state->device)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "stream belongs to cuda:%d, but device is cuda:%d; give a stream of the "
                         "context's device",
                         device, state->device);
    return KITH_OK;
}

static kith_status open_stream(struct cuda_state *state, void *callers)
{
    state->stream = callers;
    if (callers)
        return check_stream(state);
    KITH_TRY(cuda_check(cudaStreamCreate(&state->stream), "making a stream"));
    state->owns_stream = true;
    return KITH_OK;
}

static kith_status open_pool(struct cuda_state *state)
{
    int supported = 0;
    KITH_TRY(cuda_check(
        cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, state->device),
        "querying the properties of the device"));
    if (!supported)
        return kith_fail(KITH_UNSUPPORTED,
                         "cuda:%d has no memory pools, which kith needs; use another device",
                         state->device);

    const struct cudaMemPoolProps properties = {
        .allocType = cudaMemAllocationTypePinned,
        .location = {.type = cudaMemLocationTypeDevice, .id = state->device},
    };
    uint64_t idle = idle_bytes;
    KITH_TRY(cuda_check(cudaMemPoolCreate(&state->pool, &properties), "making a memory pool"));
    return cuda_check(cudaMemPoolSetAttribute(state->pool, cudaMemPoolAttrReleaseThreshold, &idle),
                      "setting up a memory pool");
}

static kith_status open_all(struct cuda_state *state, void *callers_stream)
{
    KITH_TRY(cuda_check_architecture(state->device, &state->overlaps));
    KITH_TRY(cuda_check(cudaDeviceGetAttribute(&state->multiprocessors,
                                               cudaDevAttrMultiProcessorCount, state->device),
                        "querying the properties of the device"));
    KITH_TRY(open_stream(state, callers_stream));
    KITH_TRY(open_pool(state));
    KITH_TRY(cuda_check(cudaHostAlloc((void **)&state->deferred, 2 * sizeof *state->deferred,
                                      cudaHostAllocMapped | cudaHostAllocPortable),
                        "page-locked memory of the host"));
    state->deferred[0] = state->deferred[1] = (struct cuda_deferred_error){0};
    return KITH_OK;
}

static void free_state(struct cuda_state *state)
{
    cuda_copies_free(state->copies);
    cuda_release_blocks(state);
    if (state->pool)
        cudaMemPoolDestroy(state->pool);
    if (state->owns_stream)
        cudaStreamDestroy(state->stream);
    cudaFreeHost(state->deferred);
    free(state);
}

kith_status cuda_open(kith_context *context)
{
    struct cuda_state *state = NULL;
    int previous = 0;
    KITH_TRY(kith_allocate(1, sizeof *state, "context", &state));
    state->device = context->device.index;
    kith_status status = cuda_enter(state->device, &previous);
    if (status == KITH_OK)
        status = open_all(state, context->stream);
    if (status == KITH_OK)
        context->device_state = state;
    else
        free_state(state);
    cuda_leave(previous);
    return status;
}

void cuda_close(kith_context *context)
{
    struct cuda_state *state = cuda_state_of(context);
    int previous = 0;
    (void)cuda_enter(state->device, &previous);
    free_state(state);
    cuda_leave(previous);
}

kith_status cuda_synchronize(kith_context *context)
{
    struct cuda_state *state = cuda_state_of(context);
    KITH_TRY(cuda_wait(context, "waiting for the device"));
    return cuda_report_deferred_error(state->deferred);
}
