#include "forces/verlet_share_cuda.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_peers.h"
#include "device/cuda_state.h"
#include "forces/ring.h"
#include "forces/verlet_place_cuda.cuh"

/* With fewer particles copies take longer than what is saved. */
enum { least_shared = 1 << 19 };

enum { threads = 256 };

/* Columns of another device: positions, velocities, accelerations, weights and two of a law. */
enum { of_positions, of_velocities = 3, of_accelerations = 6, of_weights = 9, of_law = 10 };
enum { column_count = 12 };

static int devices_of(const struct verlet_cuda *verlet)
{
    return verlet->building.list.devices;
}

static struct verlet_cuda *at(struct verlet_cuda *verlet, int device)
{
    return device == 0 ? verlet : &verlet->others[device - 1];
}

/* Bytes of a place, a position or a velocity. */
static int64_t bytes_of_vector(const struct verlet_cuda *verlet)
{
    return verlet->dtype == KITH_F64 ? (int64_t)sizeof(verlet_place_double)
                                     : (int64_t)sizeof(verlet_place_float);
}

static int64_t bytes_of_column(const struct verlet_cuda *verlet)
{
    return (verlet->count * kith_dtype_bytes(verlet->dtype) + 255) / 256 * 256;
}

static void *column(const struct verlet_cuda *other, int k)
{
    return other->columns + k * bytes_of_column(other);
}

static kith_status on_device(kith_context *context, struct verlet_cuda *verlet, int device,
                             verlet_work *work, void *argument)
{
    kith_context *there = cuda_device_of(context, device);
    int previous = 0;
    KITH_TRY(cuda_enter(cuda_state_of(there)->device, &previous));
    const kith_status status = work(there, at(verlet, device), argument);
    cuda_leave(previous);
    return status;
}

kith_status verlet_on_each_cuda(kith_context *context, struct verlet_cuda *verlet,
                                verlet_work *work, void *argument)
{
    for (int device = 0; device < devices_of(verlet); device++)
        KITH_TRY(on_device(context, verlet, device, work, argument));
    return KITH_OK;
}

kith_status verlet_wait_for_all_cuda(kith_context *context, const struct verlet_cuda *verlet)
{
    return devices_of(verlet) > 1 ? cuda_wait_for_all(context) : KITH_OK;
}

static void take_slots(struct verlet_cuda *verlet, int device, int devices)
{
    struct verlet_cuda_list *list = &verlet->building.list;
    list->device = device;
    list->devices = devices;
    list->first = share_begin(verlet->count, devices, device);
    list->end = share_begin(verlet->count, devices, device + 1);
}

static kith_status make_room(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    KITH_TRY(verlet_make_room_cuda(context, verlet));
    if (verlet->building.list.device == 0)
        return KITH_OK;
    return cuda_allocate(context, column_count, bytes_of_column(verlet), "columns of particles",
                         &verlet->columns);
}

kith_status verlet_share_cuda(kith_context *context, struct verlet_cuda *verlet,
                              bool is_of_one_device)
{
    int32_t peers = 0;
    if (verlet->count >= least_shared && !is_of_one_device)
        KITH_TRY(cuda_count_peers(context, &peers));
    if (peers > 0)
        KITH_TRY(kith_allocate(peers, sizeof *verlet->others, "Verlet list", &verlet->others));
    for (int device = peers; device >= 0; device--) {
        if (device > 0)
            *at(verlet, device) = *verlet;
        take_slots(at(verlet, device), device, peers + 1);
    }
    for (int device = 1; device <= peers; device++)
        at(verlet, device)->others = NULL;
    return verlet_on_each_cuda(context, verlet, make_room, NULL);
}

static kith_status free_memory(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    cuda_release(context, verlet->memory);
    cuda_release(context, verlet->rows);
    cuda_release(context, verlet->columns);
    return KITH_OK;
}

void verlet_stop_sharing_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    if (!verlet->others)
        return;
    (void)cuda_wait_for_all(context);
    for (int device = 1; device < devices_of(verlet); device++)
        (void)on_device(context, verlet, device, free_memory, NULL); /* the others' in any case */
    free(verlet->others);
    verlet->others = NULL;
}

/* The settings of the first device, with the columns of another. */
static void take_settings(const struct verlet_cuda *verlet, struct verlet_cuda *other)
{
    const struct verlet_cuda_step own = other->step;
    struct verlet_cuda_step *step = &other->step;
    *step = verlet->step;
    step->list = own.list;
    step->state = own.state;
    step->slot_weight = own.slot_weight;
    step->slot_charge = own.slot_charge;
    for (int c = 0; c < step->dimensions; c++) {
        step->position[c] = column(other, of_positions + c);
        step->velocity[c] = step->velocity[c] ? column(other, of_velocities + c) : NULL;
        step->acceleration[c] = column(other, of_accelerations + c);
    }
    other->building.weight = verlet->building.weight ? column(other, of_weights) : NULL;
    for (int k = 0; k < 2; k++)
        other->building.column[k] = verlet->building.column[k] ? column(other, of_law + k) : NULL;
}

static kith_status send_to(kith_context *context, struct verlet_cuda *verlet, int device)
{
    kith_context *there = cuda_device_of(context, device);
    struct verlet_cuda *other = at(verlet, device);
    take_settings(verlet, other);
    const struct verlet_cuda_state *from = &verlet->states[verlet->side],
                                   *to = &other->states[other->side];
    const struct verlet_cuda_building *building = &verlet->building;
    const int64_t bytes = verlet->count * kith_dtype_bytes(verlet->dtype);
    const int64_t vectors = verlet->count * bytes_of_vector(verlet);
    KITH_TRY(cuda_copy_between(there, to->position, context, from->position, vectors));
    KITH_TRY(cuda_copy_between(there, to->velocity, context, from->velocity, vectors));
    KITH_TRY(cuda_copy_between(there, to->order, context, from->order,
                               verlet->count * (int64_t)sizeof *from->order));
    for (int c = 0; c < verlet->step.dimensions; c++)
        KITH_TRY(cuda_copy_between(there, column(other, of_accelerations + c), context,
                                   verlet->step.acceleration[c], bytes));
    const void *const columns[] = {building->weight, building->column[0], building->column[1]};
    for (int k = 0; k < 3; k++)
        if (columns[k])
            KITH_TRY(cuda_copy_between(there, column(other, of_weights + k), context, columns[k],
                                       bytes));
    return KITH_OK;
}

kith_status verlet_send_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    KITH_TRY(verlet_wait_for_all_cuda(context, verlet));
    for (int device = 1; device < devices_of(verlet); device++)
        KITH_TRY(send_to(context, verlet, device));
    return verlet_wait_for_all_cuda(context, verlet);
}

/* Of an array by slot that all devices have, the part of a device to another. */
static kith_status copy_slots(kith_context *context, struct verlet_cuda *verlet, int from, int to,
                              const void *here, void *there)
{
    const struct verlet_cuda_list *list = &at(verlet, from)->building.list;
    const int64_t each = bytes_of_vector(verlet);
    return cuda_copy_between(cuda_device_of(context, to), (char *)there + list->first * each,
                             cuda_device_of(context, from), (const char *)here + list->first * each,
                             (list->end - list->first) * each);
}

static kith_status exchange_between(kith_context *context, struct verlet_cuda *verlet, int from,
                                    int to, bool has_places)
{
    struct verlet_cuda *here = at(verlet, from), *there = at(verlet, to);
    if (has_places)
        KITH_TRY(copy_slots(context, verlet, from, to, here->places[here->now],
                            there->places[there->now]));
    return cuda_copy_between(cuda_device_of(context, to), &there->building.list.control[from],
                             cuda_device_of(context, from), &here->building.list.control[from],
                             sizeof *here->building.list.control);
}

kith_status verlet_exchange_cuda(kith_context *context, struct verlet_cuda *verlet, bool has_places)
{
    for (int from = 0; from < devices_of(verlet); from++)
        for (int to = 0; to < devices_of(verlet); to++)
            if (to != from)
                KITH_TRY(exchange_between(context, verlet, from, to, has_places));
    return verlet_wait_for_all_cuda(context, verlet);
}

kith_status verlet_exchange_state_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    for (int from = 0; from < devices_of(verlet); from++)
        for (int to = 0; to < devices_of(verlet); to++) {
            const struct verlet_cuda_state *here = &at(verlet, from)->states[verlet->side],
                                           *there = &at(verlet, to)->states[verlet->side];
            if (to == from)
                continue;
            KITH_TRY(copy_slots(context, verlet, from, to, here->position, there->position));
            KITH_TRY(copy_slots(context, verlet, from, to, here->velocity, there->velocity));
        }
    return verlet_wait_for_all_cuda(context, verlet);
}

/* Columns by row, of which the rows of some slots are merged. */
struct merged {
    int count;
    void *to[of_weights];
    const void *from[of_weights];
};

template <typename real>
static __global__ void __launch_bounds__(threads)
    merge(const struct merged columns, const unsigned *order, int64_t first, int64_t end)
{
    const int64_t slot = first + (int64_t)blockIdx.x * threads + threadIdx.x;
    if (slot >= end)
        return;
    const unsigned row = order[slot];
    for (int k = 0; k < columns.count; k++)
        ((real *)columns.to[k])[row] = ((const real *)columns.from[k])[row];
}

/* What the last kernel writes. */
static struct merged written(const struct verlet_cuda *verlet, const struct verlet_cuda *other)
{
    struct merged columns = {};
    for (int c = 0; c < verlet->step.dimensions; c++) {
        const bool moves = verlet->step.velocity[c] != NULL;
        void *const to[] = {verlet->step.acceleration[c], verlet->step.position[c],
                            verlet->step.velocity[c]};
        const int from[] = {of_accelerations + c, of_positions + c, of_velocities + c};
        for (int k = 0; k < (moves ? 3 : 1); k++) {
            columns.to[columns.count] = to[k];
            columns.from[columns.count++] = column(other, from[k]);
        }
    }
    return columns;
}

static kith_status fetch_from(kith_context *context, struct verlet_cuda *verlet, int device)
{
    const struct verlet_cuda *other = at(verlet, device);
    const struct verlet_cuda_list *list = &other->building.list;
    const unsigned *order = verlet->states[verlet->side].order;
    const int64_t each = bytes_of_column(verlet);
    const unsigned blocks = (unsigned)((list->end - list->first + threads - 1) / threads);
    struct merged columns = written(verlet, other);
    void *memory = NULL;
    KITH_TRY(cuda_scratch(context, columns.count * each, &memory));
    KITH_TRY(cuda_wait_for_all(context));
    for (int k = 0; k < columns.count; k++) {
        void *copied = (char *)memory + k * each;
        KITH_TRY(cuda_copy_between(context, copied, cuda_device_of(context, device),
                                   columns.from[k],
                                   verlet->count * kith_dtype_bytes(verlet->dtype)));
        columns.from[k] = copied;
    }
    KITH_TRY(cuda_wait_for_all(context));
    if (verlet->dtype == KITH_F64)
        merge<double>
            <<<blocks, threads, 0, cuda_stream(context)>>>(columns, order, list->first, list->end);
    else
        merge<float>
            <<<blocks, threads, 0, cuda_stream(context)>>>(columns, order, list->first, list->end);
    return cuda_check_launch("gathering particles of several devices");
}

kith_status verlet_fetch_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    for (int device = 1; device < devices_of(verlet); device++)
        KITH_TRY(fetch_from(context, verlet, device));
    return KITH_OK;
}
