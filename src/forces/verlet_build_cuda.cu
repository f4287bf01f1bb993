/* Makes a Verlet list on a GPU: particles sorted along cells, and for each the others of the cells
 * around it that are near. */

#include "device/cuda.h"
#include "forces/verlet_build_cuda.h"
#include "forces/verlet_place_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

enum { threads = 256, lanes = 8 };

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static __device__ int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

template <typename place>
static __device__ int64_t cell_of(const struct verlet_cuda_cells &cells, const place &at)
{
    int64_t cell = 0;
    for (int k = 0; k < 3; k++) {
        const int axis = cells.axis[k];
        cell = cell * cells.count[axis] + verlet_cell_of(at.x[axis], cells.count[axis]);
    }
    return cell;
}

/* Positions, masses and velocities of rows to slots. */
template <typename real>
static __global__ void load(const struct verlet_cuda_building building, bool is_first)
{
    using vector = typename verlet_types<real>::vector;
    const int64_t slot = own_number();
    if (slot >= building.list.count)
        return;
    const unsigned row = is_first ? (unsigned)slot : building.from.order[slot];
    vector at = {}, v = {};
    for (int c = 0; c < building.dimensions; c++) {
        at.x[c] = ((const real *)building.position[c])[row];
        if (building.velocity[c])
            v.x[c] = ((const real *)building.velocity[c])[row];
    }
    at.w = building.mass ? ((const real *)building.mass)[row] : (real)1;
    ((vector *)building.from.position)[slot] = at;
    ((vector *)building.from.velocity)[slot] = v;
    if (is_first)
        building.from.order[slot] = row;
}

/* Places, and the numbers of their cells. */
template <typename real>
static __global__ void number_cells(const struct verlet_cuda_building building)
{
    using place = typename verlet_types<real>::place;
    using vector = typename verlet_types<real>::vector;
    const int64_t slot = own_number();
    if (slot >= building.list.count)
        return;
    const vector of_slot = ((const vector *)building.from.position)[slot];
    const double x[3] = {(double)of_slot.x[0], (double)of_slot.x[1], (double)of_slot.x[2]};
    place at;
    verlet_find_place<real>(building.lattice, building.dimensions, x, &at);
    at.w = building.weight ? ((const real *)building.weight)[building.from.order[slot]] : (real)1;
    ((place *)building.places_before)[slot] = at;
    building.keys[slot] = (uint64_t)cell_of(building.cells, at);
}

/* The first slot of each cell, or of one behind. */
static __global__ void find_begins(int64_t cells, int64_t count, const uint64_t *keys,
                                   int32_t *begin)
{
    const int64_t cell = own_number();
    if (cell > cells)
        return;
    begin[cell] = (int32_t)search_64((const int64_t *)keys, 0, count, cell);
}

/* Where a place is within the cell. */
template <typename real>
static __device__ float4 point_of(const struct verlet_cuda_building &building,
                                  const typename verlet_types<real>::place &place)
{
    using natural = typename verlet_types<real>::natural;
    double x[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < building.dimensions; k++)
            x[c] += (double)(natural)place.x[k] * building.edge[k][c];
    return make_float4((float)x[0], (float)x[1], (float)x[2], 0);
}

template <typename real> static __global__ void arrange(const struct verlet_cuda_building building)
{
    using place = typename verlet_types<real>::place;
    using vector = typename verlet_types<real>::vector;
    const int64_t slot = own_number();
    if (slot >= building.list.count)
        return;
    const uint32_t before = building.sorted[slot];
    const unsigned row = building.from.order[before];
    ((place *)building.list.reference)[slot] = ((place *)building.places)[slot] =
        ((const place *)building.places_before)[before];
    ((vector *)building.to.position)[slot] = ((const vector *)building.from.position)[before];
    ((vector *)building.to.velocity)[slot] = ((const vector *)building.from.velocity)[before];
    building.to.order[slot] = row;
    ((float4 *)building.points)[slot] =
        point_of<real>(building, ((const place *)building.places_before)[before]);
    for (int k = 0; k < 2; k++)
        if (building.column[k])
            ((real *)building.slot_column[k])[slot] = ((const real *)building.column[k])[row];
}

/* Whether a slot is near: by places, of two images the nearer one; or by the points of a known
 * image, of which `own` is as far away. */
template <typename real> struct near_place {
    const struct verlet_cuda_building &building;
    typename verlet_types<real>::place own;

    __device__ bool operator()(int32_t slot) const
    {
        using place = typename verlet_types<real>::place;
        real d[3];
        verlet_separate<real>(building.edge, building.is_orthogonal, own,
                              ((const place *)building.list.reference)[slot], d);
        return fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0])) < (real)building.search2;
    }
};

struct near_point {
    const float4 *points;
    float x, y, z, search2;

    __device__ bool operator()(int32_t slot) const
    {
        const float4 other = points[slot];
        const float dx = other.x - x, dy = other.y - y, dz = other.z - z;
        return fmaf(dz, dz, fmaf(dy, dy, dx * dx)) < search2;
    }
};

/* What the threads that share a slot have found of its row. */
struct row {
    int64_t slot;
    int lane, length;
    unsigned mask; /* of these threads in their warp */
};

/* The slots begin … end − 1 that are near, and not excluded. */
template <typename test>
static __device__ void take_slots(const struct verlet_cuda_building &building,
                                  const test &is_near_to, int32_t begin, int32_t end,
                                  struct row *row)
{
    const struct verlet_cuda_list &list = building.list;
    const unsigned *order = building.to.order;
    int *partners = list.partner + (row->slot - list.first) * list.room;
    for (int32_t first = begin; first < end; first += lanes) {
        const int32_t p = first + row->lane;
        bool is_near = p < end && p != row->slot && is_near_to(p);
        if (is_near && building.excluded.begin)
            is_near = !excluded_cuda_has(&building.excluded, order[row->slot], order[p]);
        const unsigned near = __ballot_sync(row->mask, is_near) & row->mask;
        const unsigned before = near & ((1U << (threadIdx.x % 32)) - 1);
        const int at = row->length + __popc(before);
        if (is_near && at < list.room)
            partners[verlet_place_in_row(at)] = p;
        row->length += __popc(near);
    }
}

/* `own`, as far from points as the image of a row is. */
static __device__ struct near_point moved(const struct verlet_cuda_building &building,
                                          const float4 &own, const int image[3], int farther)
{
    const int last = building.cells.axis[2];
    int32_t all[3] = {image[0], image[1], image[2]};
    all[last] += farther;
    float t[3] = {0, 0, 0};
    for (int c = 0; c < 3 && (all[0] | all[1] | all[2]) != 0; c++)
        t[c] = (float)pairs_translation(&building.lattice, all, c);
    return {(const float4 *)building.points, own.x - t[0], own.y - t[1], own.z - t[2],
            (float)building.search2};
}

static __device__ int share(const struct row *row, int number, int lane)
{
    return __shfl_sync(row->mask, number, lane, lanes);
}

/* The rows of cells within reach, from low on: each thread looks where one of them begins and ends,
 * then all visit its slots. */
template <typename real, bool is_wide>
static __device__ void take_cells(const struct verlet_cuda_building &building, const int low[3],
                                  struct row *row)
{
    using place = typename verlet_types<real>::place;
    const struct verlet_cuda_cells &cells = building.cells;
    const int rows = verlet_count_rows(&cells);
    const near_place<real> by_place = {building,
                                       ((const place *)building.list.reference)[row->slot]};
    const float4 own = is_wide ? ((const float4 *)building.points)[row->slot] : float4{};
    for (int first = 0; first < rows; first += lanes) {
        const int number = first + row->lane < rows ? first + row->lane : rows - 1;
        const struct verlet_cuda_row of_thread = verlet_row_of(&cells, low, number);
        const int32_t *begins = cells.begin + of_thread.first;
        const int32_t begin = begins[of_thread.from];
        const int32_t end = begins[of_thread.from + of_thread.here];
        const int32_t begin_again = begins[0], end_again = begins[of_thread.again];
        for (int k = 0; k < lanes && first + k < rows; k++) {
            const int image[3] = {share(row, of_thread.image[0], k),
                                  share(row, of_thread.image[1], k),
                                  share(row, of_thread.image[2], k)};
            const int32_t from = share(row, begin, k), to = share(row, end, k);
            const int32_t from_again = share(row, begin_again, k),
                          to_again = share(row, end_again, k);
            if (is_wide)
                take_slots(building, moved(building, own, image, 0), from, to, row);
            else
                take_slots(building, by_place, from, to, row);
            if (from_again == to_again)
                continue;
            if (is_wide)
                take_slots(building, moved(building, own, image, 1), from_again, to_again, row);
            else
                take_slots(building, by_place, from_again, to_again, row);
        }
    }
}

template <typename real, bool is_wide>
static __global__ void list_partners(const struct verlet_cuda_building building)
{
    using place = typename verlet_types<real>::place;
    const struct verlet_cuda_cells &cells = building.cells;
    const int64_t slot = building.list.first + own_number() / lanes;
    if (slot >= building.list.end)
        return;
    struct verlet_cuda_control *control = &building.list.control[building.list.device];
    struct row row = {slot, (int)threadIdx.x % lanes, 0,
                      ((1U << lanes) - 1) << (threadIdx.x % 32 / lanes * lanes)};
    const place own = ((const place *)building.list.reference)[slot];
    int low[3];
    for (int k = 0; k < 3; k++) {
        const int axis = cells.axis[k];
        low[k] = verlet_lowest_cell(&cells, k, verlet_cell_of(own.x[axis], cells.count[axis]));
    }
    take_cells<real, is_wide>(building, low, &row);
    const int whole =
        (row.length + verlet_cuda_row_unit - 1) / verlet_cuda_row_unit * verlet_cuda_row_unit;
    for (int at = row.length + row.lane; at < whole && at < building.list.room; at += lanes)
        building.list
            .partner[(slot - building.list.first) * building.list.room + verlet_place_in_row(at)] =
            (int)slot;
    if (row.lane != 0)
        return;
    building.list.length[slot] = row.length;
    if (row.length > *(volatile int *)&control->longest)
        atomicMax(&control->longest, row.length);
}

template <typename real>
static kith_status build(kith_context *context, const struct verlet_cuda_building *building)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct verlet_cuda_list *list = &building->list;
    int32_t bits = 1;
    while (building->cells.total >> bits)
        bits++;
    number_cells<real><<<blocks_for(list->count), threads, 0, stream>>>(*building);
    KITH_TRY(cuda_check_launch("numbering the cells"));
    KITH_TRY(sort_keys_cuda(context, list->count, bits, building->keys, building->sorted,
                            building->sort_scratch));
    find_begins<<<blocks_for(building->cells.total + 1), threads, 0, stream>>>(
        building->cells.total, list->count, building->keys, building->cells.begin);
    KITH_TRY(cuda_check_launch("looking where cells begin"));
    arrange<real><<<blocks_for(list->count), threads, 0, stream>>>(*building);
    KITH_TRY(cuda_check_launch("arranging particles"));
    int *longest = &list->control[list->device].longest;
    KITH_TRY(cuda_check(cudaMemsetAsync(longest, 0, sizeof *longest, stream), "listing partners"));
    const unsigned blocks = blocks_for((list->end - list->first) * lanes);
    if (building->is_wide)
        list_partners<real, true><<<blocks, threads, 0, stream>>>(*building);
    else
        list_partners<real, false><<<blocks, threads, 0, stream>>>(*building);
    return cuda_check_launch("listing partners");
}

kith_status verlet_build_cuda(kith_context *context, kith_dtype dtype,
                              const struct verlet_cuda_building *building)
{
    return dtype == KITH_F64 ? build<double>(context, building) : build<float>(context, building);
}

kith_status verlet_load_cuda(kith_context *context, kith_dtype dtype, bool is_first,
                             const struct verlet_cuda_building *building)
{
    const unsigned blocks = blocks_for(building->list.count);
    if (dtype == KITH_F64)
        load<double><<<blocks, threads, 0, cuda_stream(context)>>>(*building, is_first);
    else
        load<float><<<blocks, threads, 0, cuda_stream(context)>>>(*building, is_first);
    return cuda_check_launch("sorting particles");
}
