/* Makes a Verlet list on a GPU: particles sorted along cells, and for each the others of the cells
 * around it that are near. */

#include "device/cuda_state.h"
#include "forces/verlet_build_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

/* Targets of a warp at a time, and candidates that it numbers at a time. */
enum { most_targets = 8, most_candidates = 512 };

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
        const vector of_slot = ((const vector *)building.from.vector[verlet_position])[slot];
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
    const void *const last[verlet_vectors] = {building.mass, building.weight};
    for (int k = 0; k < verlet_vectors; k++) {
        vector loaded = {};
        for (int c = 0; c < building.dimensions && building.vector[k][c]; c++)
            loaded.x[c] = ((const real *)building.vector[k][c])[at_column];
        loaded.w = last[k] ? ((const real *)last[k])[at_column] : (real)1;
        ((vector *)building.from.vector[k])[slot] = loaded;
    }
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
    place at =
        place_of<real>(building, ((const vector *)building.from.vector[verlet_position])[slot]);
    at.w = ((const vector *)building.from.vector[verlet_velocity])[slot].w;
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
    for (int k = 0; k < verlet_vectors; k++)
        ((vector *)building.to.vector[k])[slot] = ((const vector *)building.from.vector[k])[before];
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
    float x = INFINITY, y = 0, z = 0;

    __device__ void load(const struct verlet_cuda_building &building, int slot, const float t[3])
    {
        const float4 point = ((const float4 *)building.points)[slot];
        x = point.x + t[0], y = point.y + t[1], z = point.z + t[2];
    }

    __device__ bool is_near(const struct verlet_cuda_building &building, int,
                            const float4 &target) const
    {
        const float dx = x - target.x, dy = y - target.y, dz = z - target.z;
        return fmaf(dz, dz, fmaf(dy, dy, dx * dx)) < (float)building.search2;
    }
};

template <typename real> struct candidate<real, false> {
    typename verlet_types<real>::place place = {};
    bool is_there = false;

    __device__ void load(const struct verlet_cuda_building &building, int slot, const float *)
    {
        place = ((const typename verlet_types<real>::place *)building.list.reference)[slot];
        is_there = true;
    }

    __device__ bool is_near(const struct verlet_cuda_building &building, int slot,
                            const float4 &) const
    {
        using places = typename verlet_types<real>::place;
        real d[3];
        verlet_separate<real>(building.edge, building.is_orthogonal,
                              ((const places *)building.list.reference)[slot], place, d);
        return is_there && fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0])) < (real)building.search2;
    }
};

/* Slots of a warp in a row, and how many partners of each were found. */
struct targets {
    float4 point[most_targets];
    int length[most_targets];
    int first, count;
    int *row; /* of the first */
};

/* A candidate of each thread, to the rows of the targets that it is near: first which those are, so
 * that nothing is waited for between them. */
template <bool excludes, typename real, bool is_wide>
static __device__ void take_candidates(const struct verlet_cuda_building &building,
                                       const struct candidate<real, is_wide> &candidate, int slot,
                                       struct targets *targets)
{
    const int room = (int)building.list.room, of_targets = slot - targets->first;
    const unsigned own = 1U << threadIdx.x % warp;
    unsigned near[most_targets];
#pragma unroll
    for (int k = 0; k < most_targets; k++) {
        bool is_near = of_targets != k && (is_wide || k < targets->count) &&
                       candidate.is_near(building, targets->first + k, targets->point[k]);
        if (excludes && is_near)
            is_near = !excluded_cuda_has(&building.excluded, building.to.order[targets->first + k],
                                         building.to.order[slot]);
        near[k] = __ballot_sync(everyone, is_near);
    }
#pragma unroll
    for (int k = 0; k < most_targets; k++) {
        if (near[k] == 0)
            continue;
        const int at = targets->length[k] + __popc(near[k] & (own - 1));
        if ((near[k] & own) != 0 && at < room)
            targets->row[k * room + verlet_place_in_row((unsigned)at)] = slot;
        targets->length[k] += __popc(near[k]);
    }
}

/* Candidates that a warp has numbered, and the threads that have them. */
struct numbered {
    int slot[most_candidates];
    unsigned char thread[most_candidates];
};

/* The slots begin … end − 1 of each thread, which are at its translation t. They are numbered
 * through, and 32 at a time are candidates. */
template <typename real, bool is_wide, bool excludes>
static __device__ void take_slots(const struct verlet_cuda_building &building, int begin, int end,
                                  const float t[3], struct numbered *numbered,
                                  struct targets *targets)
{
    const int lane = (int)threadIdx.x % warp;
    const bool are_moved = is_wide && __any_sync(everyone, t[0] != 0 || t[1] != 0 || t[2] != 0);
    int after = end - begin; /* slots of this thread and those before it */
    for (int step = 1; step < warp; step *= 2) {
        const int before = __shfl_up_sync(everyone, after, step);
        after += lane >= step ? before : 0;
    }
    const int total = __shfl_sync(everyone, after, warp - 1), offset = end - after;
    for (int first = 0; first < total; first += most_candidates) {
        const int last = min(after - first, (int)most_candidates);
        for (int at = max(begin - offset - first, 0); at < last; at++) {
            numbered->slot[at] = first + at + offset;
            numbered->thread[at] = (unsigned char)lane;
        }
        __syncwarp();
        const int count = min(total - first, (int)most_candidates);
        for (int at = lane; at - lane < count; at += warp) {
            const bool is_there = at < count;
            const int slot = is_there ? numbered->slot[at] : -1;
            float of_slot[3] = {0, 0, 0};
            if (are_moved) {
                const int thread = is_there ? numbered->thread[at] : 0;
                for (int c = 0; c < 3; c++)
                    of_slot[c] = __shfl_sync(everyone, t[c], thread);
            }
            struct candidate<real, is_wide> candidate;
            if (is_there)
                candidate.load(building, slot, of_slot);
            take_candidates<excludes>(building, candidate, slot, targets);
        }
        __syncwarp();
    }
}

/* The rows of cells within reach, from low on: each thread finds one of them. */
template <typename real, bool is_wide, bool excludes>
static __device__ void take_cells(const struct verlet_cuda_building &building, const int low[3],
                                  struct numbered *numbered, struct targets *targets)
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
        take_slots<real, is_wide, excludes>(building, begins[row.from],
                                            begins[is_there ? row.from + row.here : row.from], t[0],
                                            numbered, targets);
        if (__any_sync(everyone, row.again > 0))
            take_slots<real, is_wide, excludes>(
                building, begins[0], begins[is_there ? row.again : 0], t[1], numbered, targets);
    }
}

/* Pads the row of each target, and finds the longest. */
static __device__ void finish_rows(const struct verlet_cuda_building &building,
                                   const struct targets &targets)
{
    const struct verlet_cuda_list &list = building.list;
    const int lane = (int)threadIdx.x % warp, room = (int)list.room;
    if (lane >= targets.count)
        return;
    int length = 0;
#pragma unroll
    for (int k = 0; k < most_targets; k++)
        length = lane == k ? targets.length[k] : length;
    const int slot = targets.first + lane;
    const int whole =
        (length + verlet_cuda_row_unit - 1) / verlet_cuda_row_unit * verlet_cuda_row_unit;
    for (int at = length; at < whole && at < room; at++)
        targets.row[lane * room + verlet_place_in_row((unsigned)at)] = slot;
    list.length[slot] = length;
    int *longest = &list.control[list.device].longest;
    if (length > *(volatile int *)longest)
        atomicMax(longest, length);
}

/* A warp has the slots of cells next to each other as targets, some at a time. */
template <typename real, bool is_wide, bool excludes>
static __global__ void __launch_bounds__(threads, 3)
    list_partners(const struct verlet_cuda_building building)
{
    __shared__ struct numbered numbered[threads / warp];
    const struct verlet_cuda_cells &cells = building.cells;
    const struct verlet_cuda_list &list = building.list;
    const int64_t group = own_number() / warp;
    if (group >= verlet_count_groups(&cells))
        return;
    int low[3];
    const int64_t cell = verlet_first_of_group(&cells, group, low);
    const int begin = max(cells.begin[cell], (int)list.first);
    const int end = min(cells.begin[verlet_end_of_group(&cells, cell)], (int)list.end);
    struct targets targets;
    for (int first = begin; first < end; first += most_targets) {
        targets.first = first;
        targets.count = min((int)most_targets, end - first);
        targets.row = list.partner + (first - list.first) * list.room;
        asm("" : "+l"(targets.row)); /* it stays in registers */
        __builtin_assume(__isGlobal(targets.row));
#pragma unroll
        for (int k = 0; k < most_targets; k++) {
            targets.length[k] = 0;
            targets.point[k] = make_float4(INFINITY, 0, 0, 0); /* near to nothing */
            if (k < targets.count)
                targets.point[k] = ((const float4 *)building.points)[first + k];
        }
        take_cells<real, is_wide, excludes>(building, low, &numbered[threadIdx.x / warp], &targets);
        finish_rows(building, targets);
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
    const unsigned blocks = blocks_for(verlet_count_groups(&building.cells) * warp);
    const bool excludes = building.excluded.begin != NULL;
    void (*const kernel)(const struct verlet_cuda_building) =
        building.is_wide
            ? (excludes ? list_partners<real, true, true> : list_partners<real, true, false>)
            : (excludes ? list_partners<real, false, true> : list_partners<real, false, false>);
    kernel<<<blocks, threads, 0, stream>>>(building);
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
