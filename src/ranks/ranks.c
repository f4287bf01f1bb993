/* What the ranks of a job agree on, and the exchanges that all of them take part in. */

#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "ranks/partition.h"

void ranks_take_vote(const struct ranks *ranks, struct ranks_vote *vote)
{
    int64_t values[KITH_MESSAGE_VALUES] = {vote->failed, vote->stops, vote->value};
    ranks->library->post_maximum(ranks->state, 0, values, KITH_MESSAGE_VALUES);
    ranks->library->wait(ranks->state, 0);
    *vote = (struct ranks_vote){values[0], values[1], values[2]};
}

kith_status ranks_agree_on(kith_context *context, kith_status status, int64_t *value)
{
    struct ranks *ranks = context->ranks;
    if (!ranks)
        return status;
    const bool stops = atomic_load(&context->cancel_wanted) && !context->goes_on;
    struct ranks_vote vote = {status != KITH_OK, stops, *value};
    ranks_take_vote(ranks, &vote);
    *value = vote.value;
    ranks->failure_is_known = vote.failed;
    if (status != KITH_OK)
        return status;
    if (vote.failed) {
        ranks->failed_elsewhere = true;
        return kith_fail(KITH_IO_ERROR, "another rank of the job has failed");
    }
    if (vote.stops)
        atomic_store(&context->cancelled, true);
    return kith_context_check_cancelled(context);
}

kith_status ranks_agree(kith_context *context, kith_status status)
{
    int64_t nothing = 0;
    return ranks_agree_on(context, status, &nothing);
}

static bool takes_device_memory(const struct ranks *ranks)
{
    return ranks->library->takes_device_memory && ranks->library->takes_device_memory(ranks->state);
}

/* Collective: the devices of all ranks are of one kind, whose results have the same bits, and the
 * message library takes their memory on all or on none. A rank that has no context takes part in
 * the first vote alone. */
static kith_status agree_on_devices(kith_context *context)
{
    const kith_device device = context->device;
    kith_device_info info = {0};
    kith_status status = KITH_OK;
    if (context->services->describe)
        status = context->services->describe(device.index, &info);
    const char *architecture = info.architecture; /* "sm_90"; of the CPU empty */
    const long of_code = architecture[0] ? strtol(architecture + strlen("sm_"), NULL, 10) : 0;
    const double kind =
        ((double)device.kind * 65536 + (double)of_code) * 65536 + (double)info.multiprocessors;
    double largest[] = {kind, -kind, !takes_device_memory(context->ranks)};
    KITH_TRY(ranks_agree(context, status));
    ranks_maximum(context, largest, 3);
    context->ranks->takes_device_memory = largest[2] == 0;
    if (largest[0] == kind && largest[1] == -kind)
        return ranks_agree(context, KITH_OK);
    status =
        kith_fail(KITH_UNSUPPORTED,
                  "device is %s, and the ranks of this job have devices of different kinds; give "
                  "all the CPU, or GPUs of one kind",
                  context->services->name);
    return ranks_agree(context, status);
}

kith_status ranks_join(kith_context *context, struct ranks *ranks)
{
    context->ranks = ranks;
    int64_t isa = context->isa; /* best first */
    KITH_TRY(agree_on_devices(context));
    KITH_TRY(ranks_agree_on(context, KITH_OK, &isa));
    context->isa = (int32_t)isa;
    ranks_broadcast(context, &context->tuning, sizeof context->tuning);
    return KITH_OK;
}

void ranks_broadcast(const kith_context *context, void *data, int64_t bytes)
{
    const int64_t piece = 1 << 26; /* counts of MPI are int */
    const struct ranks *ranks = context->ranks;
    for (int64_t at = 0; ranks && at < bytes; at += piece)
        ranks->library->broadcast(ranks->state, (char *)data + at,
                                  bytes - at < piece ? bytes - at : piece);
}

void ranks_gather(const kith_context *context, void *data, int64_t element_bytes, int64_t count,
                  int64_t part)
{
    const struct ranks *ranks = context->ranks;
    if (!ranks)
        return;
    for (int32_t k = 0; k < ranks->size; k++)
        ranks->first[k] = ranks_first_element(count, part, ranks->size, k);
    ranks->first[ranks->size] = count;
    ranks_gather_parts(context, data, element_bytes, ranks->first);
}

void ranks_gather_parts(const kith_context *context, void *data, int64_t element_bytes,
                        const int64_t *first)
{
    const struct ranks *ranks = context->ranks;
    if (ranks)
        ranks->library->gather(ranks->state, data, element_bytes, first);
}

void ranks_add(const kith_context *context, unsigned long long *values, int64_t count)
{
    const int64_t piece = 1 << 24; /* counts of MPI are int */
    const struct ranks *ranks = context->ranks;
    for (int64_t at = 0; ranks && at < count; at += piece)
        ranks->library->add(ranks->state, values + at, count - at < piece ? count - at : piece);
}

/* Elements of one division that a rank of another has. */
static int64_t overlap(int64_t count, int32_t size, int64_t part_before, int32_t rank_before,
                       int64_t part_after, int32_t rank_after, int64_t *first)
{
    const int64_t begin_before = ranks_first_element(count, part_before, size, rank_before);
    const int64_t begin_after = ranks_first_element(count, part_after, size, rank_after);
    const int64_t end_before = ranks_first_element(count, part_before, size, rank_before + 1);
    const int64_t end_after = ranks_first_element(count, part_after, size, rank_after + 1);
    *first = begin_before > begin_after ? begin_before : begin_after;
    return (end_before < end_after ? end_before : end_after) - *first;
}

enum { tag_of_division = 5, message_bytes = 1 << 30 };

void ranks_post(const struct ranks *ranks, int32_t other, int32_t tag, const char *sent,
                char *received, int64_t bytes)
{
    const kith_messages *library = ranks->library;
    for (int64_t at = 0; at < bytes; at += message_bytes) {
        const int64_t some = bytes - at < message_bytes ? bytes - at : message_bytes;
        if (sent)
            library->post_send(ranks->state, 0, other, tag, sent + at, some);
        else
            library->post_receive(ranks->state, 0, other, tag, received + at, some);
    }
}

void ranks_divide_again(const kith_context *context, int64_t count, int64_t element_bytes,
                        int64_t part_before, const void *before, int64_t part_after, void *after)
{
    const struct ranks *ranks = context->ranks;
    const int32_t size = ranks ? ranks->size : 1, rank = ranks ? ranks->rank : 0;
    const int64_t own_before = ranks_first_element(count, part_before, size, rank);
    const int64_t own_after = ranks_first_element(count, part_after, size, rank);
    for (int32_t other = 0; other < size; other++) {
        int64_t first = 0;
        const int64_t come = overlap(count, size, part_before, other, part_after, rank, &first);
        char *to = come > 0 ? (char *)after + (first - own_after) * element_bytes : NULL;
        if (come > 0 && other == rank)
            memcpy(to, (const char *)before + (first - own_before) * element_bytes,
                   (size_t)(come * element_bytes));
        else if (come > 0)
            ranks_post(ranks, other, tag_of_division, NULL, to, come * element_bytes);
        const int64_t go = overlap(count, size, part_before, rank, part_after, other, &first);
        if (go > 0 && other != rank)
            ranks_post(ranks, other, tag_of_division,
                       (const char *)before + (first - own_before) * element_bytes, NULL,
                       go * element_bytes);
    }
    if (ranks)
        ranks->library->wait(ranks->state, 0);
}

enum { tag_of_turns = 3 };

void ranks_in_turn(const kith_context *context, ranks_work *work, void *argument, void *state,
                   int64_t bytes)
{
    const struct ranks *ranks = context->ranks;
    if (!ranks || ranks->size == 1) {
        work(argument, state);
        return;
    }
    const kith_messages *library = ranks->library;
    const int32_t last = ranks->size - 1, rank = ranks->rank;
    if (rank > 0) {
        library->post_receive(ranks->state, 0, rank - 1, tag_of_turns, state, bytes);
        library->wait(ranks->state, 0);
    }
    work(argument, state);
    library->post_send(ranks->state, 0, rank == last ? 0 : rank + 1, tag_of_turns, state, bytes);
    library->wait(ranks->state, 0);
    if (rank == 0) {
        library->post_receive(ranks->state, 0, last, tag_of_turns, state, bytes);
        library->wait(ranks->state, 0);
    }
    ranks_broadcast(context, state, bytes);
}

/* Numbers in the order of their bits as integers: those below 0 the other way round. */
static int64_t ordered(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double unordered(int64_t key)
{
    const int64_t bits = key < 0 ? INT64_MIN - key : key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void ranks_maximum(const kith_context *context, double *values, int32_t count)
{
    const struct ranks *ranks = context->ranks;
    int64_t keys[KITH_MESSAGE_VALUES] = {0};
    if (!ranks)
        return;
    for (int32_t k = 0; k < count; k++)
        keys[k] = ordered(values[k]);
    ranks->library->post_maximum(ranks->state, 0, keys, count);
    ranks->library->wait(ranks->state, 0);
    for (int32_t k = 0; k < count; k++)
        values[k] = unordered(keys[k]);
}
