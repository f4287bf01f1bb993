#include "ranks/nccl.h"

#include <stdlib.h>
#include <string.h>

#include "core/library.h"
#include "device/context.h"
#include "device/cuda_identity.h"
#include "ranks/ranks.h"

/* What is used of nccl.h; results are 0 for success. */
struct unique_id {
    char bytes[128];
};

/* Of a GPU. */
struct identity {
    char bytes[16];
};

typedef void *communicator;

struct library {
    int (*unique_id)(struct unique_id *id);
    int (*init)(communicator *made, int ranks, struct unique_id id, int rank);
    int (*broadcast)(const void *from, void *to, size_t count, int type, int root,
                     communicator among, void *stream);
    int (*send)(const void *from, size_t count, int type, int to, communicator among, void *stream);
    int (*receive)(void *to, size_t count, int type, int from, communicator among, void *stream);
    int (*group_begin)(void);
    int (*group_end)(void);
    int (*abort)(communicator among);
    const char *(*error)(int result);
};

enum { type_of_bytes = 0 /* ncclInt8 */ };

/* Kept by the context once NCCL is used. */
struct nccl {
    struct library library;
    communicator among;
};

/* Without waiting for the other ranks, as ncclCommDestroy may: what they wait for in their streams
 * ends. */
static void leave(struct nccl *nccl)
{
    if (nccl->among)
        nccl->library.abort(nccl->among);
    nccl->among = NULL;
}

/* After the end of the stream, and so of this rank's operations. */
static void free_nccl(kith_context *context, void *kept)
{
    (void)context;
    leave(kept);
    free(kept);
}

static const struct device_slot_kind nccl_slot = {.free = free_nccl};

/* False if the library is missing, or too old. */
static bool load(struct library *library)
{
    static const char *const name = "libnccl.so.2";
    const struct library_function functions[] = {
        {&library->unique_id, "ncclGetUniqueId"}, {&library->init, "ncclCommInitRank"},
        {&library->broadcast, "ncclBroadcast"},   {&library->send, "ncclSend"},
        {&library->receive, "ncclRecv"},          {&library->group_begin, "ncclGroupStart"},
        {&library->group_end, "ncclGroupEnd"},    {&library->abort, "ncclCommAbort"},
        {&library->error, "ncclGetErrorString"}};
    return !library_find(library_open(&name, 1, NULL), functions,
                         sizeof functions / sizeof functions[0]);
}

/* Whether this is so on all ranks. */
static bool on_all(const struct ranks *ranks, bool here)
{
    struct ranks_vote vote = {.failed = !here};
    ranks_take_vote(ranks, &vote);
    return here && !vote.failed;
}

/* Collective: whether each rank has a GPU of its own; of those that share one, NCCL would hang the
 * others. identities has room for one per rank. */
static bool each_has_its_own(kith_context *context, struct identity *identities)
{
    const struct ranks *ranks = context->ranks;
    for (int32_t k = 0; k <= ranks->size; k++)
        ranks->first[k] = k;
    ranks_gather_parts(context, identities, sizeof identities[0], ranks->first);
    for (int32_t i = 0; i < ranks->size; i++)
        for (int32_t j = 0; j < i; j++)
            if (memcmp(&identities[i], &identities[j], sizeof identities[0]) == 0)
                return false;
    return true;
}

/* Collective. Returns why this rank does not use it, or NULL. */
static const char *begin(kith_context *context)
{
    static const char elsewhere[] = "NCCL did not start on another rank";
    const struct ranks *ranks = context->ranks;
    void **slot = device_slot(context, &nccl_slot);
    struct nccl *nccl = slot ? calloc(1, sizeof *nccl) : NULL;
    struct identity *identities = calloc((size_t)ranks->size, sizeof *identities);
    struct unique_id id = {{0}};
    const char *reason = NULL;
    if (slot)
        *slot = nccl;
    if (!nccl || !identities)
        reason = "out of memory";
    else if (!load(&nccl->library))
        reason = "libnccl.so.2, 2.7 or later, was not found";
    else if (cuda_identify(context, identities[ranks->rank].bytes) != KITH_OK)
        reason = "a GPU cannot be identified";
    else if (ranks->rank == 0 && nccl->library.unique_id(&id) != 0)
        reason = "ncclGetUniqueId failed";
    const bool is_on_all = on_all(ranks, !reason);
    const bool shares = is_on_all && !each_has_its_own(context, identities);
    free(identities);
    if (!is_on_all)
        return reason ? reason : elsewhere;
    if (shares)
        return "ranks share a GPU";
    ranks_broadcast(context, &id, sizeof id);
    const int result = nccl->library.init(&nccl->among, ranks->size, id, ranks->rank);
    if (!on_all(ranks, result == 0))
        return result != 0 ? nccl->library.error(result) : elsewhere;
    return NULL;
}

bool ranks_nccl_is_used(kith_context *context, int64_t bytes)
{
    static const int64_t bytes_before = 1 << 30;
    struct ranks *ranks = context->ranks;
    if (!ranks->nccl_was_tried && ranks->gathered >= bytes_before) {
        ranks->nccl_was_tried = true;
        ranks->why_not_nccl = begin(context);
        ranks->nccl_is_used = !ranks->why_not_nccl;
    }
    ranks->gathered += bytes;
    return ranks->nccl_is_used;
}

/* Collective: ends a group of operations, of which one may have failed. If one has on any rank, all
 * abort theirs, which would wait for it in their streams. */
static kith_status end_group(kith_context *context, struct nccl *nccl, int failed)
{
    const int ended = nccl->library.group_end();
    failed = failed ? failed : ended;
    const kith_status status = ranks_agree(
        context,
        failed ? kith_fail(KITH_INTERNAL_ERROR, "NCCL: %s", nccl->library.error(failed)) : KITH_OK);
    if (context->ranks->failure_is_known) {
        leave(nccl);
        context->ranks->nccl_is_used = false;
    }
    return status;
}

kith_status ranks_nccl_gather(kith_context *context, void *data, int64_t element_bytes,
                              const int64_t *first)
{
    struct nccl *nccl = *device_slot(context, &nccl_slot);
    const struct library *library = &nccl->library;
    void *stream = context->services->stream(context);
    int failed = library->group_begin();
    for (int32_t k = 0; !failed && k < context->ranks->size; k++) {
        char *part = (char *)data + first[k] * element_bytes;
        const int64_t bytes = (first[k + 1] - first[k]) * element_bytes;
        if (bytes > 0)
            failed = library->broadcast(part, part, (size_t)bytes, type_of_bytes, k, nccl->among,
                                        stream);
    }
    return end_group(context, nccl, failed);
}

kith_status ranks_nccl_exchange(kith_context *context, const struct ranks_device_message *messages,
                                int32_t count)
{
    struct nccl *nccl = *device_slot(context, &nccl_slot);
    const struct library *library = &nccl->library;
    void *stream = context->services->stream(context);
    int failed = library->group_begin();
    for (int32_t k = 0; !failed && k < count; k++) {
        const struct ranks_device_message *message = &messages[k];
        const size_t bytes = (size_t)message->bytes;
        if (bytes > 0)
            failed = message->is_sent ? library->send(message->data, bytes, type_of_bytes,
                                                      message->rank, nccl->among, stream)
                                      : library->receive(message->data, bytes, type_of_bytes,
                                                         message->rank, nccl->among, stream);
    }
    return end_group(context, nccl, failed);
}
