#include "ranks/device_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "ranks/nccl.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"

enum { tag_of_parts = 13 };

/* Memory that the message library takes, kept by the context: the GPU's, by cudaMalloc, as
 * libraries open nothing else from another process (not the memory of pools, which arrays are in);
 * or the host's, page-locked. */
struct room {
    void *memory;
    int64_t bytes;
    bool is_on_device;
};

static void empty(kith_context *context, struct room *room)
{
    if (!room->is_on_device)
        context->services->release_host(context, room->memory);
    else if (cudaFree(room->memory) != cudaSuccess)
        cudaGetLastError();
    *room = (struct room){.is_on_device = room->is_on_device};
}

static void free_room(kith_context *context, void *kept)
{
    empty(context, kept);
    free(kept);
}

static const struct device_slot_kind room_slot = {.free = free_room};

/* Grows by a quarter at least, because other processes have to open the new memory. */
static kith_status room_of(kith_context *context, int64_t bytes, char **memory)
{
    static const char what[] = "messages of ranks";
    void **slot = device_slot(context, &room_slot);
    if (!slot)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the messages of ranks");
    if (!*slot)
        KITH_TRY(kith_allocate(1, sizeof(struct room), what, slot));
    struct room *room = *slot;
    if (bytes > room->bytes) {
        const int64_t larger = room->bytes + room->bytes / 4;
        const int64_t all = bytes > larger ? bytes : larger;
        empty(context, room);
        room->is_on_device = context->ranks->takes_device_memory;
        KITH_TRY(room->is_on_device
                     ? cuda_check(cudaMalloc(&room->memory, (size_t)all), what)
                     : context->services->allocate_host(context, all, 1, what, &room->memory));
        room->bytes = all;
    }
    *memory = room->memory;
    return KITH_OK;
}

bool ranks_device_share(const kith_context *context, int32_t *index, int32_t *count)
{
    const struct ranks *ranks = context->ranks;
    *index = ranks ? ranks->rank : 0;
    *count = ranks ? ranks->size : 1;
    return ranks != NULL;
}

void ranks_add_counts(const kith_context *context, int64_t *first, int64_t *second)
{
    unsigned long long counts[] = {(unsigned long long)*first, (unsigned long long)*second};
    ranks_add(context, counts, 2);
    *first = (int64_t)counts[0];
    *second = (int64_t)counts[1];
}

/* Copies between arrays and the room, in the order of the stream. */
static kith_status copy(kith_context *context, void *to, const void *from, int64_t bytes)
{
    return bytes == 0 ? KITH_OK
                      : cuda_check(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault,
                                                   cuda_stream(context)),
                                   "copying messages of ranks");
}

/* Waits for copies that began after status and at a time, which is counted. */
static kith_status finish_copies(kith_context *context, kith_status status, double begin)
{
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    context->ranks->copied += kith_clock() - begin;
    return status;
}

/* Of an array whose elements context->ranks->first divides, in the device's memory. */
static kith_status gather_by_nccl(kith_context *context, kith_status status, void *data,
                                  int64_t element_bytes)
{
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    KITH_TRY(ranks_agree(context, status));
    const double begin = kith_clock();
    KITH_TRY(ranks_nccl_gather(context, data, element_bytes, context->ranks->first));
    return ranks_agree(context, finish_copies(context, KITH_OK, begin));
}

/* The parts of all ranks come to the room. */
static void gather_in_room(kith_context *context, char *room, int64_t element_bytes)
{
    const struct ranks *ranks = context->ranks;
    const int64_t *first = ranks->first;
    if (!ranks->takes_device_memory) {
        ranks_gather_parts(context, room, element_bytes, first);
        return;
    }
    for (int32_t k = 1; k < ranks->size; k++) {
        const int32_t to = (ranks->rank + k) % ranks->size;
        const int32_t from = (ranks->rank + ranks->size - k) % ranks->size;
        ranks_post(ranks, from, tag_of_parts, NULL, room + first[from] * element_bytes,
                   (first[from + 1] - first[from]) * element_bytes);
        ranks_post(ranks, to, tag_of_parts, room + first[ranks->rank] * element_bytes, NULL,
                   (first[ranks->rank + 1] - first[ranks->rank]) * element_bytes);
    }
    ranks->library->wait(ranks->state, 0);
}

static kith_status gather_by_messages(kith_context *context, kith_status status, char *data,
                                      int64_t element_bytes)
{
    const struct ranks *ranks = context->ranks;
    const int64_t begin = ranks->first[ranks->rank] * element_bytes;
    const int64_t end = ranks->first[ranks->rank + 1] * element_bytes;
    const int64_t bytes = ranks->first[ranks->size] * element_bytes;
    char *room = NULL;
    if (status == KITH_OK)
        status = room_of(context, bytes, &room);
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    double began = kith_clock();
    if (status == KITH_OK)
        status = copy(context, room + begin, data + begin, end - begin);
    KITH_TRY(ranks_agree(context, finish_copies(context, status, began)));
    gather_in_room(context, room, element_bytes);
    began = kith_clock();
    status = copy(context, data, room, begin);
    if (status == KITH_OK)
        status = copy(context, data + end, room + end, bytes - end);
    return ranks_agree(context, finish_copies(context, status, began));
}

/* Whether by NCCL: found out before context->ranks->first is set, which that uses, too. */
static kith_status gather(kith_context *context, kith_status status, void *data,
                          int64_t element_bytes, bool by_nccl)
{
    return by_nccl ? gather_by_nccl(context, status, data, element_bytes)
                   : gather_by_messages(context, status, data, element_bytes);
}

kith_status ranks_gather_on_device(kith_context *context, kith_status status, void *data,
                                   int64_t elements, int64_t element_bytes)
{
    const struct ranks *ranks = context->ranks;
    const bool by_nccl = ranks_nccl_is_used(context, elements * element_bytes);
    for (int32_t k = 0; k <= ranks->size; k++)
        ranks->first[k] = ranks_first(elements, ranks->size, k);
    return gather(context, status, data, element_bytes, by_nccl);
}

kith_status ranks_gather_parts_on_device(kith_context *context, kith_status status, void *data,
                                         int64_t element_bytes, const int64_t *first)
{
    const struct ranks *ranks = context->ranks;
    const bool by_nccl = ranks_nccl_is_used(context, first[ranks->size] * element_bytes);
    memcpy(ranks->first, first, ((size_t)ranks->size + 1) * sizeof *first);
    return gather(context, status, data, element_bytes, by_nccl);
}

/* Messages that are sent go to the room, one after another, or those that were received come from
 * it. */
static kith_status copy_messages(kith_context *context, const struct ranks_device_message *messages,
                                 int32_t count, bool are_sent, char *room)
{
    const double begin = kith_clock();
    kith_status status = KITH_OK;
    for (int32_t k = 0; k < count && status == KITH_OK; room += messages[k++].bytes)
        if (messages[k].is_sent == are_sent)
            status = copy(context, are_sent ? room : messages[k].data,
                          are_sent ? messages[k].data : room, messages[k].bytes);
    return finish_copies(context, status, begin);
}

static kith_status exchange_by_messages(kith_context *context,
                                        const struct ranks_device_message *messages, int32_t count,
                                        int64_t bytes)
{
    const struct ranks *ranks = context->ranks;
    char *room = NULL;
    kith_status status = room_of(context, bytes, &room);
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    if (status == KITH_OK)
        status = copy_messages(context, messages, count, true, room);
    KITH_TRY(ranks_agree(context, status));
    char *at = room;
    for (int32_t k = 0; k < count; at += messages[k++].bytes)
        ranks_post(ranks, messages[k].rank, messages[k].tag, messages[k].is_sent ? at : NULL, at,
                   messages[k].bytes);
    ranks->library->wait(ranks->state, 0);
    return ranks_agree(context, copy_messages(context, messages, count, false, room));
}

kith_status ranks_exchange_on_device(kith_context *context, kith_status status,
                                     const struct ranks_device_message *messages, int32_t count)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < count; k++)
        bytes += messages[k].bytes;
    int64_t most = bytes;
    KITH_TRY(ranks_agree_on(context, status, &most));
    return ranks_nccl_is_used(context, most)
               ? ranks_nccl_exchange(context, messages, count)
               : exchange_by_messages(context, messages, count, bytes);
}

kith_status ranks_exchange_parts_on_device(kith_context *context, kith_status status, int32_t tag,
                                           int64_t element_bytes, const int64_t *first_sent,
                                           const void *sent, const int64_t *first_received,
                                           void *received)
{
    const struct ranks *ranks = context->ranks;
    struct ranks_device_message *messages = NULL;
    int32_t count = 0;
    if (status == KITH_OK)
        status = kith_allocate(2 * ranks->size, sizeof *messages, "messages of ranks", &messages);
    for (int32_t k = 0; k < ranks->size && status == KITH_OK; k++) {
        char *go = (char *)sent + first_sent[k] * element_bytes;
        char *come = (char *)received + first_received[k] * element_bytes;
        const int64_t bytes_go = (first_sent[k + 1] - first_sent[k]) * element_bytes;
        const int64_t bytes_come = (first_received[k + 1] - first_received[k]) * element_bytes;
        if (k == ranks->rank) {
            status = copy(context, come, go, bytes_go);
            continue;
        }
        if (bytes_go > 0)
            messages[count++] = (struct ranks_device_message){go, bytes_go, k, tag, true};
        if (bytes_come > 0)
            messages[count++] = (struct ranks_device_message){come, bytes_come, k, tag, false};
    }
    status = ranks_exchange_on_device(context, status, messages, count);
    free(messages);
    return status;
}
