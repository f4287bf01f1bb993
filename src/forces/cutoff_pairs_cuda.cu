/* The pairs within a cutoff on a GPU: points wrapped into the cell and sorted into buckets
 * (cells/grid.h), and for each target its candidates (cells/walk.h) counted, then listed. */

#include <cub/device/device_scan.cuh>
#include <string.h>

#include "cells/walk.h"
#include "core/memory.h"
#include "device/cuda_state.h"
#include "forces/cutoff_cuda.h"
#include "forces/deliver_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

enum { threads = 256, bounding_blocks = 512, most_points = INT32_MAX - 1024 };

/* What the points are, found by all threads at once: numbers in the order of their bits. */
struct found {
    unsigned long long low[3], high[3], largest;
    long long bad_row; /* the first; INT64_MAX: none */
    int is_known_bad;  /* the delivery tells */
};

/* Points of one side: by row, and sorted. */
struct side {
    int64_t count;
    const void *const *position;
    void *wrapped[3], *sorted[3];
    uint32_t *order;
};

struct listing {
    kith_context *context;
    const struct forces_problem *problem;
    struct pairs_lattice lattice;
    struct cells_grid grid;
    struct side sources, targets;
    uint64_t *keys;
    void *sort_scratch;
    int32_t *begin;
    long long *counts, *offsets;
    struct found *found;
    long long total;
};

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static __device__ int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

/* Numbers whose order is that of the doubles. */
static __device__ unsigned long long ordered_bits(unsigned long long bits)
{
    const unsigned long long sign = 1ULL << 63;
    return bits & sign ? ~bits : bits | sign;
}

static double number_of(unsigned long long ordered)
{
    const unsigned long long sign = 1ULL << 63;
    const unsigned long long bits = ordered & sign ? ordered & ~sign : ~ordered;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static __device__ unsigned long long bits_of(double number)
{
    return ordered_bits((unsigned long long)__double_as_longlong(number));
}

static __device__ double smaller_of_warp(double x)
{
    for (int half = 16; half > 0; half /= 2)
        x = fmin(x, __shfl_xor_sync(0xffffffffU, x, half));
    return x;
}

struct columns {
    const void *position[3];
    void *to[3];
};

static struct columns columns_of(const struct side &side, void *const *to)
{
    struct columns columns;
    for (int c = 0; c < 3; c++) {
        columns.position[c] = side.position[c];
        columns.to[c] = to[c];
    }
    return columns;
}

/* Wraps points, rounded to the dtype. One that cannot be is put at 0. */
template <typename real>
static __global__ void wrap(int64_t count, const struct columns columns,
                            const struct pairs_lattice lattice, struct found *found)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {INFINITY, INFINITY, INFINITY};
    double largest = 0;
    for (int64_t row = own_number(); row < count; row += (int64_t)gridDim.x * threads) {
        double x[3];
        int32_t turns[3];
        for (int c = 0; c < 3; c++)
            x[c] = columns.position[c] ? (double)((const real *)columns.position[c])[row] : 0.0;
        if (!isfinite(x[0] + x[1] + x[2]) || !pairs_wrap(&lattice, x, turns)) {
            atomicMin(&found->bad_row, (long long)row);
            x[0] = x[1] = x[2] = 0;
        }
        for (int c = 0; c < 3; c++) {
            const real rounded = (real)x[c];
            ((real *)columns.to[c])[row] = rounded;
            x[c] = (double)rounded;
            largest = fmax(largest, fabs(x[c]));
        }
        for (int k = 0; k < 3; k++) {
            const double fraction = pairs_fraction(&lattice, x, k);
            low[k] = fmin(low[k], fraction);
            high[k] = fmin(high[k], -fraction);
        }
    }
    largest = -smaller_of_warp(-largest);
    for (int k = 0; k < 3; k++) {
        low[k] = smaller_of_warp(low[k]);
        high[k] = -smaller_of_warp(high[k]);
    }
    if (threadIdx.x % 32 != 0)
        return;
    atomicMax(&found->largest, bits_of(largest));
    for (int k = 0; k < 3; k++) {
        atomicMin(&found->low[k], bits_of(low[k]));
        atomicMax(&found->high[k], bits_of(high[k]));
    }
}

static __global__ void begin_to_find(struct found *found, const struct forces_measured *measured)
{
    for (int k = 0; k < 3; k++) {
        found->low[k] = ~0ULL;
        found->high[k] = 0;
    }
    found->largest = bits_of(0.0);
    found->bad_row = INT64_MAX;
    found->is_known_bad = measured && measured->bad;
}

static __device__ void cell_of(const struct cells_grid &grid, const struct pairs_lattice &lattice,
                               const double x[3], int64_t cell[3])
{
    for (int k = 0; k < 3; k++)
        cell[k] = cells_coordinate(&grid, &lattice, x, k);
}

template <typename real>
static __device__ void read_point(void *const *from, int64_t row, double x[3])
{
    for (int c = 0; c < 3; c++)
        x[c] = (double)((const real *)from[c])[row];
}

template <typename real>
static __global__ void number_buckets(int64_t count, const struct columns columns,
                                      const struct cells_grid grid,
                                      const struct pairs_lattice lattice, uint64_t *keys)
{
    const int64_t row = own_number();
    double x[3];
    int64_t cell[3], bucket = 0;
    if (row >= count)
        return;
    read_point<real>(columns.to, row, x);
    cell_of(grid, lattice, x, cell);
    for (int k = 0; k < 3; k++)
        bucket += cells_bucket(&grid, cell[k], k);
    keys[row] = (uint64_t)bucket;
}

/* The first sorted point of each bucket, or of one behind. */
static __global__ void find_begins(int64_t buckets, int64_t count, const uint64_t *keys,
                                   int32_t *begin)
{
    const int64_t bucket = own_number();
    if (bucket > buckets)
        return;
    begin[bucket] = (int32_t)search_64((const int64_t *)keys, 0, count, bucket);
}

template <typename real>
static __global__ void arrange(int64_t count, const struct columns columns, const uint32_t *order)
{
    const int64_t slot = own_number();
    if (slot >= count)
        return;
    for (int c = 0; c < 3; c++)
        ((real *)columns.to[c])[slot] = ((const real *)columns.position[c])[order[slot]];
}

static __device__ float add(float a, float b)
{
    return pairs_add_float(a, b);
}
static __device__ double add(double a, double b)
{
    return pairs_add_double(a, b);
}
static __device__ float square(float a)
{
    return pairs_multiply_float(a, a);
}
static __device__ double square(double a)
{
    return pairs_multiply_double(a, a);
}

/* What the kernel that lists needs. */
template <typename real> struct walking {
    struct pairs_lattice lattice;
    struct cells_grid grid;
    const int32_t *begin;
    int64_t count;
    bool self;
    real limit;
    const real *target[3], *source[3]; /* targets by row, sources sorted */
    const uint32_t *target_order, *source_order;
    long long *counts;
    const long long *offsets;
    int32_t *partner;
    uint32_t *image;
};

static __device__ uint32_t image_number(const int32_t image[3])
{
    uint32_t number = 0;
    for (int k = 0; k < 3; k++)
        number |= (uint32_t)(image[k] + cutoff_cuda_image_zero) << (k * cutoff_cuda_image_bits);
    return number;
}

/* fills: the second time. */
template <typename real, bool fills>
static __global__ void list_pairs(const struct walking<real> walking)
{
    const int64_t k = own_number();
    if (k >= walking.count)
        return;
    const uint32_t row = walking.target_order[k];
    real x[3];
    double at[3];
    int64_t cell[3];
    for (int c = 0; c < 3; c++) {
        x[c] = walking.target[c][row];
        at[c] = (double)x[c];
    }
    cell_of(walking.grid, walking.lattice, at, cell);
    struct cells_walk walk;
    struct cells_run run;
    long long found = fills ? walking.offsets[k] : 0;
    cells_walk_begin(&walk, &walking.grid, walking.begin, cell);
    while (cells_walk_next(&walk, &run)) {
        const bool moved = run.image[0] != 0 || run.image[1] != 0 || run.image[2] != 0;
        const uint32_t image = image_number(run.image);
        real t[3] = {0, 0, 0};
        for (int c = 0; c < 3 && moved; c++)
            t[c] = (real)pairs_translation(&walking.lattice, run.image, c);
        for (int32_t p = run.begin; p < run.end; p++) {
            real d[3];
            for (int c = 0; c < 3; c++) {
                d[c] = add(walking.source[c][p], -x[c]);
                if (moved)
                    d[c] = add(d[c], t[c]);
            }
            const real r2 = add(add(square(d[0]), square(d[1])), square(d[2]));
            if (!(r2 < walking.limit))
                continue;
            const uint32_t j = walking.source_order[p];
            if (walking.self && !moved && j == row)
                continue;
            if (fills) {
                walking.partner[found] = (int32_t)j;
                walking.image[found] = image;
            }
            found++;
        }
    }
    if (!fills)
        walking.counts[k] = found;
}

/* Parts of one block of memory; the first laying out only measures. */
struct arena {
    char *base;
    int64_t used;
};

template <typename type> static void take(struct arena *arena, int64_t count, type **memory)
{
    const int64_t bytes = (count * (int64_t)sizeof(type) + 255) / 256 * 256;
    *memory = arena->base ? (type *)(arena->base + arena->used) : NULL;
    arena->used += bytes;
}

static void take_columns(struct arena *arena, int64_t count, int64_t each, void **columns)
{
    for (int c = 0; c < 3; c++) {
        char *memory = NULL;
        take(arena, count * each, &memory);
        columns[c] = memory;
    }
}

static void lay_out(struct arena *arena, struct listing *listing)
{
    const int64_t real = kith_dtype_bytes(listing->problem->dtype);
    const int64_t n = listing->targets.count, m = listing->sources.count, most = n > m ? n : m;
    char *scratch = NULL;
    take(arena, 1, &listing->found);
    take_columns(arena, m, real, listing->sources.wrapped);
    take_columns(arena, m, real, listing->sources.sorted);
    take(arena, m, &listing->sources.order);
    if (!listing->problem->self) {
        take_columns(arena, n, real, listing->targets.wrapped);
        take(arena, n, &listing->targets.order);
    }
    take(arena, most, &listing->keys);
    take(arena, sort_scratch_bytes_cuda(most), &scratch);
    listing->sort_scratch = scratch;
    take(arena, cells_most_buckets(m) + 1, &listing->begin);
    take(arena, n + 1, &listing->counts);
    take(arena, n + 1, &listing->offsets);
}

kith_status cutoff_cuda_grow(kith_context *context, int64_t bytes, struct cutoff_cuda_block *block)
{
    if (bytes <= block->bytes)
        return KITH_OK;
    cuda_release(context, block->memory);
    *block = {};
    KITH_TRY(cuda_allocate(context, bytes, 1, "forces within a cutoff", &block->memory));
    block->bytes = bytes;
    return KITH_OK;
}

static kith_status make_room(struct listing *listing, struct cutoff_cuda_memory *memory)
{
    struct arena arena = {};
    lay_out(&arena, listing);
    KITH_TRY(cutoff_cuda_grow(listing->context, arena.used, &memory->columns));
    arena = {(char *)memory->columns.memory, 0};
    lay_out(&arena, listing);
    if (listing->problem->self)
        listing->targets = listing->sources;
    return KITH_OK;
}

template <typename real> static kith_status wrap_side(struct listing *listing, struct side *side)
{
    const int64_t wanted = blocks_for(side->count);
    const unsigned blocks = (unsigned)least(wanted, bounding_blocks);
    if (side->count == 0)
        return KITH_OK;
    wrap<real><<<blocks, threads, 0, cuda_stream(listing->context)>>>(
        side->count, columns_of(*side, side->wrapped), listing->lattice, listing->found);
    return cuda_check_launch("wrapping the positions");
}

template <typename real> static kith_status find_bounds(struct listing *listing)
{
    const struct forces_problem *problem = listing->problem;
    struct found found;
    begin_to_find<<<1, 1, 0, cuda_stream(listing->context)>>>(listing->found,
                                                              problem->delivery.measured);
    KITH_TRY(cuda_check_launch("wrapping the positions"));
    KITH_TRY(wrap_side<real>(listing, &listing->sources));
    if (!problem->self)
        KITH_TRY(wrap_side<real>(listing, &listing->targets));
    KITH_TRY(cuda_copy_out(listing->context, &found, listing->found, sizeof found));
    if (found.bad_row != INT64_MAX && !found.is_known_bad)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "row %lld of the positions is not finite or more than 2^30 cells away; "
                         "give positions near the cell",
                         found.bad_row);
    struct cells_bounds bounds = cells_bounds_empty();
    for (int k = 0; k < 3 && found.low[k] != ~0ULL; k++) {
        bounds.low[k] = number_of(found.low[k]);
        bounds.high[k] = number_of(found.high[k]);
    }
    bounds.largest = number_of(found.largest);
    cells_grid_choose(&listing->lattice, problem->dtype, problem->dimensions, problem->space.cutoff,
                      &bounds, listing->sources.count, &listing->grid);
    return KITH_OK;
}

template <typename real> static kith_status sort_side(struct listing *listing, struct side *side)
{
    int32_t bits = 1;
    while (listing->grid.bucket_count >> bits)
        bits++;
    if (side->count == 0)
        return KITH_OK;
    number_buckets<real><<<blocks_for(side->count), threads, 0, cuda_stream(listing->context)>>>(
        side->count, columns_of(*side, side->wrapped), listing->grid, listing->lattice,
        listing->keys);
    KITH_TRY(cuda_check_launch("numbering the cells"));
    return sort_keys_cuda(listing->context, side->count, bits, listing->keys, side->order,
                          listing->sort_scratch);
}

template <typename real> static kith_status sort_points(struct listing *listing)
{
    const cudaStream_t stream = cuda_stream(listing->context);
    struct side *sources = &listing->sources, *targets = &listing->targets;
    KITH_TRY(sort_side<real>(listing, sources));
    find_begins<<<blocks_for(listing->grid.bucket_count + 1), threads, 0, stream>>>(
        listing->grid.bucket_count, sources->count, listing->keys, listing->begin);
    KITH_TRY(cuda_check_launch("looking where cells begin"));
    if (sources->count > 0) {
        struct columns columns = columns_of(*sources, sources->sorted);
        for (int c = 0; c < 3; c++)
            columns.position[c] = sources->wrapped[c];
        arrange<real><<<blocks_for(sources->count), threads, 0, stream>>>(sources->count, columns,
                                                                          sources->order);
        KITH_TRY(cuda_check_launch("arranging particles"));
    }
    if (!listing->problem->self)
        return sort_side<real>(listing, targets);
    return KITH_OK;
}

template <typename real> static real limit_of(double cutoff);
template <> float limit_of<float>(double cutoff)
{
    return pairs_limit_float((float)cutoff);
}
template <> double limit_of<double>(double cutoff)
{
    return pairs_limit_double(cutoff);
}

template <typename real> static struct walking<real> walking_of(const struct listing *listing) {
    struct walking<real> walking = {
    };
    walking.lattice = listing->lattice;
    walking.grid = listing->grid;
    walking.begin = listing->begin;
    walking.count = listing->targets.count;
    walking.self = listing->problem->self;
    walking.limit = limit_of<real>(listing->problem->space.cutoff);
    for (int c = 0; c < 3; c++) {
        walking.target[c] = (const real *)listing->targets.wrapped[c];
        walking.source[c] = (const real *)listing->sources.sorted[c];
    }
    walking.target_order = listing->targets.order;
    walking.source_order = listing->sources.order;
    walking.counts = listing->counts;
    walking.offsets = listing->offsets;
    return walking;
}

static kith_status
add_counts(struct listing *listing)
{
    const cudaStream_t stream = cuda_stream(listing->context);
    const int64_t n = listing->targets.count;
    size_t bytes = 0;
    void *working = NULL;
    KITH_TRY(cuda_check(cub::DeviceScan::ExclusiveSum(NULL, bytes, listing->counts,
                                                      listing->offsets, (int)(n + 1), stream),
                        "adding up pairs"));
    KITH_TRY(cuda_scratch(listing->context, (int64_t)bytes, &working));
    KITH_TRY(cuda_check(cub::DeviceScan::ExclusiveSum(working, bytes, listing->counts,
                                                      listing->offsets, (int)(n + 1), stream),
                        "adding up pairs"));
    return cuda_copy_out(listing->context, &listing->total, listing->offsets + n,
                         sizeof listing->total);
}

template <typename real>
static kith_status list(struct listing *listing, struct cutoff_cuda_memory *memory,
                        struct cutoff_cuda_problem *to)
{
    const cudaStream_t stream = cuda_stream(listing->context);
    KITH_TRY(find_bounds<real>(listing));
    KITH_TRY(sort_points<real>(listing));
    struct walking<real> walking = walking_of<real>(listing);
    list_pairs<real, false><<<blocks_for(walking.count), threads, 0, stream>>>(walking);
    KITH_TRY(cuda_check_launch("counting pairs"));
    KITH_TRY(add_counts(listing));
    const int64_t room = (listing->total * (int64_t)sizeof(int32_t) + 255) / 256 * 256;
    KITH_TRY(cutoff_cuda_grow(listing->context, 2 * room, &memory->pairs));
    walking.partner = (int32_t *)memory->pairs.memory;
    walking.image = (uint32_t *)((char *)memory->pairs.memory + room);
    list_pairs<real, true><<<blocks_for(walking.count), threads, 0, stream>>>(walking);
    KITH_TRY(cuda_check_launch("listing pairs"));
    for (int c = 0; c < 3; c++) {
        to->target_position[c] = listing->targets.wrapped[c];
        to->source_position[c] = listing->sources.wrapped[c];
        for (int k = 0; k < 3; k++)
            to->basis[k][c] = listing->lattice.basis[k][c];
    }
    to->count = walking.count;
    to->order = walking.target_order;
    to->begin = walking.offsets;
    to->partner = walking.partner;
    to->image = walking.image;
    return KITH_OK;
}

static kith_status check(const struct forces_problem *problem)
{
    const struct pairs_lattice *lattice = problem->space.lattice;
    const int64_t n = problem->target_count, m = problem->source_count;
    if (n > most_points || m > most_points)
        return kith_fail(KITH_UNSUPPORTED,
                         "there are %lld targets and %lld sources; give at most %d of each",
                         (long long)n, (long long)m, (int)most_points);
    for (int k = 0; k < 3; k++)
        if (lattice->periodic[k] &&
            problem->space.cutoff / lattice->height[k] > cutoff_cuda_image_zero - 8)
            return kith_fail(KITH_UNSUPPORTED,
                             "cutoff is %g cells long, which a GPU does not support; compute on "
                             "the CPU",
                             problem->space.cutoff / lattice->height[k]);
    return KITH_OK;
}

kith_status cutoff_list_pairs_cuda(kith_context *context, const struct forces_problem *problem,
                                   struct cutoff_cuda_memory *memory,
                                   struct cutoff_cuda_problem *to)
{
    struct listing listing = {};
    listing.context = context;
    listing.problem = problem;
    listing.lattice = *problem->space.lattice;
    listing.sources.count = problem->source_count;
    listing.sources.position = problem->source_position;
    listing.targets.count = problem->target_count;
    listing.targets.position = problem->target_position;
    KITH_TRY(check(problem));
    KITH_TRY(make_room(&listing, memory));
    return problem->dtype == KITH_F64 ? list<double>(&listing, memory, to)
                                      : list<float>(&listing, memory, to);
}

void cutoff_cuda_free(kith_context *context, struct cutoff_cuda_memory *memory)
{
    cuda_release(context, memory->columns.memory);
    cuda_release(context, memory->pairs.memory);
    *memory = {};
}
