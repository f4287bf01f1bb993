/* Columns of slices: of particles that a rank has in its slab of space, the rows are with the ranks
 * of a job. Particles in the order of their rows are in that of these ranks. */

#include <string.h>

#include "device/cuda_state.h"
#include "forces/verlet_share_cuda.h"
#include "ranks/device_parts.h"
#include "ranks/partition.h"
#include "sort/search.h"
#include "sort/sort.h"

enum { threads = 256, tag_of_columns = 10 };

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static __device__ int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

static int64_t count_own(const struct verlet_cuda *verlet)
{
    return verlet->building.list.end - verlet->building.list.first;
}

static int64_t first_at_home(const struct verlet_cuda *verlet, int rank)
{
    return ranks_first(verlet->count, verlet_devices_of(verlet), rank);
}

int64_t verlet_rows_at_home(const struct verlet_cuda *verlet)
{
    const int rank = verlet->building.list.device;
    return first_at_home(verlet, rank + 1) - first_at_home(verlet, rank);
}

/* The slots of own particles, from the first of these on, in the order of their rows. It is that
 * of sorting, whose memory is not used until the next list is made. */
static const unsigned *slots_by_row(const struct verlet_cuda *verlet)
{
    return verlet->building.sorted + verlet->building.list.first;
}

void verlet_use_slots_cuda(struct verlet_cuda *verlet)
{
    const struct verlet_home *home = &verlet->home;
    struct verlet_cuda_building *building = &verlet->building;
    struct verlet_cuda_step *step = &verlet->step;
    step->is_by_slot = building->is_by_slot = true;
    for (int c = 0; c < step->dimensions; c++) {
        for (int k = 0; k < verlet_vectors; k++)
            building->vector[k][c] = step->column[k][c] =
                home->vector[k][c] ? verlet_column_of(verlet, verlet_components + 3 * k + c) : NULL;
        step->acceleration[c] = verlet_column_of(verlet, verlet_accelerations + c);
    }
    building->mass = home->mass ? verlet_column_of(verlet, verlet_masses) : NULL;
    building->weight = home->weight ? verlet_column_of(verlet, verlet_weights) : NULL;
}

void verlet_take_home_cuda(const struct verlet_cuda *from, struct verlet_cuda *verlet)
{
    struct verlet_home *home = &verlet->home;
    memcpy(home->vector, from->step.column, sizeof home->vector);
    memcpy(home->acceleration, from->step.acceleration, sizeof home->acceleration);
    home->mass = from->building.mass;
    home->weight = from->building.weight;
    verlet_use_slots_cuda(verlet);
}

/* Columns by row, and by slot. */
struct columns {
    int count;
    void *of_rows[verlet_columns], *of_slots[verlet_columns];
};

static void add(struct columns *columns, const struct verlet_cuda *verlet, int k,
                const void *of_rows)
{
    if (!of_rows)
        return;
    columns->of_rows[columns->count] = (void *)of_rows;
    columns->of_slots[columns->count++] = verlet_column_of(verlet, k);
}

static void add_vectors(struct columns *columns, const struct verlet_cuda *verlet)
{
    for (int c = 0; c < verlet->step.dimensions; c++)
        for (int k = 0; k < verlet_vectors; k++)
            add(columns, verlet, verlet_components + 3 * k + c, verlet->home.vector[k][c]);
}

static void add_accelerations(struct columns *columns, const struct verlet_cuda *verlet)
{
    for (int c = 0; c < verlet->step.dimensions; c++)
        add(columns, verlet, verlet_accelerations + c, verlet->home.acceleration[c]);
}

/* Elements in the order of rows, of this rank's particles to the ranks that have their rows, or the
 * other way round. status is that of this rank's work. */
static kith_status exchange(kith_context *context, const struct verlet_cuda *verlet,
                            kith_status status, bool is_homeward, const void *sent, void *received,
                            int64_t each)
{
    const struct verlet_home *home = &verlet->home;
    const int64_t *from = is_homeward ? home->first_sent : home->first_received;
    const int64_t *to = is_homeward ? home->first_received : home->first_sent;
    return ranks_exchange_parts_on_device(context, status, tag_of_columns, each, from, sent, to,
                                          received);
}

static __global__ void take_rows(const unsigned *order, int64_t count, uint64_t *keys)
{
    const int64_t number = own_number();
    if (number < count)
        keys[number] = order[number];
}

/* The first row of each rank, and one past the last row. */
struct firsts {
    int64_t of_rank[verlet_most_devices + 1];
};

/* Where the rows of each rank begin; and all of them. */
static __global__ void find_parts(const uint64_t *keys, int64_t count, int ranks,
                                  const struct firsts firsts, int64_t *begins, unsigned *rows)
{
    const int64_t number = own_number();
    if (number < count)
        rows[number] = (unsigned)keys[number];
    if (number <= ranks)
        begins[number] = search_64((const int64_t *)keys, 0, count, firsts.of_rank[number]);
}

/* The slots of this rank's particles in the order of their rows, those, and by which ranks they
 * are. Waits for the device. */
static kith_status sort_rows(kith_context *context, struct verlet_cuda *verlet, unsigned **rows)
{
    const struct verlet_cuda_building *building = &verlet->building;
    const int64_t count = count_own(verlet), begins_room = verlet_most_devices + 1;
    const int64_t working = (sort_working_bytes_cuda(count) + 255) / 256 * 256;
    const int ranks = verlet_devices_of(verlet);
    const cudaStream_t stream = cuda_stream(context);
    struct firsts firsts = {};
    int32_t bits = 1;
    char *memory = NULL;
    while (verlet->count >> bits)
        bits++;
    for (int rank = 0; rank <= ranks; rank++)
        firsts.of_rank[rank] = first_at_home(verlet, rank);
    KITH_TRY(cuda_scratch(
        context, working + 8 * begins_room + count * (int64_t)(sizeof(uint64_t) + sizeof(unsigned)),
        (void **)&memory));
    int64_t *begins = (int64_t *)(memory + working);
    uint64_t *keys = (uint64_t *)begins + begins_room;
    *rows = (unsigned *)(keys + count);
    if (count > 0)
        take_rows<<<blocks_for(count), threads, 0, stream>>>(
            verlet->step.state.order + building->list.first, count, keys);
    KITH_TRY(cuda_check_launch("rows of particles"));
    KITH_TRY(sort_keys_cuda(context, count, bits, keys, building->sorted + building->list.first,
                            building->sort_scratch));
    find_parts<<<blocks_for(count + ranks + 1), threads, 0, stream>>>(keys, count, ranks, firsts,
                                                                      begins, *rows);
    KITH_TRY(cuda_check_launch("rows of particles"));
    return cuda_copy_out(context, verlet->home.first_sent, begins,
                         (ranks + 1) * (int64_t)sizeof *begins);
}

/* Which particles have rows of which rank, of the present slots. */
static kith_status make_plan(kith_context *context, struct verlet_cuda *verlet)
{
    struct verlet_home *home = &verlet->home;
    const int ranks = verlet_devices_of(verlet), own = verlet->building.list.device;
    int64_t sent[verlet_most_devices][verlet_most_devices + 1], first[verlet_most_devices + 1];
    unsigned *rows = NULL;
    if (home->has_plan)
        return KITH_OK;
    KITH_TRY(ranks_agree(context, sort_rows(context, verlet, &rows)));
    for (int rank = 0; rank <= ranks; rank++)
        first[rank] = rank;
    memcpy(sent[own], home->first_sent, sizeof sent[own]);
    ranks_gather_parts(context, sent, sizeof sent[0], first);
    home->first_received[0] = 0;
    for (int rank = 0; rank < ranks; rank++)
        home->first_received[rank + 1] =
            home->first_received[rank] + sent[rank][own + 1] - sent[rank][own];
    KITH_TRY(exchange(context, verlet, KITH_OK, true, rows, home->rows, sizeof *rows));
    home->has_plan = true;
    return KITH_OK;
}

/* Elements of a column that have these indices, less first, to a packed one, or back. */
template <typename real, bool is_packed>
static __global__ void pack(real *column, const unsigned *indices, int64_t first, int64_t count,
                            real *packed)
{
    const int64_t number = own_number();
    if (number >= count)
        return;
    if (is_packed)
        column[indices[number] - first] = packed[number];
    else
        packed[number] = column[indices[number] - first];
}

template <typename real, bool is_packed>
static kith_status launch_pack(kith_context *context, const struct verlet_cuda *verlet,
                               bool is_of_rows, void *column, void *packed)
{
    const int own = verlet->building.list.device;
    const int64_t count = is_of_rows ? verlet_rows_at_home(verlet) : count_own(verlet);
    if (count == 0)
        return KITH_OK;
    pack<real, is_packed><<<blocks_for(count), threads, 0, cuda_stream(context)>>>(
        (real *)column, is_of_rows ? verlet->home.rows : slots_by_row(verlet),
        is_of_rows ? first_at_home(verlet, own) : 0, count, (real *)packed);
    return cuda_check_launch("packing particles of ranks");
}

/* One column after another: from rows to slots, or home. */
template <typename real>
static kith_status move(kith_context *context, const struct verlet_cuda *verlet,
                        const struct columns *columns, bool is_homeward)
{
    const int64_t rows = verlet_rows_at_home(verlet), slots = count_own(verlet);
    const int64_t room = rows > slots ? rows : slots;
    real *packed = NULL;
    KITH_TRY(ranks_agree(
        context, cuda_scratch(context, 2 * room * (int64_t)sizeof *packed, (void **)&packed)));
    for (int k = 0; k < columns->count; k++) {
        void *from = is_homeward ? columns->of_slots[k] : columns->of_rows[k];
        void *to = is_homeward ? columns->of_rows[k] : columns->of_slots[k];
        const kith_status status =
            launch_pack<real, false>(context, verlet, !is_homeward, from, packed);
        KITH_TRY(
            exchange(context, verlet, status, is_homeward, packed, packed + room, sizeof *packed));
        KITH_TRY(ranks_agree(
            context, launch_pack<real, true>(context, verlet, is_homeward, to, packed + room)));
    }
    return KITH_OK;
}

static kith_status move_columns(kith_context *context, struct verlet_cuda *verlet,
                                const struct columns *columns, bool is_homeward)
{
    KITH_TRY(make_plan(context, verlet));
    return verlet->dtype == KITH_F64 ? move<double>(context, verlet, columns, is_homeward)
                                     : move<float>(context, verlet, columns, is_homeward);
}

/* Before there is a list, a rank's particles are those of its rows. */
static kith_status copy_rows(kith_context *context, const struct verlet_cuda *verlet,
                             const struct columns *columns)
{
    const size_t bytes = (size_t)(count_own(verlet) * kith_dtype_bytes(verlet->dtype));
    for (int k = 0; k < columns->count; k++)
        KITH_TRY(cuda_check(cudaMemcpyAsync(columns->of_slots[k], columns->of_rows[k], bytes,
                                            cudaMemcpyDeviceToDevice, cuda_stream(context)),
                            "columns of a rank's own particles"));
    return KITH_OK;
}

kith_status verlet_send_home_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    struct columns columns = {};
    add_vectors(&columns, verlet);
    add(&columns, verlet, verlet_masses, verlet->home.mass);
    add(&columns, verlet, verlet_weights, verlet->home.weight);
    return verlet->has_list ? move_columns(context, verlet, &columns, false)
                            : ranks_agree(context, copy_rows(context, verlet, &columns));
}

kith_status verlet_send_accelerations_home_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    struct columns columns = {};
    add_accelerations(&columns, verlet);
    return move_columns(context, verlet, &columns, false);
}

kith_status verlet_fetch_home_cuda(kith_context *context, struct verlet_cuda *verlet)
{
    struct columns columns = {};
    add_accelerations(&columns, verlet);
    if (verlet->home.vector[verlet_velocity][0])
        add_vectors(&columns, verlet);
    return move_columns(context, verlet, &columns, true);
}
