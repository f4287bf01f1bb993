/* Makes a Verlet list on a GPU: particles sorted along cells, and for each the others of the cells
 * around it that are near. */

#include "device/cuda_state.h"
#include "forces/verlet_build_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

/* The cell of a particle of the slab, or of a ghost below it (side −1) or above it (1), of which
 * image is that of its layer. */
template <typename place>
static __device__ int64_t cell_of(const struct verlet_cuda_building &building, const place &at,
                                  int side, int *image)
{
    const struct verlet_cuda_cells &cells = building.cells;
    int64_t cell = 0;
    for (int k = 0; k < 3; k++) {
        const int axis = cells.axis[k];
        auto x = at.x[axis];
        if (building.open >> axis & 1)
            x = verlet_from_below(x, building.shift[axis]);
        int along =
            verlet_cell_of(x, k == building.layer_axis ? building.slab.layers : cells.count[axis]);
        if (k == building.layer_axis)
            along = verlet_layer_in_slab(&building.slab, along, side, image);
        cell = cell * cells.count[axis] + along;
    }
    return cell;
}

/* The largest components along open axes; of the vectors of `lattice`. */
template <typename real>
static __global__ void find_farthest(const struct verlet_cuda_building building,
                                     const struct pairs_lattice lattice)
{
    using vector = typename verlet_types<real>::vector;
    const int64_t slot = building.list.first + own_number();
    double x[3] = {0, 0, 0};
    if (slot < building.list.end) {
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
    const int64_t number = own_number(), slot = building.list.first + number;
    if (slot >= building.list.end)
        return;
    const unsigned row =
        is_first ? (unsigned)(building.first_row + number) : building.from.order[slot];
    const int64_t at_column = building.is_by_slot ? number : (int64_t)row;
    vector at = {}, v = {};
    for (int c = 0; c < building.dimensions; c++) {
        at.x[c] = ((const real *)building.position[c])[at_column];
        if (building.velocity[c])
            v.x[c] = ((const real *)building.velocity[c])[at_column];
    }
    at.w = building.mass ? ((const real *)building.mass)[at_column] : (real)1;
    v.w = building.weight ? ((const real *)building.weight)[at_column] : (real)1;
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
    const int64_t slot = building.list.first + own_number();
    if (slot >= building.list.end)
        return;
    int image = 0;
    place at = place_of<real>(building, ((const vector *)building.from.position)[slot]);
    at.w = ((const vector *)building.from.velocity)[slot].w;
    ((place *)building.places_before)[slot] = at;
    building.keys[slot] = (uint64_t)cell_of(building, at, 0, &image);
}

/* The first slot of each cell, or of one behind. */
static __global__ void find_begins(const struct verlet_cuda_building building)
{
    const struct verlet_cuda_list &list = building.list;
    const int64_t cell = own_number();
    if (cell > building.cells.total)
        return;
    building.cells.begin[cell] = (int32_t)search_64(
        (const int64_t *)building.keys, list.first - list.low, list.end + list.high, cell);
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
    const int64_t slot = building.list.first + own_number();
    if (slot >= building.list.end)
        return;
    const int64_t before = building.list.first + building.sorted[slot];
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

/* Ghosts are where their image next to the slab is. */
template <typename real>
static __global__ void take_ghosts(const struct verlet_cuda_building building)
{
    using place = typename verlet_types<real>::place;
    const struct verlet_cuda_list &list = building.list;
    const int64_t number = own_number();
    if (number >= list.low + list.high)
        return;
    const int side = number < list.low ? -1 : 1;
    const int64_t slot =
        number < list.low ? list.first - list.low + number : list.end + number - list.low;
    const place at = ((const place *)building.list.reference)[slot];
    int32_t image[3] = {0, 0, 0};
    building.keys[slot] =
        (uint64_t)cell_of(building, at, side, &image[building.cells.axis[building.layer_axis]]);
    float4 point = point_of<real>(building, at);
    point.x += (float)pairs_translation(&building.lattice, image, 0);
    point.y += (float)pairs_translation(&building.lattice, image, 1);
    point.z += (float)pairs_translation(&building.lattice, image, 2);
    ((place *)building.places)[slot] = at;
    ((float4 *)building.points)[slot] = point;
}

/* What a thread knows of a candidate, and whether that is near a slot: by the points of a known
 * image, or by places, of two images the nearer one. */
template <typename real, bool is_wide> struct candidate;

template <typename real> struct candidate<real, true> {
    float x, y, z;

    __device__ void load(const struct verlet_cuda_building &building, int slot, const float t[3])
    {
        const float4 point = ((const float4 *)building.points)[slot];
        x = point.x + t[0], y = point.y + t[1], z = point.z + t[2];
    }

    __device__ bool is_near(const struct verlet_cuda_building &building, const float4 &target) const
    {
        const float dx = x - target.x, dy = y - target.y, dz = z - target.z;
        return fmaf(dz, dz, fmaf(dy, dy, dx * dx)) < (float)building.search2;
    }
};

template <typename real> struct candidate<real, false> {
    typename verlet_types<real>::place place;

    __device__ void load(const struct verlet_cuda_building &building, int slot, const float *)
    {
        place = ((const typename verlet_types<real>::place *)building.list.reference)[slot];
    }

    __device__ bool is_near(const struct verlet_cuda_building &building, const float4 &target) const
    {
        using places = typename verlet_types<real>::place;
        real d[3];
        verlet_separate<real>(building.edge, building.is_orthogonal,
                              ((const places *)building.list.reference)[__float_as_int(target.w)],
                              place, d);
        return fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0])) < (real)building.search2;
    }
};

/* The targets of a warp, of which thread k has found `length` partners of the k-th. */
struct targets {
    const float4 *at; /* points; w has the slot's bits */
    int count, length;
};

/* A candidate of each thread, to the rows of the targets that it is near; slot is -1 of a thread
 * that has none. */
template <typename real, bool is_wide>
static __device__ void take_candidates(const struct verlet_cuda_building &building,
                                       const struct candidate<real, is_wide> &candidate, int slot,
                                       struct targets *targets)
{
    const struct verlet_cuda_list &list = building.list;
    const int lane = (int)threadIdx.x % warp, room = (int)list.room;
    for (int k = 0; k < targets->count; k++) {
        const float4 target = targets->at[k];
        const int own = __float_as_int(target.w);
        bool is_near = slot >= 0 && slot != own && candidate.is_near(building, target);
        if (building.excluded.begin && is_near)
            is_near = !excluded_cuda_has(&building.excluded, building.to.order[own],
                                         building.to.order[slot]);
        const unsigned near = __ballot_sync(everyone, is_near);
        const int at =
            __shfl_sync(everyone, targets->length, k) + __popc(near & ((1U << lane) - 1));
        if (is_near && at < room)
            list.partner[(own - list.first) * list.room + verlet_place_in_row(at)] = slot;
        if (lane == k)
            targets->length += __popc(near);
    }
}

/* The slots begin … end − 1 of each thread, which are at its translation t. They are numbered
 * through, and 32 at a time are candidates. */
template <typename real, bool is_wide>
static __device__ void take_slots(const struct verlet_cuda_building &building, int begin, int end,
                                  const float t[3], struct targets *targets)
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
        struct candidate<real, is_wide> candidate = {
        };
        if (number < total)
            candidate.load(building, slot, of_slot);
        take_candidates(building, candidate, number < total ? slot : -1, targets);
    }
}

/* The rows of cells within reach, from low on: each thread finds one of them. */
template <typename real, bool is_wide>
static __device__ void take_cells(const struct verlet_cuda_building &building, const int low[3],
                                  struct targets *targets)
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
                                  begins[is_there ? row.from + row.here : row.from], t[0], targets);
        if (__any_sync(everyone, row.again > 0))
            take_slots<real, is_wide>(building, begins[0], begins[is_there ? row.again : 0], t[1],
                                      targets);
    }
}

/* Pads the row of each target, and finds the longest. */
static __device__ void finish_rows(const struct verlet_cuda_building &building,
                                   const struct targets &targets)
{
    const struct verlet_cuda_list &list = building.list;
    const int lane = (int)threadIdx.x % warp;
    if (lane >= targets.count)
        return;
    const int slot = __float_as_int(targets.at[lane].w), length = targets.length;
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
static __global__ void __launch_bounds__(threads)
    list_partners(const struct verlet_cuda_building building)
{
    __shared__ float4 points[threads / warp][warp];
    const struct verlet_cuda_cells &cells = building.cells;
    const int64_t cell = own_number() / warp;
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
    float4 *own = points[threadIdx.x / warp];
    for (int first = begin; first < end; first += warp) {
        struct targets targets = {own, min(warp, end - first), 0};
        if (lane < targets.count) {
            own[lane] = ((const float4 *)building.points)[first + lane];
            own[lane].w = __int_as_float(first + lane);
        }
        __syncwarp();
        take_cells<real, is_wide>(building, low, &targets);
        finish_rows(building, targets);
        __syncwarp();
    }
}

template <typename real>
static kith_status sort(kith_context *context, const struct verlet_cuda_building &building)
{
    const cudaStream_t stream = cuda_stream(context);
    const int64_t count = count_own(building), first = building.list.first;
    const unsigned blocks = blocks_for(count);
    int32_t bits = 1;
    if (count == 0)
        return KITH_OK;
    while (building.cells.total >> bits)
        bits++;
    number_cells<real><<<blocks, threads, 0, stream>>>(building);
    KITH_TRY(cuda_check_launch("numbering the cells"));
    KITH_TRY(sort_keys_cuda(context, count, bits, building.keys + first, building.sorted + first,
                            building.sort_scratch));
    arrange<real><<<blocks, threads, 0, stream>>>(building);
    return cuda_check_launch("arranging particles");
}

kith_status verlet_sort_cuda(kith_context *context, kith_dtype dtype,
                             const struct verlet_cuda_building *building)
{
    return dtype == KITH_F64 ? sort<double>(context, *building) : sort<float>(context, *building);
}

template <typename real>
static kith_status make_list(kith_context *context, const struct verlet_cuda_building &building)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct verlet_cuda_list &list = building.list;
    int *longest = &list.control[list.device].longest;
    KITH_TRY(cuda_check(cudaMemsetAsync(longest, 0, sizeof *longest, stream), "listing partners"));
    if (list.low + list.high > 0)
        take_ghosts<real><<<blocks_for(list.low + list.high), threads, 0, stream>>>(building);
    KITH_TRY(cuda_check_launch("placing ghosts"));
    find_begins<<<blocks_for(building.cells.total + 1), threads, 0, stream>>>(building);
    KITH_TRY(cuda_check_launch("looking where cells begin"));
    const unsigned blocks = blocks_for(building.cells.total * warp);
    if (building.is_wide)
        list_partners<real, true><<<blocks, threads, 0, stream>>>(building);
    else
        list_partners<real, false><<<blocks, threads, 0, stream>>>(building);
    return cuda_check_launch("listing partners");
}

kith_status verlet_list_cuda(kith_context *context, kith_dtype dtype,
                             const struct verlet_cuda_building *building)
{
    return dtype == KITH_F64 ? make_list<double>(context, *building)
                             : make_list<float>(context, *building);
}

kith_status verlet_load_cuda(kith_context *context, kith_dtype dtype, bool is_first,
                             const struct verlet_cuda_building *building)
{
    const unsigned blocks = blocks_for(count_own(*building));
    if (blocks == 0)
        return KITH_OK;
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
    const unsigned blocks = blocks_for(count_own(*building));
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
