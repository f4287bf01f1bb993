/* Copies between GPUs that share a Verlet list. */

#include "forces/verlet_share_cuda.h"

#include "device/architecture_80.cuh" /* nvcc writes another loop from 8.0 on */
#include "device/cuda_peers.h"
#include "device/cuda_state.h"
#include "forces/ring.h"
#include "ranks/device_parts.h"

enum { threads = 256 };

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static int64_t count_own(const struct verlet_cuda *verlet)
{
    return verlet->building.list.end - verlet->building.list.first;
}

/* Where the rows of another device's particles are among those of all others. */
static unsigned *orders_of(struct verlet_cuda *verlet, int device)
{
    unsigned *orders = verlet->orders;
    for (int other = 1; other < device; other++)
        orders += count_own(verlet_at(verlet, other));
    return orders;
}

static void take_settings(const struct verlet_cuda *verlet, struct verlet_cuda *other)
{
    const struct verlet_cuda_step own = other->step;
    other->step = verlet->step;
    other->step.list = own.list;
    other->step.state = own.state;
    verlet_take_home_cuda(verlet, other);
}

/* Where the kernels of a device write in the memory of others. */
static void connect(struct verlet_cuda *verlet, int device)
{
    const int devices = verlet_devices_of(verlet);
    struct verlet_cuda *own = verlet_at(verlet, device);
    const struct verlet_cuda *below = verlet_at(verlet, (device + devices - 1) % devices);
    const struct verlet_cuda *above = verlet_at(verlet, (device + 1) % devices);
    const struct verlet_cuda_list *lower = &below->building.list, *upper = &above->building.list;
    const int64_t each = verlet_bytes_of_vector(verlet);
    own->step.for_below = lower->high;
    own->step.for_above = upper->low;
    for (int k = 0; k < 2; k++) {
        own->to_below[k] = (char *)below->places[k] + lower->end * each;
        own->to_above[k] = (char *)above->places[k] + (upper->first - upper->low) * each;
    }
    for (int k = 1; k < devices; k++)
        own->step.control_there[k - 1] =
            &verlet_at(verlet, (device + k) % devices)->building.list.control[device];
}

void verlet_take_settings_cuda(struct verlet_cuda *verlet)
{
    if (verlet->is_of_slices)
        verlet_use_slots_cuda(verlet);
    if (verlet->is_of_ranks)
        return;
    for (int device = 1; device < verlet_devices_of(verlet); device++)
        take_settings(verlet, verlet_at(verlet, device));
    for (int device = 0; device < verlet_devices_of(verlet) && verlet->is_direct; device++)
        connect(verlet, device);
}

/* Columns of the first device that others have a part of, and rows of them, packed. */
struct columns {
    int count, k[verlet_columns];
    void *of_first[verlet_columns], *packed[verlet_columns];
};

static void add(struct columns *columns, int k, const void *of_first)
{
    if (!of_first)
        return;
    columns->k[columns->count] = k;
    columns->of_first[columns->count++] = (void *)of_first;
}

static struct columns columns_to_load(const struct verlet_cuda *verlet)
{
    struct columns columns = {};
    for (int c = 0; c < verlet->step.dimensions; c++)
        for (int k = 0; k < verlet_vectors; k++)
            add(&columns, verlet_components + 3 * k + c, verlet->building.vector[k][c]);
    add(&columns, verlet_masses, verlet->building.mass);
    add(&columns, verlet_weights, verlet->building.weight);
    return columns;
}

static struct columns columns_of_accelerations(const struct verlet_cuda *verlet)
{
    struct columns columns = {};
    for (int c = 0; c < verlet->step.dimensions; c++)
        add(&columns, verlet_accelerations + c, verlet->step.acceleration[c]);
    return columns;
}

/* What the last kernel writes. */
static struct columns columns_written(const struct verlet_cuda *verlet)
{
    struct columns columns = columns_of_accelerations(verlet);
    for (int c = 0; c < verlet->step.dimensions && verlet->step.column[verlet_velocity][0]; c++)
        for (int k = 0; k < verlet_vectors; k++)
            add(&columns, verlet_components + 3 * k + c, verlet->step.column[k][c]);
    return columns;
}

/* Rows of columns. */
template <typename real, bool is_packed>
static __global__ void __launch_bounds__(threads)
    pack(const struct columns columns, const unsigned *rows, int64_t count)
{
    const int64_t number = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (number >= count)
        return;
    const unsigned row = rows[number];
    for (int k = 0; k < columns.count; k++) {
        real *column = (real *)columns.of_first[k], *of_row = (real *)columns.packed[k] + number;
        if (is_packed)
            column[row] = *of_row;
        else
            *of_row = column[row];
    }
}

template <bool is_packed>
static kith_status launch_pack(kith_context *context, const struct verlet_cuda *verlet,
                               const struct columns &columns, const unsigned *rows, int64_t count)
{
    const cudaStream_t stream = cuda_stream(context);
    if (count == 0)
        return KITH_OK;
    if (verlet->dtype == KITH_F64)
        pack<double, is_packed><<<blocks_for(count), threads, 0, stream>>>(columns, rows, count);
    else
        pack<float, is_packed><<<blocks_for(count), threads, 0, stream>>>(columns, rows, count);
    return cuda_check_launch("packing particles of several devices");
}

/* Where kernels of the first device pack the columns of another's particles: in its memory, or to
 * be copied. */
static kith_status choose_packed(kith_context *context, const struct verlet_cuda *verlet,
                                 const struct verlet_cuda *other, struct columns *columns)
{
    const int64_t bytes = count_own(other) * kith_dtype_bytes(verlet->dtype);
    char *packed = NULL;
    if (!verlet->is_direct)
        KITH_TRY(cuda_scratch(context, columns->count * bytes, (void **)&packed));
    for (int k = 0; k < columns->count; k++)
        columns->packed[k] =
            verlet->is_direct ? verlet_column_of(other, columns->k[k]) : packed + k * bytes;
    return KITH_OK;
}

/* The rows of another device's particles. */
static kith_status send_rows(kith_context *context, struct verlet_cuda *verlet,
                             struct columns columns, int device)
{
    struct verlet_cuda *other = verlet_at(verlet, device);
    kith_context *there = cuda_device_of(context, device);
    const int64_t count = count_own(other), bytes = count * kith_dtype_bytes(verlet->dtype);
    KITH_TRY(choose_packed(context, verlet, other, &columns));
    KITH_TRY(launch_pack<false>(context, verlet, columns, orders_of(verlet, device), count));
    for (int k = 0; k < columns.count && bytes > 0 && !verlet->is_direct; k++)
        KITH_TRY(cuda_copy_between(there, verlet_column_of(other, columns.k[k]), context,
                                   columns.packed[k], bytes));
    return KITH_OK;
}

/* A device's part of the rows. */
static kith_status send_part(kith_context *context, struct verlet_cuda *verlet,
                             const struct columns &columns, int device)
{
    struct verlet_cuda *other = verlet_at(verlet, device);
    kith_context *there = cuda_device_of(context, device);
    const int64_t each = kith_dtype_bytes(verlet->dtype), bytes = count_own(other) * each;
    for (int k = 0; k < columns.count && bytes > 0; k++)
        KITH_TRY(cuda_copy_between(
            there, verlet_column_of(other, columns.k[k]), context,
            (const char *)columns.of_first[k] + other->building.first_row * each, bytes));
    return KITH_OK;
}

static void take_part(struct verlet_cuda *verlet, int64_t all)
{
    struct verlet_cuda_building *building = &verlet->building;
    const int device = building->list.device, devices = building->list.devices;
    building->first_row = share_begin(all, devices, device);
    building->list.first = verlet->ghost_room;
    building->list.end =
        verlet->ghost_room + share_begin(all, devices, device + 1) - building->first_row;
    building->list.low = building->list.high = 0;
}

kith_status verlet_send_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    const struct columns columns = columns_to_load(verlet);
    if (verlet->is_of_ranks) {
        if (!verlet->has_list)
            take_part(verlet, verlet->count);
        if (!verlet->is_of_slices)
            return KITH_OK;
        verlet_take_home_cuda(verlet, verlet);
        return verlet_send_home_cuda(context, verlet);
    }
    for (int device = 0; device < verlet_devices_of(verlet) && !verlet->has_list; device++)
        take_part(verlet_at(verlet, device), verlet->count);
    verlet_take_settings_cuda(verlet);
    KITH_TRY(verlet_wait_for_all_cuda(context, verlet));
    for (int device = 1; device < verlet_devices_of(verlet); device++) {
        verlet_at(verlet, device)->has_list = verlet->has_list;
        KITH_TRY(verlet->has_list ? send_rows(context, verlet, columns, device)
                                  : send_part(context, verlet, columns, device));
    }
    return verlet_wait_for_all_cuda(context, verlet);
}

kith_status verlet_send_accelerations_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    const struct columns columns = columns_of_accelerations(verlet);
    if (verlet->is_of_ranks)
        return verlet->is_of_slices ? verlet_send_accelerations_home_cuda(context, verlet)
                                    : KITH_OK;
    for (int device = 1; device < verlet_devices_of(verlet); device++)
        KITH_TRY(send_rows(context, verlet, columns, device));
    return verlet_wait_for_all_cuda(context, verlet);
}

/* Of an array by slot, ghosts of a device from the devices next to it. */
static kith_status copy_ghosts(kith_context *context, struct verlet_cuda *verlet, int to,
                               void *(*array_of)(struct verlet_cuda *verlet))
{
    const int devices = verlet_devices_of(verlet);
    const int below = (to + devices - 1) % devices, above = (to + 1) % devices;
    const int64_t each = verlet_bytes_of_vector(verlet);
    struct verlet_cuda *own = verlet_at(verlet, to);
    struct verlet_cuda *lower = verlet_at(verlet, below), *upper = verlet_at(verlet, above);
    const struct verlet_cuda_list *list = &own->building.list;
    kith_context *there = cuda_device_of(context, to);
    if (list->low > 0)
        KITH_TRY(cuda_copy_between(there, (char *)array_of(own) + (list->first - list->low) * each,
                                   cuda_device_of(context, below),
                                   (char *)array_of(lower) +
                                       (lower->building.list.end - list->low) * each,
                                   list->low * each));
    return list->high == 0
               ? KITH_OK
               : cuda_copy_between(there, (char *)array_of(own) + list->end * each,
                                   cuda_device_of(context, above),
                                   (char *)array_of(upper) + upper->building.list.first * each,
                                   list->high * each);
}

static void *places_of(struct verlet_cuda *verlet)
{
    return verlet->places[verlet->now];
}

static void *reference_of(struct verlet_cuda *verlet)
{
    return verlet->building.list.reference;
}

kith_status verlet_exchange_reference_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    if (verlet->is_of_ranks)
        return verlet_exchange_reference_ranks_cuda(context, verlet);
    for (int to = 0; to < verlet_devices_of(verlet); to++)
        KITH_TRY(copy_ghosts(context, verlet, to, reference_of));
    return verlet_wait_for_all_cuda(context, verlet);
}

kith_status verlet_exchange_cuda(kith_context *context, kith_status status,
                                 struct verlet_cuda *verlet, bool has_places)
{
    const int devices = verlet_devices_of(verlet);
    if (verlet->is_of_ranks)
        return verlet_exchange_ranks_cuda(context, status, verlet, has_places);
    KITH_TRY(status);
    for (int to = 0; to < devices && devices > 1; to++) {
        if (has_places && verlet->is_direct)
            break; /* the kernels have written them */
        if (has_places)
            KITH_TRY(copy_ghosts(context, verlet, to, places_of));
        for (int from = 0; from < devices; from++)
            if (to != from)
                KITH_TRY(cuda_copy_between(cuda_device_of(context, to),
                                           &verlet_at(verlet, to)->building.list.control[from],
                                           cuda_device_of(context, from),
                                           &verlet_at(verlet, from)->building.list.control[from],
                                           sizeof *verlet->building.list.control));
    }
    return verlet_wait_for_all_cuda(context, verlet);
}

kith_status verlet_fetch_orders_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    if (verlet->is_of_ranks)
        return KITH_OK;
    KITH_TRY(verlet_wait_for_all_cuda(context, verlet));
    for (int device = 1; device < verlet_devices_of(verlet); device++) {
        const struct verlet_cuda *other = verlet_at(verlet, device);
        const int64_t bytes = count_own(other) * (int64_t)sizeof(unsigned);
        if (bytes > 0)
            KITH_TRY(cuda_copy_between(
                context, orders_of(verlet, device), cuda_device_of(context, device),
                other->step.state.order + other->building.list.first, bytes));
    }
    return verlet_wait_for_all_cuda(context, verlet);
}

static kith_status fetch_from(kith_context *context, struct verlet_cuda *verlet, int device)
{
    const struct verlet_cuda *other = verlet_at(verlet, device);
    struct columns columns = columns_written(verlet);
    const int64_t count = count_own(other), bytes = count * kith_dtype_bytes(verlet->dtype);
    KITH_TRY(choose_packed(context, verlet, other, &columns));
    KITH_TRY(cuda_wait_for_all(context));
    for (int k = 0; k < columns.count && bytes > 0 && !verlet->is_direct; k++)
        KITH_TRY(cuda_copy_between(context, columns.packed[k], cuda_device_of(context, device),
                                   verlet_column_of(other, columns.k[k]), bytes));
    KITH_TRY(cuda_wait_for_all(context));
    return launch_pack<true>(context, verlet, columns, orders_of(verlet, device), count);
}

/* One column after another: each rank packs the rows of its own particles, which come to all. */
static kith_status fetch_of_ranks(kith_context *context, struct verlet_cuda *verlet)
{
    const struct columns columns = columns_written(verlet);
    const struct verlet_cuda_list *list = &verlet->building.list;
    const int64_t own = count_own(verlet), each = kith_dtype_bytes(verlet->dtype);
    int64_t number[verlet_most_devices], first[verlet_most_devices + 1] = {};
    char *packed = NULL;
    verlet_gather_numbers_cuda(context, own, number);
    for (int device = 0; device < list->devices; device++)
        first[device + 1] = first[device] + number[device];
    kith_status status =
        cuda_scratch(context, verlet->count * (each + (int64_t)sizeof(unsigned)), (void **)&packed);
    unsigned *rows = (unsigned *)(packed + verlet->count * each);
    unsigned *own_rows = rows + first[list->device];
    if (status == KITH_OK)
        status = cuda_check(cudaMemcpyAsync(own_rows, verlet->step.state.order + list->first,
                                            (size_t)own * sizeof *rows, cudaMemcpyDeviceToDevice,
                                            cuda_stream(context)),
                            "gathering rows of particles");
    KITH_TRY(ranks_gather_parts_on_device(context, status, rows, sizeof *rows, first));
    for (int k = 0; k < columns.count; k++) {
        struct columns one = {1, {}, {columns.of_first[k]}, {packed + first[list->device] * each}};
        status = launch_pack<false>(context, verlet, one, own_rows, own);
        KITH_TRY(ranks_gather_parts_on_device(context, status, packed, each, first));
        one.packed[0] = packed;
        KITH_TRY(
            ranks_agree(context, launch_pack<true>(context, verlet, one, rows, verlet->count)));
    }
    return KITH_OK;
}

kith_status verlet_fetch_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    if (verlet->is_of_ranks)
        return verlet->is_of_slices ? verlet_fetch_home_cuda(context, verlet)
                                    : fetch_of_ranks(context, verlet);
    KITH_TRY(verlet_fetch_orders_cuda(context, verlet));
    for (int device = 1; device < verlet_devices_of(verlet); device++)
        KITH_TRY(fetch_from(context, verlet, device));
    return KITH_OK;
}
