/* Several GPUs that share the work of one context. Each of the others has a context too, with a
 * stream and memory of its own; events order their work. */

#include "device/cuda_peers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"

/* A GPU, and the event that marks the end of a part of its work. */
struct peer {
    kith_context *context;
    cudaEvent_t done;
};

/* In a slot of the context. */
struct cuda_peers {
    int32_t count;
    bool are_direct;
    struct peer own; /* the context itself */
    struct peer peers[];
};

static void free_peers(kith_context *context, void *kept)
{
    struct cuda_peers *peers = kept;
    (void)context;
    for (int32_t k = 0; k < peers->count; k++) {
        if (peers->peers[k].done)
            cudaEventDestroy(peers->peers[k].done);
        kith_context_free(peers->peers[k].context);
    }
    if (peers->own.done)
        cudaEventDestroy(peers->own.done);
    free(peers);
}

static const struct device_slot_kind peers_slot = {.free = free_peers};

/* NULL: none. */
static struct cuda_peers *peers_of(kith_context *context)
{
    void **slot = device_slot(context, &peers_slot);
    return slot ? *slot : NULL;
}

static kith_status check_same_kind(int first, int other)
{
    struct cudaDeviceProp a, b;
    KITH_TRY(cuda_check(cudaGetDeviceProperties(&a, first), "describing the device"));
    KITH_TRY(cuda_check(cudaGetDeviceProperties(&b, other), "describing the device"));
    if (a.major == b.major && a.minor == b.minor && a.multiProcessorCount == b.multiProcessorCount)
        return KITH_OK;
    return kith_fail(KITH_UNSUPPORTED,
                     "peers has cuda:%d, %s, which is of another kind than cuda:%d, %s; give GPUs "
                     "of one kind, whose results have the same bits",
                     other, b.name, first, a.name);
}

static kith_status make_event(struct peer *peer)
{
    int previous = 0;
    KITH_TRY(cuda_enter(cuda_state_of(peer->context)->device, &previous));
    const cudaError_t error = cudaEventCreateWithFlags(&peer->done, cudaEventDisableTiming);
    cuda_leave(previous);
    return cuda_check(error, "making an event");
}

/* The device `from` then uses the memory of `to` without the host, where the machine allows that;
 * elsewhere *are_direct becomes false, and CUDA copies through the host. */
static kith_status enable_access(const struct cuda_state *from, const struct cuda_state *to,
                                 bool *are_direct)
{
    int allowed = 0, previous = 0;
    if (from->device == to->device)
        return KITH_OK;
    KITH_TRY(cuda_check(cudaDeviceCanAccessPeer(&allowed, from->device, to->device),
                        "querying access between devices"));
    *are_direct = *are_direct && allowed;
    if (!allowed)
        return KITH_OK;
    KITH_TRY(cuda_enter(from->device, &previous));
    const cudaError_t error = cudaDeviceEnablePeerAccess(to->device, 0);
    cuda_leave(previous);
    if (error == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();
    else
        KITH_TRY(cuda_check(error, "enabling access between devices"));
    const struct cudaMemAccessDesc access = {
        .location = {.type = cudaMemLocationTypeDevice, .id = from->device},
        .flags = cudaMemAccessFlagsProtReadWrite,
    };
    return cuda_check(cudaMemPoolSetAccess(to->pool, &access, 1),
                      "enabling access to memory of another device");
}

static kith_status open_peer(kith_context *context, int32_t index, struct cuda_peers *peers)
{
    const kith_context_options options = {.device = {KITH_CUDA, index}, .threads = 1};
    struct peer *peer = &peers->peers[peers->count];
    KITH_TRY(kith_context_create(&options, &peer->context));
    peers->count++;
    const struct cuda_state *own = cuda_state_of(peer->context);
    KITH_TRY(check_same_kind(cuda_state_of(context)->device, own->device));
    KITH_TRY(make_event(peer));
    for (int32_t k = 0; k < peers->count; k++) {
        const struct cuda_state *other =
            cuda_state_of(k == 0 ? context : peers->peers[k - 1].context);
        KITH_TRY(enable_access(own, other, &peers->are_direct));
        KITH_TRY(enable_access(other, own, &peers->are_direct));
    }
    return KITH_OK;
}

kith_status cuda_add_peers(kith_context *context, const int32_t *indices, int32_t count)
{
    void **slot = device_slot(context, &peers_slot);
    struct cuda_peers *peers =
        slot && !*slot ? calloc(1, sizeof *peers + (size_t)count * sizeof peers->peers[0]) : NULL;
    if (slot && *slot)
        return kith_fail(KITH_INVALID_ARGUMENT, "context has peers already; make another one");
    if (!peers)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the peers of a context");
    peers->own.context = context;
    peers->are_direct = true;
    kith_status status = make_event(&peers->own);
    for (int32_t k = 0; k < count && status == KITH_OK; k++)
        status = open_peer(context, indices[k], peers);
    if (status == KITH_OK)
        *slot = peers;
    else
        free_peers(context, peers);
    return status;
}

kith_status cuda_check_not_recording(kith_context *context)
{
    return cuda_state_of(context)->recording
               ? kith_fail(KITH_UNSUPPORTED, "work of several devices cannot be recorded")
               : KITH_OK;
}

kith_status cuda_count_peers(kith_context *context, int32_t *count)
{
    const struct cuda_peers *peers = peers_of(context);
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    *count = 0;
    if (!peers)
        return KITH_OK;
    KITH_TRY(cuda_check_not_recording(context));
    KITH_TRY(cuda_check(cudaStreamIsCapturing(cuda_stream(context), &capture), "using the stream"));
    if (capture == cudaStreamCaptureStatusNone)
        *count = peers->count;
    return KITH_OK;
}

static kith_status wait_for(const struct peer *waits, const struct peer *other)
{
    return cuda_check(cudaStreamWaitEvent(cuda_stream(waits->context), other->done, 0),
                      "waiting for another device");
}

static kith_status mark(const struct peer *peer)
{
    return cuda_check(cudaEventRecord(peer->done, cuda_stream(peer->context)),
                      "marking the work of a device");
}

/* Streams of no peers wait for nothing. */
static kith_status fork_streams(const struct cuda_peers *peers)
{
    if (!peers)
        return KITH_OK;
    KITH_TRY(mark(&peers->own));
    for (int32_t k = 0; k < peers->count; k++)
        KITH_TRY(wait_for(&peers->peers[k], &peers->own));
    return KITH_OK;
}

static kith_status join_streams(const struct cuda_peers *peers)
{
    for (int32_t k = 0; peers && k < peers->count; k++) {
        KITH_TRY(mark(&peers->peers[k]));
        KITH_TRY(wait_for(&peers->own, &peers->peers[k]));
    }
    return KITH_OK;
}

/* What one device does of a shared work. */
struct part {
    kith_context *leader;
    struct cuda_part device;
    cuda_work *work;
    void *argument;
    pthread_t thread;
    bool has_thread;
    kith_status status;
    char message[512]; /* of the thread's error */
};

static void do_part(struct part *part)
{
    kith_context *context = part->device.context;
    int previous = 0;
    part->status = cuda_enter(cuda_state_of(context)->device, &previous);
    if (part->status == KITH_OK) {
        part->status = part->work(&part->device, part->argument);
        cuda_leave(previous);
    }
    if (part->status != KITH_OK)
        snprintf(part->message, sizeof part->message, "%s", kith_error_message());
}

/* As the leader itself does: not where it goes on although it is cancelled, as for the last
 * checkpoint of a run, and in a job not before all ranks do. */
static bool leader_stops(void *leader)
{
    return kith_context_stops(leader);
}

static void *do_peers_part(void *argument)
{
    struct part *part = argument;
    kith_context *context = part->device.context;
    kith_context_clear_cancel(context);
    kith_context_set_poll(context, leader_stops, part->leader);
    do_part(part);
    kith_context_set_poll(context, NULL, NULL);
    return NULL;
}

/* In a thread of its own if the work waits for the device; without threads one after the other. */
static void begin_part(struct part *part, bool waits)
{
    part->has_thread = waits && pthread_create(&part->thread, NULL, do_peers_part, part) == 0;
    if (!part->has_thread) {
        part->device.is_alone = true;
        do_peers_part(part);
    }
}

kith_status cuda_share(kith_context *context, bool waits, cuda_work *work, void *argument)
{
    const struct cuda_peers *peers = peers_of(context);
    const int32_t count = peers ? peers->count + 1 : 1;
    struct part *parts = NULL;
    KITH_TRY(kith_allocate(count, sizeof *parts, "the parts of several devices", &parts));
    kith_status status = fork_streams(peers);
    for (int32_t k = 0; k < count; k++)
        parts[k] = (struct part){
            .leader = context,
            .device = {context, k == 0 ? context : peers->peers[k - 1].context, k, count, false},
            .work = work,
            .argument = argument};
    for (int32_t k = 1; k < count && status == KITH_OK; k++)
        begin_part(&parts[k], waits);
    if (status == KITH_OK)
        status = work(&parts[0].device, argument);
    for (int32_t k = 1; k < count; k++)
        if (parts[k].has_thread)
            pthread_join(parts[k].thread, NULL);
    const kith_status joined = join_streams(peers);
    for (int32_t k = 1; k < count && status == KITH_OK; k++)
        if (parts[k].status != KITH_OK)
            status = kith_fail(parts[k].status, "%s", parts[k].message);
    free(parts);
    return status == KITH_OK ? joined : status;
}

static kith_status copy(kith_context *to, void *there, kith_context *from, const void *here,
                        int64_t bytes, kith_context *on)
{
    return cuda_check(cudaMemcpyPeerAsync(there, cuda_state_of(to)->device, here,
                                          cuda_state_of(from)->device, (size_t)bytes,
                                          cuda_stream(on)),
                      "copying to another device");
}

kith_status cuda_copy_to_part(const struct cuda_part *part, void *to, const void *from,
                              int64_t bytes)
{
    return copy(part->context, to, part->leader, from, bytes, part->context);
}

kith_status cuda_copy_from_part(const struct cuda_part *part, void *to, const void *from,
                                int64_t bytes)
{
    return copy(part->leader, to, part->context, from, bytes, part->context);
}

kith_status cuda_copy_from_peer(kith_context *context, int32_t k, void *to, const void *from,
                                int64_t bytes)
{
    return copy(context, to, peers_of(context)->peers[k].context, from, bytes, context);
}

kith_status cuda_copy_between(kith_context *to, void *there, kith_context *from, const void *here,
                              int64_t bytes)
{
    return copy(to, there, from, here, bytes, from);
}

kith_context *cuda_device_of(kith_context *context, int32_t k)
{
    return k == 0 ? context : peers_of(context)->peers[k - 1].context;
}

bool cuda_peers_are_direct(kith_context *context)
{
    const struct cuda_peers *peers = peers_of(context);
    return peers && peers->are_direct;
}

/* Two devices wait for each other at the same time; more of them by way of the leader, which takes
 * fewer calls. */
kith_status cuda_wait_for_all(kith_context *context)
{
    const struct cuda_peers *peers = peers_of(context);
    if (peers && peers->count == 1) {
        KITH_TRY(mark(&peers->own));
        KITH_TRY(mark(&peers->peers[0]));
        KITH_TRY(wait_for(&peers->own, &peers->peers[0]));
        return wait_for(&peers->peers[0], &peers->own);
    }
    KITH_TRY(join_streams(peers));
    return fork_streams(peers);
}
