/* Memory of a Verlet list on a GPU, and which GPUs share one. */

#include <stdlib.h>

#include "core/arena.h"
#include "core/memory.h"
#include "device/cuda_peers.h"
#include "device/cuda_state.h"
#include "forces/cutoff.h"
#include "forces/verlet_place_cuda.cuh"
#include "forces/verlet_share_cuda.h"
#include "ranks/device_parts.h"
#include "sort/sort.h"

int64_t verlet_bytes_of_vector(const struct verlet_cuda *verlet)
{
    return verlet->dtype == KITH_F64 ? (int64_t)sizeof(verlet_place_double)
                                     : (int64_t)sizeof(verlet_place_float);
}

static int64_t bytes_of_column(const struct verlet_cuda *verlet)
{
    return (verlet->own_room * kith_dtype_bytes(verlet->dtype) + arena_alignment - 1) /
           arena_alignment * arena_alignment;
}

void *verlet_column_of(const struct verlet_cuda *verlet, int k)
{
    return verlet->columns + k * bytes_of_column(verlet);
}

static void lay_out(struct arena *arena, struct verlet_cuda *verlet)
{
    const int64_t slots = verlet->own_room + 2 * verlet->ghost_room, of_int = sizeof(int);
    const int64_t of_place = verlet_bytes_of_vector(verlet);
    const int devices = verlet_devices_of(verlet);
    struct verlet_cuda_building *building = &verlet->building;
    arena_take(arena, devices, sizeof *building->list.control, &building->list.control);
    arena_take(arena, slots, of_place, &verlet->places[0]);
    arena_take(arena, slots, of_place, &verlet->places[1]);
    arena_take(arena, slots, of_place, &building->list.reference);
    for (int k = 0; k < 2; k++) {
        for (int vector = 0; vector < verlet_vectors; vector++) /* as large as a place */
            arena_take(arena, slots, of_place, &verlet->states[k].vector[vector]);
        arena_take(arena, slots, of_int, &verlet->states[k].order);
    }
    arena_take(arena, slots, of_int, &building->sorted);
    arena_take(arena, slots, (int64_t)sizeof(float4), &building->points);
    arena_take(arena, slots, of_int, &building->list.length);
    arena_take(arena, verlet->cells_room, of_int, &building->cells.begin);
    arena_take(arena, slots, (int64_t)sizeof(uint64_t), &building->keys);
    for (int k = 0; k < 2; k++)
        arena_take(arena, building->column[k] ? slots : 0, kith_dtype_bytes(verlet->dtype),
                   &building->slot_column[k]);
    verlet->step.slot_weight = building->column[0] ? building->slot_column[0] : NULL;
    verlet->step.slot_charge = building->column[1] ? building->slot_column[1] : NULL;
    arena_take(arena, sort_scratch_bytes_cuda(slots), 1, &building->sort_scratch);
    arena_take(arena, devices > 1 ? verlet->slabs.layers + devices : 0, of_int, &verlet->in_layer);
    const bool has_columns = verlet->is_of_ranks ? verlet->is_of_slices : building->list.device > 0;
    arena_take(arena, has_columns ? verlet_columns : 0, bytes_of_column(verlet), &verlet->columns);
    arena_take(arena, verlet->is_of_slices ? verlet_rows_at_home(verlet) : 0, of_int,
               &verlet->home.rows);
    building->places = verlet->places[0];
    building->places_before = verlet->places[1];
}

kith_status verlet_make_room_cuda(kith_context *context, struct verlet_cuda *verlet,
                                  char **outgrown)
{
    struct arena arena = {};
    struct verlet_cuda grown = *verlet;
    lay_out(&arena, &grown);
    KITH_TRY(cuda_allocate(context, arena.used, 1, "Verlet list", &grown.memory));
    arena = {grown.memory, 0};
    lay_out(&arena, &grown);
    *outgrown = verlet->memory;
    *verlet = grown;
    return KITH_OK;
}

kith_status verlet_make_rows_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    cuda_release(context, verlet->rows);
    verlet->rows = NULL;
    struct verlet_cuda_list *list = &verlet->building.list;
    KITH_TRY(cuda_allocate(context, verlet->own_room * verlet->row_room, sizeof(int), "Verlet list",
                           &verlet->rows));
    list->partner = (int *)verlet->rows;
    list->room = verlet->row_room;
    return KITH_OK;
}

/* About what a device needs if particles are spread evenly. */
static void choose_rooms(struct verlet_cuda *verlet)
{
    const int devices = verlet_devices_of(verlet);
    const struct verlet_slabs *slabs = &verlet->slabs;
    verlet->own_room = verlet->count;
    verlet->cells_room = verlet_most_cells(verlet->count) + 1;
    if (devices == 1)
        return;
    const int64_t even = verlet->count / devices + 1;
    const int64_t of_layer = verlet->count / slabs->layers + 1;
    verlet->own_room = even + even / 16 + of_layer;
    verlet->ghost_room = verlet_room_for_ghosts(slabs->reach * (of_layer + of_layer / 4) + 1024);
    verlet->cells_room = verlet->building.cells.total / slabs->layers *
                             (slabs->layers / devices + 2 + 2 * slabs->reach) +
                         1;
}

/* Before particles are sorted each device has a part of the rows. */
static kith_status make_room(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    char *outgrown = NULL;
    choose_rooms(verlet);
    KITH_TRY(verlet_make_room_cuda(context, verlet, &outgrown));
    KITH_TRY(verlet_make_rows_cuda(context, verlet));
    if (verlet->others)
        return cuda_allocate(context, verlet->count, sizeof *verlet->orders, "rows of particles",
                             &verlet->orders);
    return KITH_OK;
}

/* Slabs for these devices, if they suit. */
static bool can_share(struct verlet_cuda *verlet, int devices)
{
    const struct verlet_cuda_building *building = &verlet->building;
    const int axis = building->cells.axis[building->layer_axis];
    verlet->slabs = {};
    verlet->slabs.devices = devices;
    verlet->slabs.layers = building->slab.layers;
    verlet->slabs.reach = building->cells.reach[axis];
    return building->is_wide && building->layer_axis < 2 && verlet_slabs_suit(&verlet->slabs);
}

kith_status verlet_share_cuda(kith_context *context, struct verlet_cuda *verlet,
                              bool is_of_one_device, bool is_of_slices, bool *suits)
{
    int32_t peers = 0, rank = 0, ranks = 1;
    const bool is_shared = verlet->count >= cutoff_least_shared && !is_of_one_device;
    if (ranks_device_share(context, &rank, &ranks)) {
        verlet->is_of_ranks = is_shared && ranks > 1 && can_share(verlet, ranks);
        verlet->is_of_slices = is_of_slices;
        *suits = verlet->is_of_ranks || !is_of_slices;
        if (!*suits)
            return KITH_OK;
        verlet->building.list.devices = verlet->is_of_ranks ? ranks : 1;
        verlet->building.list.device = verlet->is_of_ranks ? rank : 0;
        return verlet_on_each_cuda(context, verlet, make_room, NULL);
    }
    if (is_shared)
        KITH_TRY(cuda_count_peers(context, &peers));
    if (!can_share(verlet, peers + 1))
        peers = 0;
    if (peers > 0)
        KITH_TRY(kith_allocate(peers, sizeof *verlet->others, "Verlet list", &verlet->others));
    verlet->building.list.devices = peers + 1;
    verlet->is_direct =
        peers > 0 && peers < verlet_cuda_most_direct && cuda_peers_are_direct(context);
    for (int device = peers; device > 0; device--) {
        *verlet_at(verlet, device) = *verlet;
        verlet_at(verlet, device)->others = NULL;
        verlet_at(verlet, device)->building.list.device = device;
    }
    return verlet_on_each_cuda(context, verlet, make_room, NULL);
}

static kith_status on_device(kith_context *context, struct verlet_cuda *verlet, int device,
                             verlet_work *work, void *argument)
{
    kith_context *there = cuda_device_of(context, device);
    int previous = 0;
    KITH_TRY(cuda_enter(cuda_state_of(there)->device, &previous));
    const kith_status status = work(there, verlet_at(verlet, device), argument);
    cuda_leave(previous);
    return status;
}

kith_status verlet_start_each_cuda(kith_context *context, struct verlet_cuda *verlet,
                                   verlet_work *work, void *argument)
{
    if (verlet->is_of_ranks)
        return work(context, verlet, argument);
    for (int device = 0; device < verlet_devices_of(verlet); device++)
        KITH_TRY(on_device(context, verlet, device, work, argument));
    return KITH_OK;
}

kith_status verlet_on_each_cuda(kith_context *context, struct verlet_cuda *verlet,
                                verlet_work *work, void *argument)
{
    return verlet_agree_cuda(context, verlet,
                             verlet_start_each_cuda(context, verlet, work, argument));
}

kith_status verlet_wait_for_all_cuda(kith_context *context, const struct verlet_cuda *verlet)
{
    const bool has_several = verlet_devices_of(verlet) > 1 && !verlet->is_of_ranks;
    return has_several ? cuda_wait_for_all(context) : KITH_OK;
}

static kith_status free_memory(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    cuda_release(context, verlet->memory);
    cuda_release(context, verlet->rows);
    return KITH_OK;
}

void verlet_stop_sharing_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    if (!verlet->others)
        return;
    (void)cuda_wait_for_all(context);
    for (int device = 1; device < verlet_devices_of(verlet); device++)
        (void)on_device(context, verlet, device, free_memory, NULL); /* the others' in any case */
    cuda_release(context, verlet->orders);
    free(verlet->others);
    verlet->others = NULL;
}
