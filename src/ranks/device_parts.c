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

/* Memory of the host that the device copies to and from at its full speed, kept by the context. */
struct host_room {
    void *memory;
    int64_t bytes;
};

static void free_room(kith_context *context, void *kept)
{
    struct host_room *room = kept;
    context->services->release_host(context, room->memory);
    free(room);
}

static const struct device_slot_kind room_slot = {.free = free_room};

static kith_status host_memory(kith_context *context, int64_t bytes, char **memory)
{
    static const char what[] = "messages of ranks";
    void **slot = device_slot(context, &room_slot);
    if (!slot)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the messages of ranks");
    if (!*slot)
        KITH_TRY(kith_allocate(1, sizeof(struct host_room), what, slot));
    struct host_room *room = *slot;
    if (bytes > room->bytes) {
        context->services->release_host(context, room->memory);
        *room = (struct host_room){0};
        KITH_TRY(context->services->allocate_host(context, bytes, 1, what, &room->memory));
        room->bytes = bytes;
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

/* Copies to the host or from it, whose time is counted. */
static kith_status copy(kith_context *context, bool is_out, void *here, void *there, int64_t bytes)
{
    const double begin = kith_clock();
    const kith_status status = is_out ? context->services->copy_out(context, here, there, bytes)
                                      : context->services->copy_in(context, there, here, bytes);
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
    status = context->services->synchronize(context);
    context->ranks->copied += kith_clock() - begin;
    return ranks_agree(context, status);
}

static kith_status gather_by_host(kith_context *context, kith_status status, char *there,
                                  int64_t element_bytes)
{
    const struct ranks *ranks = context->ranks;
    const int64_t begin = ranks->first[ranks->rank] * element_bytes;
    const int64_t end = ranks->first[ranks->rank + 1] * element_bytes;
    const int64_t bytes = ranks->first[ranks->size] * element_bytes;
    char *here = NULL;
    if (status == KITH_OK)
        status = host_memory(context, bytes, &here);
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    if (status == KITH_OK)
        status = copy(context, true, here + begin, there + begin, end - begin);
    KITH_TRY(ranks_agree(context, status));
    ranks_gather_parts(context, here, element_bytes, ranks->first);
    status = copy(context, false, here, there, begin);
    if (status == KITH_OK)
        status = copy(context, false, here + end, there + end, bytes - end);
    return ranks_agree(context, status);
}

/* Whether by NCCL: found out before context->ranks->first is set, which that uses, too. */
static kith_status gather(kith_context *context, kith_status status, void *data,
                          int64_t element_bytes, bool by_nccl)
{
    return by_nccl ? gather_by_nccl(context, status, data, element_bytes)
                   : gather_by_host(context, status, data, element_bytes);
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

/* Messages that are sent to the host's memory, one after another, or those that were received back
 * from it. */
static kith_status copy_messages(kith_context *context, const struct ranks_device_message *messages,
                                 int32_t count, bool are_sent, char *here)
{
    for (int32_t k = 0; k < count; here += messages[k++].bytes)
        if (messages[k].is_sent == are_sent && messages[k].bytes > 0)
            KITH_TRY(copy(context, are_sent, here, messages[k].data, messages[k].bytes));
    return KITH_OK;
}

static kith_status exchange_by_host(kith_context *context,
                                    const struct ranks_device_message *messages, int32_t count,
                                    int64_t bytes)
{
    const struct ranks *ranks = context->ranks;
    char *here = NULL;
    kith_status status = host_memory(context, bytes, &here);
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    if (status == KITH_OK)
        status = copy_messages(context, messages, count, true, here);
    KITH_TRY(ranks_agree(context, status));
    char *at = here;
    for (int32_t k = 0; k < count; at += messages[k++].bytes)
        ranks_post(ranks, messages[k].rank, messages[k].tag, messages[k].is_sent ? at : NULL, at,
                   messages[k].bytes);
    ranks->library->wait(ranks->state, 0);
    return ranks_agree(context, copy_messages(context, messages, count, false, here));
}

kith_status ranks_exchange_on_device(kith_context *context, kith_status status,
                                     const struct ranks_device_message *messages, int32_t count)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < count; k++)
        bytes += messages[k].bytes;
    int64_t most = bytes;
    KITH_TRY(ranks_agree_on(context, status, &most));
    return ranks_nccl_is_used(context, most) ? ranks_nccl_exchange(context, messages, count)
                                             : exchange_by_host(context, messages, count, bytes);
}

static kith_status copy_own_part(kith_context *context, void *to, const void *from, int64_t bytes)
{
    return bytes == 0 ? KITH_OK
                      : cuda_check(cudaMemcpyAsync(to, from, (size_t)bytes,
                                                   cudaMemcpyDeviceToDevice, cuda_stream(context)),
                                   "a rank's own part");
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
            status = copy_own_part(context, come, go, bytes_go);
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
