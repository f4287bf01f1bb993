/* Contexts of programs of the user's that pass messages themselves. */

#include <stdlib.h>

#include "core/arguments.h"
#include "ranks/ranks.h"

/* A job that the context owns, and the numbers that it needs for a gather. */
struct joined {
    struct ranks ranks;
    int64_t first[];
};

static void free_joined(kith_context *context, void *kept)
{
    context->ranks = NULL;
    free(kept);
}

static const struct device_slot_kind joined_slot = {.free = free_joined};

static kith_status check_messages(const kith_messages *messages)
{
    KITH_TRY(kith_check_pointer(messages, "messages"));
    if (messages->post_send && messages->post_receive && messages->post_maximum &&
        messages->progress && messages->wait && messages->broadcast && messages->gather &&
        messages->add)
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "messages has a NULL function; set all but takes_device_memory");
}

kith_status kith_context_join(kith_context *context, const kith_messages *messages, void *state,
                              int32_t size, int32_t rank)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(check_messages(messages));
    if (size < 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "size is %d; a job has at least one rank",
                         (int)size);
    if (rank < 0 || rank >= size)
        return kith_fail(KITH_INVALID_ARGUMENT, "rank is %d; the ranks of this job are 0 to %d",
                         (int)rank, (int)size - 1);
    if (context->ranks)
        return kith_fail(KITH_INVALID_ARGUMENT, "context is in a job already; make another one");
    void **slot = device_slot(context, &joined_slot);
    struct joined *joined =
        slot ? calloc(1, sizeof *joined + ((size_t)size + 1) * sizeof(int64_t)) : NULL;
    if (!joined)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the ranks of a job");
    joined->ranks = (struct ranks){
        .library = messages, .state = state, .size = size, .rank = rank, .first = joined->first};
    *slot = joined;
    return ranks_join(context, &joined->ranks);
}
