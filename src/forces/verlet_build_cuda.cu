/* Makes a Verlet list on a GPU: particles sorted along cells, and for each the others of the cells
 * around it that are near. */

#include "device/cuda.h"
#include "device/cuda_state.h"
#include "forces/verlet_build_cuda.h"
#include "forces/verlet_place_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

enum { threads = 256, warp = 32 };

/* Of the kernel that lists partners: it has 28 KiB of candidates a block. */
enum { listing_threads = 128, most_candidates = 448 };

static const unsigned everyone = 0xffffffffU; /* in a warp */

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static __device__ int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

template <typename place>
static __device__ int64_t cell_of(const struct verlet_cuda_building &building, const place &at)
{
    const struct verlet_cuda_cells &cells = building.cells;
    int64_t cell = 0;
    for (int k = 0; k < 3; k++) {
        const int axis = cells.axis[k];
        auto x = at.x[axis];
        if (building.open >> axis & 1)
            x = verlet_from_below(x, building.shift[axis]);
        cell = cell * cells.count[axis] + verlet_cell_of(x, cells.count[axis]);
    }
    return cell;
}

/* The largest components along open axes; of the vectors of `lattice`. */
template <typename real>
static __global__ void find_farthest(const struct verlet_cuda_building building,
                                     const struct pairs_lattice lattice)
{
    using vector = typename verlet_types<real>::vector;
    const int64_t slot = own_number();
    double x[3] = {0, 0, 0};
    if (slot < building.list.count) {
        const vector of_slot = ((const vector *)building.from.position)[slot];
        for (int c = 0; c < 3; c++)
            x[c] = (double)of_slot.x[c];
    }
    for (int k = 0; k < building.dimensions; k++) {
        if (!(building.open >> k & 1))
            continue;
        int bits = __float_as_int(__double2float_ru(fabs(pairs_fraction(&lattice, x, k))));
        for (int step = warp / 2; step > 0; step /= 2)
            bits = max(bits, __shfl_xor_sync(everyone, bits, step));
        if (threadIdx.x % warp == 0)
            atomicMax(&building.list.control[building.list.device].farthest[k], bits);
    }
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
    (void)verlet_find_place<real>(building.lattice, building.dimensions, building.open, x, &at);
    at.w = building.weight ? ((const real *)building.weight)[building.from.order[slot]] : (real)1;
    ((place *)building.places_before)[slot] = at;
    building.keys[slot] = (uint64_t)cell_of(building, at);
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

/* Where a place is within the cell, or along an open axis. */
template <typename real>
static __device__ float4 point_of(const struct verlet_cuda_building &building,
                                  const typename verlet_types<real>::place &place)
{
    using natural = typename verlet_types<real>::natural;
    double x[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < building.dimensions; k++)
            x[c] += (building.open >> k & 1 ? (double)place.x[k] : (double)(natural)place.x[k]) *
                    building.edge[k][c];
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

/* What a candidate is known by, with its slot's bits as w, and whether that is near a slot: its
 * point at a known image, or its place, of two images the nearer one. */
template <typename real, bool is_wide> struct candidates;

template <typename real> struct candidates<real, true> {
    static __device__ float4 load(const struct verlet_cuda_building &building, int slot,
                                  const float t[3])
    {
        const float4 point = ((const float4 *)building.points)[slot];
        return make_float4(point.x + t[0], point.y + t[1], point.z + t[2], __int_as_float(slot));
    }

    static __device__ bool are_near(const struct verlet_cuda_building &building, const float4 &a,
                                    const float4 &b)
    {
        const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
        return fmaf(dz, dz, fmaf(dy, dy, dx * dx)) < (float)building.search2;
    }
};

template <typename real> struct candidates<real, false> {
    static __device__ float4 load(const struct verlet_cuda_building &, int slot, const float *)
    {
        return make_float4(0, 0, 0, __int_as_float(slot));
    }

    static __device__ bool are_near(const struct verlet_cuda_building &building, const float4 &a,
                                    const float4 &b)
    {
        using place = typename verlet_types<real>::place;
        const place *places = (const place *)building.list.reference;
        real d[3];
        verlet_separate<real>(building.edge, building.is_orthogonal, places[__float_as_int(b.w)],
                              places[__float_as_int(a.w)], d);
        return fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0])) < (real)building.search2;
    }
};

/* Of a warp: targets, candidates, and partners of a target before they are stored 32 at a time. */
struct warp_memory {
    float4 targets[warp], candidates[most_candidates];
    int partners[2 * warp];
};

/* The work of a warp, of which thread k has found `length` partners of target k. */
struct search {
    struct warp_memory *memory;
    int targets, candidates, length;
};

/* The partners 0 … count − 1 of those that wait, to the row of a slot. */
static __device__ void store_partners(const struct verlet_cuda_list &list, int slot, int length,
                                      const int *waiting, int count)
{
    const int lane = (int)threadIdx.x % warp, at = length + lane;
    __syncwarp();
    if (lane < count && at < list.room)
        list.partner[(slot - list.first) * list.room + verlet_place_in_row(at)] = waiting[lane];
}

/* The candidates that are near a target, after the `length` partners of it that are known; returns
 * how many there are then. */
template <typename real, bool is_wide>
static __device__ int take_target(const struct verlet_cuda_building &building,
                                  const struct search *search, const float4 &target, int length)
{
    int *partners = search->memory->partners;
    const int lane = (int)threadIdx.x % warp, own = __float_as_int(target.w);
    int waiting = 0;
    for (int k = lane; k - lane < search->candidates; k += warp) {
        const float4 candidate = search->memory->candidates[k];
        const int slot = __float_as_int(candidate.w);
        bool is_near = k < search->candidates && slot != own &&
                       candidates<real, is_wide>::are_near(building, candidate, target);
        if (building.excluded.begin && is_near)
            is_near = !excluded_cuda_has(&building.excluded, building.to.order[own],
                                         building.to.order[slot]);
        const unsigned near = __ballot_sync(everyone, is_near);
        if (is_near)
            partners[waiting + __popc(near & ((1U << lane) - 1))] = slot;
        waiting += __popc(near);
        if (waiting < warp)
            continue;
        store_partners(building.list, own, length, partners, warp);
        const int next = partners[warp + lane];
        __syncwarp();
        partners[lane] = next;
        __syncwarp();
        length += warp;
        waiting -= warp;
    }
    store_partners(building.list, own, length, partners, waiting);
    __syncwarp();
    return length + waiting;
}

template <typename real, bool is_wide>
static __device__ void take_candidates(const struct verlet_cuda_building &building,
                                       struct search *search)
{
    __syncwarp();
    for (int k = 0; k < search->targets; k++) {
        const int length = take_target<real, is_wide>(building, search, search->memory->targets[k],
                                                      __shfl_sync(everyone, search->length, k));
        if ((int)threadIdx.x % warp == k)
            search->length = length;
    }
    search->candidates = 0;
}

/* The slots begin … end − 1 of each thread, which are at its translation t, become candidates. They
 * are numbered through, and each thread loads each 32nd. */
template <typename real, bool is_wide>
static __device__ void take_slots(const struct verlet_cuda_building &building, int begin, int end,
                                  const float t[3], struct search *search)
{
    const int lane = (int)threadIdx.x % warp;
    int after = end - begin; /* slots of this thread and those before it */
    for (int step = 1; step < warp; step *= 2) {
        const int before = __shfl_up_sync(everyone, after, step);
        after += lane >= step ? before : 0;
    }
    const int total = __shfl_sync(everyone, after, warp - 1), offset = end - after;
    for (int first = 0; first < total; first += warp) {
        const int number = first + lane;
        int thread = 0; /* whose slot it is */
        for (int step = warp / 2; step > 0; step /= 2)
            thread += number >= __shfl_sync(everyone, after, thread + step - 1) ? step : 0;
        const int slot = number + __shfl_sync(everyone, offset, thread);
        float of_slot[3];
        for (int c = 0; c < 3; c++)
            of_slot[c] = is_wide ? __shfl_sync(everyone, t[c], thread) : 0;
        if (search->candidates > most_candidates - warp)
            take_candidates<real, is_wide>(building, search);
        if (number < total)
            search->memory->candidates[search->candidates + lane] =
                candidates<real, is_wide>::load(building, slot, of_slot);
        search->candidates += min(warp, total - first);
    }
}

/* The rows of cells within reach, from low on: each thread finds one of them. */
template <typename real, bool is_wide>
static __device__ void take_cells(const struct verlet_cuda_building &building, const int low[3],
                                  struct search *search)
{
    const struct verlet_cuda_cells &cells = building.cells;
    const int rows = verlet_count_rows(&cells);
    for (int first = 0; first < rows; first += warp) {
        const int number = first + (int)threadIdx.x % warp;
        const struct verlet_cuda_row row =
            verlet_row_of(&cells, low, number < rows ? number : rows - 1);
        const int32_t *begins = cells.begin + row.first;
        float t[2][3] = {};
        for (int farther = 0; is_wide && farther < 2; farther++) {
            int32_t image[3] = {row.image[0], row.image[1], row.image[2]};
            image[cells.axis[2]] += farther;
            for (int c = 0; c < 3 && (image[0] | image[1] | image[2]) != 0; c++)
                t[farther][c] = (float)pairs_translation(&building.lattice, image, c);
        }
        const bool is_there = number < rows;
        take_slots<real, is_wide>(building, begins[row.from],
                                  begins[is_there ? row.from + row.here : row.from], t[0], search);
        if (__any_sync(everyone, row.again > 0))
            take_slots<real, is_wide>(building, begins[0], begins[is_there ? row.again : 0], t[1],
                                      search);
    }
}

/* Fills up the row of each target, and finds the longest. */
static __device__ void finish_rows(const struct verlet_cuda_building &building,
                                   const struct search &search)
{
    const struct verlet_cuda_list &list = building.list;
    const int lane = (int)threadIdx.x % warp, length = search.length;
    if (lane >= search.targets)
        return;
    const int slot = __float_as_int(search.memory->targets[lane].w);
    const int whole =
        (length + verlet_cuda_row_unit - 1) / verlet_cuda_row_unit * verlet_cuda_row_unit;
    for (int at = length; at < whole && at < list.room; at++)
        list.partner[(slot - list.first) * list.room + verlet_place_in_row(at)] = slot;
    list.length[slot] = length;
    int *longest = &list.control[list.device].longest;
    if (length > *(volatile int *)longest)
        atomicMax(longest, length);
}

/* A warp has the slots of a cell as targets, up to 32 at a time. */
template <typename real, bool is_wide>
static __global__ void __launch_bounds__(listing_threads)
    list_partners(const struct verlet_cuda_building building)
{
    __shared__ struct warp_memory memory[listing_threads / warp];
    const struct verlet_cuda_cells &cells = building.cells;
    const int64_t cell = (int64_t)blockIdx.x * (listing_threads / warp) + threadIdx.x / warp;
    if (cell >= cells.total)
        return;
    const int lane = (int)threadIdx.x % warp;
    const int begin = max(cells.begin[cell], (int)building.list.first);
    const int end = min(cells.begin[cell + 1], (int)building.list.end);
    int low[3];
    int64_t rest = cell;
    for (int k = 2; k >= 0; k--) {
        const int count = cells.count[cells.axis[k]];
        low[k] = verlet_lowest_cell(&cells, k, (int)(rest % count));
        rest /= count;
    }
    struct warp_memory *own = &memory[threadIdx.x / warp];
    for (int first = begin; first < end; first += warp) {
        struct search search = {own, min(warp, end - first), 0, 0};
        if (lane < search.targets) {
            own->targets[lane] = ((const float4 *)building.points)[first + lane];
            own->targets[lane].w = __int_as_float(first + lane);
        }
        take_cells<real, is_wide>(building, low, &search);
        take_candidates<real, is_wide>(building, &search);
        finish_rows(building, search);
        __syncwarp();
    }
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
    const int64_t cells_a_block = listing_threads / warp;
    const unsigned blocks = (unsigned)((building->cells.total + cells_a_block - 1) / cells_a_block);
    if (building->is_wide)
        list_partners<real, true><<<blocks, listing_threads, 0, stream>>>(*building);
    else
        list_partners<real, false><<<blocks, listing_threads, 0, stream>>>(*building);
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

kith_status verlet_find_farthest_cuda(kith_context *context, kith_dtype dtype,
                                      const struct verlet_cuda_building *building,
                                      const struct pairs_lattice *lattice, float farthest[3])
{
    const unsigned blocks = blocks_for(building->list.count);
    const cudaStream_t stream = cuda_stream(context);
    int *found = building->list.control[building->list.device].farthest;
    KITH_TRY(cuda_check(cudaMemsetAsync(found, 0, 3 * sizeof *found, stream), "open axes"));
    if (dtype == KITH_F64)
        find_farthest<double><<<blocks, threads, 0, stream>>>(*building, *lattice);
    else
        find_farthest<float><<<blocks, threads, 0, stream>>>(*building, *lattice);
    KITH_TRY(cuda_check_launch("measuring open axes"));
    return cuda_copy_out(context, farthest, found, 3 * (int64_t)sizeof *farthest);
}
