/* What ranks that share a Verlet list exchange at every step. */

#include "forces/verlet_share_cuda.h"
#include "ranks/device_parts.h"

enum { tag_downward = 7, tag_upward = 8, tag_of_control = 9 };

kith_status verlet_agree_cuda(kith_context *context, const struct verlet_cuda *verlet,
                              kith_status status)
{
    return verlet->is_of_ranks ? ranks_agree(context, status) : status;
}

/* What this rank sends and receives at a time: on either side, and with each other rank. */
struct messages {
    struct ranks_device_message each[4 + 2 * (verlet_most_devices - 1)];
    int32_t count;
};

static void add(struct messages *messages, void *data, int64_t bytes, int32_t rank, int32_t tag,
                bool is_sent)
{
    messages->each[messages->count++] = {data, bytes, rank, tag, is_sent};
}

/* Of an array by slot, own particles that are ghosts of the slabs next to this one, and ghosts. Of
 * two ranks, each is both below and above the other. */
static void add_ghosts(const struct verlet_cuda *verlet, void *array, struct messages *messages)
{
    const struct verlet_cuda_list *list = &verlet->building.list;
    const int below = (list->device + list->devices - 1) % list->devices;
    const int above = (list->device + 1) % list->devices;
    const int64_t each = verlet_bytes_of_vector(verlet);
    const int64_t down = verlet->sent_below * each, up = verlet->sent_above * each;
    char *first = (char *)array + list->first * each, *end = (char *)array + list->end * each;
    add(messages, first, down, below, tag_downward, true);
    add(messages, end - up, up, above, tag_upward, true);
    add(messages, end, list->high * each, above, tag_downward, false);
    add(messages, first - list->low * each, list->low * each, below, tag_upward, false);
}

kith_status verlet_exchange_reference_ranks_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    struct messages messages = {};
    add_ghosts(verlet, verlet->building.list.reference, &messages);
    return ranks_exchange_on_device(context, KITH_OK, messages.each, messages.count);
}

kith_status verlet_exchange_ranks_cuda(kith_context *context, kith_status status,
                                       struct verlet_cuda *verlet, bool has_places)
{
    const struct verlet_cuda_list *list = &verlet->building.list;
    const int64_t bytes = sizeof *list->control;
    struct messages messages = {};
    if (has_places)
        add_ghosts(verlet, verlet->places[verlet->now], &messages);
    for (int other = 0; other < list->devices; other++) {
        if (other == list->device)
            continue;
        add(&messages, &list->control[list->device], bytes, other, tag_of_control, true);
        add(&messages, &list->control[other], bytes, other, tag_of_control, false);
    }
    return ranks_exchange_on_device(context, status, messages.each, messages.count);
}

void verlet_gather_numbers_cuda(kith_context *context, int64_t own, int64_t *number)
{
    int32_t rank = 0, ranks = 1;
    int64_t first[verlet_most_devices + 1];
    (void)ranks_device_share(context, &rank, &ranks);
    for (int k = 0; k <= ranks; k++)
        first[k] = k;
    number[rank] = own;
    ranks_gather_parts(context, number, sizeof *number, first);
}
