/* What ranks that share a Verlet list exchange at every step, by way of the host. */

#include "forces/verlet_share_cuda.h"
#include "ranks/device_parts.h"

enum { tag_downward = 7, tag_upward = 8 };

kith_status verlet_agree_cuda(kith_context *context, const struct verlet_cuda *verlet,
                              kith_status status)
{
    return verlet->is_of_ranks ? ranks_agree(context, status) : status;
}

/* Of an array by slot, own particles that are ghosts of the slabs next to this one, and ghosts. */
static kith_status exchange_ghosts(kith_context *context, const struct verlet_cuda *verlet,
                                   void *array)
{
    const struct verlet_cuda_list *list = &verlet->building.list;
    const int below = (list->device + list->devices - 1) % list->devices;
    const int above = (list->device + 1) % list->devices;
    const int64_t each = verlet_bytes_of_vector(verlet);
    char *first = (char *)array + list->first * each, *end = (char *)array + list->end * each;
    const struct ranks_device_message messages[] = {
        {first, verlet->sent_below * each, below, tag_downward, true},
        {end - verlet->sent_above * each, verlet->sent_above * each, above, tag_upward, true},
        {first - list->low * each, list->low * each, below, tag_upward, false},
        {end, list->high * each, above, tag_downward, false},
    };
    return ranks_exchange_on_device(context, KITH_OK, messages,
                                    sizeof messages / sizeof messages[0]);
}

kith_status verlet_exchange_reference_ranks_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    return exchange_ghosts(context, verlet, verlet->building.list.reference);
}

kith_status verlet_exchange_ranks_cuda(kith_context *context, struct verlet_cuda *verlet,
                                       bool has_places)
{
    const struct verlet_cuda_list *list = &verlet->building.list;
    int64_t first[verlet_most_devices + 1];
    for (int device = 0; device <= list->devices; device++)
        first[device] = device;
    if (has_places)
        KITH_TRY(exchange_ghosts(context, verlet, verlet->places[verlet->now]));
    return ranks_gather_parts_on_device(context, KITH_OK, list->control, sizeof *list->control,
                                        first);
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
