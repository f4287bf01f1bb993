/* The list of several devices is made: particles go to the device whose slab they are in, and each
 * device gets its ghosts. The host knows how many by the number in each layer of cells. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_peers.h"
#include "device/cuda_state.h"
#include "forces/verlet_share_cuda.h"
#include "ranks/device_parts.h"

enum { tag_of_particles = 6 };

/* Particles of each layer, of all devices and of each, and what each sends. */
struct census {
    struct verlet_slabs slabs;
    int64_t *of_all, *of_each;
    unsigned *copied;
    struct verlet_parcels *parcels;
};

static kith_status count_one(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    const int64_t bytes =
        (verlet->slabs.layers + verlet_devices_of(verlet)) * (int64_t)sizeof *verlet->in_layer;
    verlet->building.from = verlet->states[verlet->side];
    verlet->has_list = false;
    KITH_TRY(cuda_check(cudaMemsetAsync(verlet->in_layer, 0, (size_t)bytes, cuda_stream(context)),
                        "counting"));
    return verlet_count_layers_cuda(context, verlet->dtype, &verlet->building, verlet->in_layer);
}

static kith_status take_counts(kith_context *context, struct verlet_cuda *verlet, void *argument)
{
    struct census *census = (struct census *)argument;
    const int layers = census->slabs.layers;
    int64_t *own = census->of_each + (int64_t)verlet->building.list.device * layers;
    KITH_TRY(cuda_copy_out(context, census->copied, verlet->in_layer,
                           layers * (int64_t)sizeof *census->copied));
    for (int layer = 0; layer < layers; layer++)
        own[layer] = census->copied[layer];
    return KITH_OK;
}

/* Of all devices, when each has its own. */
static void add_counts(kith_context *context, const struct verlet_cuda *verlet,
                       struct census *census)
{
    const int layers = census->slabs.layers, devices = census->slabs.devices;
    int64_t first[verlet_most_devices + 1];
    for (int device = 0; device <= devices; device++)
        first[device] = device;
    if (verlet->is_of_ranks)
        ranks_gather_parts(context, census->of_each, layers * (int64_t)sizeof *census->of_each,
                           first);
    for (int64_t k = 0; k < (int64_t)devices * layers; k++)
        census->of_all[k % layers] += census->of_each[k];
}

/* Own particles of a device that go to a device, or stay there. */
static int64_t count_between(const struct census *census, int from, int to)
{
    const struct verlet_slabs *slabs = &census->slabs;
    return verlet_count_in_layers(slabs, census->of_each + (int64_t)from * slabs->layers,
                                  slabs->begin[to], slabs->begin[to + 1]);
}

/* Room for what a device will have. */
static kith_status make_room(kith_context *context, struct verlet_cuda *verlet, int64_t own,
                             int64_t ghosts, int64_t cells, char **outgrown)
{
    const bool needs_rows = own > verlet->own_room;
    *outgrown = NULL;
    if (own <= verlet->own_room && ghosts <= verlet->ghost_room && cells < verlet->cells_room)
        return KITH_OK;
    if (own > verlet->own_room)
        verlet->own_room = own + own / 16;
    if (ghosts > verlet->ghost_room)
        verlet->ghost_room = verlet_room_for_ghosts(ghosts + ghosts / 16);
    if (cells >= verlet->cells_room)
        verlet->cells_room = cells + cells / 16 + 1;
    KITH_TRY(verlet_make_room_cuda(context, verlet, outgrown));
    return needs_rows ? verlet_make_rows_cuda(context, verlet) : KITH_OK;
}

/* The slots and cells of a device's slab. */
static kith_status take_slab(kith_context *context, struct verlet_cuda *verlet,
                             const struct census *census, char **outgrown)
{
    const struct verlet_slabs *slabs = &census->slabs;
    struct verlet_cuda_building *building = &verlet->building;
    struct verlet_cuda_cells cells = building->cells;
    const int axis = cells.axis[building->layer_axis], device = building->list.device;
    const int begin = slabs->begin[device], end = slabs->begin[device + 1];
    const int64_t own = verlet_count_in_layers(slabs, census->of_all, begin, end);
    const int64_t low = verlet_count_in_layers(slabs, census->of_all, begin - slabs->reach, begin);
    const int64_t high = verlet_count_in_layers(slabs, census->of_all, end, end + slabs->reach);
    cells.total = cells.total / cells.count[axis] * (end - begin + 2 * slabs->reach);
    cells.count[axis] = end - begin + 2 * slabs->reach;
    KITH_TRY(make_room(context, verlet, own, low > high ? low : high, cells.total, outgrown));
    cells.begin = building->cells.begin;
    building->cells = cells;
    building->slab = {slabs->layers, begin, end - begin, slabs->reach};
    building->list.first = verlet->ghost_room;
    building->list.end = verlet->ghost_room + own;
    building->list.low = low;
    building->list.high = high;
    verlet->sent_below = verlet_count_in_layers(slabs, census->of_all, begin, begin + slabs->reach);
    verlet->sent_above = verlet_count_in_layers(slabs, census->of_all, end - slabs->reach, end);
    return KITH_OK;
}

/* Memory for particles that leave a device, each other device's one after another. */
static kith_status make_parcels(kith_context *context, const struct verlet_cuda *verlet,
                                const struct census *census, struct verlet_parcels *parcels)
{
    const int own = verlet->building.list.device;
    int64_t leaving = 0;
    for (int device = 0; device < census->slabs.devices; device++) {
        parcels->begin[device] = (int)leaving;
        leaving += device == own ? 0 : count_between(census, own, device);
    }
    char *memory = NULL;
    const int64_t each = verlet_bytes_of_vector(verlet);
    KITH_TRY(cuda_scratch(context, leaving * (verlet_vectors * each + (int64_t)sizeof(unsigned)),
                          (void **)&memory));
    for (int k = 0; k < verlet_vectors; k++)
        parcels->sent.vector[k] = memory + k * leaving * each;
    parcels->sent.order = (unsigned *)(memory + verlet_vectors * leaving * each);
    return KITH_OK;
}

static kith_status divide_one(kith_context *context, struct verlet_cuda *verlet, void *argument)
{
    const struct census *census = (const struct census *)argument;
    struct verlet_parcels *parcels = &census->parcels[verlet->building.list.device];
    char *outgrown = NULL;
    *parcels = {};
    parcels->slabs = verlet->slabs = census->slabs;
    verlet->home.has_plan = false;
    parcels->list = verlet->building.list;
    KITH_TRY(make_parcels(context, verlet, census, parcels));
    KITH_TRY(take_slab(context, verlet, census, &outgrown));
    parcels->kept = verlet->states[1 - verlet->side];
    parcels->first_kept = verlet->building.list.first;
    parcels->taken = verlet->in_layer + census->slabs.layers;
    const kith_status status =
        verlet_divide_cuda(context, verlet->dtype, &verlet->building, parcels);
    cuda_release(context, outgrown);
    return status;
}

/* What a device sends another, behind what that has. */
static kith_status send(kith_context *context, struct verlet_cuda *verlet,
                        const struct census *census, int from, int to, int64_t slot)
{
    const struct verlet_parcels *parcels = &census->parcels[from];
    const struct verlet_cuda_state *there = &census->parcels[to].kept;
    const int64_t count = count_between(census, from, to), each = verlet_bytes_of_vector(verlet);
    const int64_t begin = parcels->begin[to], of_order = sizeof(unsigned);
    kith_context *sender = cuda_device_of(context, from), *receiver = cuda_device_of(context, to);
    if (count == 0)
        return KITH_OK;
    for (int k = 0; k < verlet_vectors; k++)
        KITH_TRY(cuda_copy_between(receiver, (char *)there->vector[k] + slot * each, sender,
                                   (char *)parcels->sent.vector[k] + begin * each, count * each));
    return cuda_copy_between(receiver, there->order + slot, sender, parcels->sent.order + begin,
                             count * of_order);
}

static kith_status send_all(kith_context *context, struct verlet_cuda *verlet,
                            const struct census *census)
{
    for (int to = 0; to < census->slabs.devices; to++) {
        int64_t slot = census->parcels[to].first_kept + count_between(census, to, to);
        for (int from = 0; from < census->slabs.devices; from++) {
            if (from == to)
                continue;
            KITH_TRY(send(context, verlet, census, from, to, slot));
            slot += count_between(census, from, to);
        }
    }
    return KITH_OK;
}

/* The same between ranks: of one vector, or of the rows, at a time. */
static kith_status send_by_ranks(kith_context *context, struct verlet_cuda *verlet,
                                 const struct census *census)
{
    const int own = verlet->building.list.device, devices = census->slabs.devices;
    const struct verlet_parcels *parcels = &census->parcels[own];
    for (int k = 0; k <= verlet_vectors; k++) {
        struct ranks_device_message messages[2 * verlet_most_devices];
        const bool is_row = k == verlet_vectors;
        const int64_t each = is_row ? (int64_t)sizeof(unsigned) : verlet_bytes_of_vector(verlet);
        char *sent = (char *)(is_row ? parcels->sent.order : parcels->sent.vector[k]);
        char *to = (char *)(is_row ? parcels->kept.order : parcels->kept.vector[k]);
        int64_t slot = parcels->first_kept + count_between(census, own, own);
        int32_t count = 0;
        for (int other = 0; other < devices; other++) {
            const int64_t leave = count_between(census, own, other);
            const int64_t come = count_between(census, other, own);
            if (other == own)
                continue;
            messages[count++] = {sent + parcels->begin[other] * each, leave * each, other,
                                 tag_of_particles, true};
            messages[count++] = {to + slot * each, come * each, other, tag_of_particles, false};
            slot += come;
        }
        KITH_TRY(ranks_exchange_on_device(context, KITH_OK, messages, count));
    }
    return KITH_OK;
}

static kith_status sort_one(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    verlet->building.from = verlet->states[1 - verlet->side];
    verlet->building.to = verlet->step.state = verlet->states[verlet->side];
    return verlet_sort_cuda(context, verlet->dtype, &verlet->building);
}

static kith_status list_one(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    verlet->step.list = verlet->building.list;
    verlet->now = 0;
    verlet->since = 0;
    verlet->has_list = true;
    return verlet_list_cuda(context, verlet->dtype, &verlet->building);
}

static kith_status build(kith_context *context, struct verlet_cuda *verlet, struct census *census)
{
    KITH_TRY(verlet_on_each_cuda(context, verlet, count_one, NULL));
    KITH_TRY(verlet_on_each_cuda(context, verlet, take_counts, census));
    add_counts(context, verlet, census);
    verlet_choose_slabs(census->of_all, &census->slabs);
    KITH_TRY(verlet_on_each_cuda(context, verlet, divide_one, census));
    verlet_take_settings_cuda(verlet);
    KITH_TRY(verlet_wait_for_all_cuda(context, verlet));
    KITH_TRY(verlet->is_of_ranks ? send_by_ranks(context, verlet, census)
                                 : send_all(context, verlet, census));
    KITH_TRY(verlet_wait_for_all_cuda(context, verlet));
    KITH_TRY(verlet_on_each_cuda(context, verlet, sort_one, NULL));
    KITH_TRY(verlet_exchange_reference_cuda(context, verlet));
    const kith_status status = verlet_start_each_cuda(context, verlet, list_one, NULL);
    return verlet_exchange_cuda(context, status, verlet, false);
}

kith_status verlet_build_shared_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    const int64_t layers = verlet->slabs.layers, devices = verlet_devices_of(verlet);
    struct census census = {};
    const char *what = "particles of layers";
    census.slabs = verlet->slabs;
    kith_status status = kith_allocate(layers, sizeof *census.of_all, what, &census.of_all);
    if (status == KITH_OK)
        status = kith_allocate(layers * devices, sizeof *census.of_each, what, &census.of_each);
    if (status == KITH_OK)
        status = kith_allocate(layers, sizeof *census.copied, what, &census.copied);
    if (status == KITH_OK)
        status = kith_allocate(devices, sizeof *census.parcels, what, &census.parcels);
    status = verlet_agree_cuda(context, verlet, status);
    if (status == KITH_OK)
        status = build(context, verlet, &census);
    free(census.of_all);
    free(census.of_each);
    free(census.copied);
    free(census.parcels);
    return status;
}
