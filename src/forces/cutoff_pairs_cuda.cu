/* The pairs within a cutoff on a GPU: for each target its candidates (cells/walk.h) counted, then
 * listed. */

#include "cells/nearest_image.h"
#include "cells/walk.h"
#include "core/arena.h"
#include "core/memory.h"
#include "device/cuda_state.h"
#include "forces/cutoff_points_cuda.cuh"
#include "sort/sort.h"

namespace cutoff_points
{

enum { most_points = INT32_MAX - 1024 };

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
    struct excluded_cuda excluded;
};

static __device__ uint32_t image_number(const int32_t image[3])
{
    uint32_t number = 0;
    for (int k = 0; k < 3; k++)
        number |= (uint32_t)(image[k] + cutoff_cuda_image_zero) << (k * cutoff_cuda_image_bits);
    return number;
}

/* Whether row j is left out of the sum of a row: at the nearest of its images, as excluded.h has
 * it.
 */
template <typename real>
static __device__ bool is_excluded(const struct walking<real> &walking, uint32_t row, uint32_t j,
                                   const int32_t image[3])
{
    if (!excluded_cuda_has(&walking.excluded, row, j))
        return false;
    const uint32_t first = row < j ? row : j, second = row < j ? j : row;
    double from[3], to[3];
    int32_t nearest[3];
    for (int c = 0; c < 3; c++) {
        from[c] = (double)walking.target[c][first];
        to[c] = (double)walking.target[c][second];
    }
    pairs_nearest_image(&walking.lattice, from, to, nearest);
    bool same = true;
    for (int k = 0; k < 3; k++)
        same = same && image[k] == (row < j ? nearest[k] : -nearest[k]);
    return same;
}

/* fills: the second time. */
template <typename real, bool fills>
static __global__ void walk_cells(const struct walking<real> walking)
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
            if (is_excluded(walking, row, j, run.image))
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

template <typename type> static void take(struct arena *arena, int64_t count, type **memory)
{
    arena_take(arena, count, sizeof(type), memory);
}

static void take_columns(struct arena *arena, int64_t count, int64_t each, void **columns)
{
    for (int c = 0; c < 3; c++)
        columns[c] = arena_take(arena, count, each);
}

static void lay_out(struct arena *arena, struct listing *listing)
{
    const int64_t real = kith_dtype_bytes(listing->problem->dtype);
    const int64_t n = listing->targets.count, m = listing->sources.count, most = n > m ? n : m;
    const int64_t part = n < targets_at_once ? n : (int64_t)targets_at_once;
    take(arena, 1, &listing->found);
    take_columns(arena, m, real, listing->sources.wrapped);
    take_columns(arena, m, real, listing->sources.sorted);
    take(arena, m, &listing->sources.order);
    if (!listing->problem->self) {
        take_columns(arena, n, real, listing->targets.wrapped);
        take(arena, n, &listing->targets.order);
    }
    take(arena, most, &listing->keys);
    listing->sort_scratch = arena_take(arena, sort_scratch_bytes_cuda(most), 1);
    take(arena, cells_most_buckets(m) + 1, &listing->begin);
    take(arena, part + 1, &listing->counts);
    take(arena, part + 1, &listing->offsets);
    listing->scan_scratch = arena_take(arena, sort_scan_bytes_cuda(part + 1), 1);
}

/* Takes memory for this many bytes; what was there is lost if it grows. */
static kith_status grow(kith_context *context, int64_t bytes, struct cutoff_cuda_block *block)
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
    KITH_TRY(grow(listing->context, arena.used, &memory->columns));
    arena = {(char *)memory->columns.memory, 0};
    lay_out(&arena, listing);
    if (listing->problem->self)
        listing->targets = listing->sources;
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

/* Of some targets in the order of the cells. */
template <typename real>
static struct walking<real> walking_of(const struct listing *listing, int64_t first,
                                       int64_t count) {
    struct walking<real> walking = {
    };
    walking.lattice = listing->lattice;
    walking.grid = listing->grid;
    walking.begin = listing->begin;
    walking.count = count;
    walking.self = listing->problem->self;
    walking.limit = limit_of<real>(listing->problem->space.cutoff);
    for (int c = 0; c < 3; c++) {
        walking.target[c] = (const real *)listing->targets.wrapped[c];
        walking.source[c] = (const real *)listing->sources.sorted[c];
    }
    walking.target_order = listing->targets.order + first;
    walking.source_order = listing->sources.order;
    walking.counts = listing->counts;
    walking.offsets = listing->offsets;
    return walking;
}

static kith_status
add_counts(struct listing *listing, int64_t count, int64_t *pairs)
{
    KITH_TRY(sort_scan_cuda(listing->context, count + 1, (const int64_t *)listing->counts,
                            (int64_t *)listing->offsets, listing->scan_scratch,
                            sort_scan_bytes_cuda(count + 1)));
    return cuda_copy_out(listing->context, pairs, listing->offsets + count, sizeof *pairs);
}

template <typename real>
static kith_status list(struct listing *listing, struct cutoff_cuda_memory *memory, int64_t first,
                        int64_t count, struct cutoff_cuda_problem *to)
{
    const cudaStream_t stream = cuda_stream(listing->context);
    struct walking<real> walking = walking_of<real>(listing, first, count);
    int64_t pairs = 0;
    walking.excluded = memory->excluded;
    walk_cells<real, false><<<blocks_for(count), threads, 0, stream>>>(walking);
    KITH_TRY(cuda_check_launch("counting pairs"));
    KITH_TRY(add_counts(listing, count, &pairs));
    if (count < listing->targets.count)
        pairs += pairs / 8; /* others may have more */
    const int64_t room = (pairs * (int64_t)sizeof(int32_t) + 255) / 256 * 256;
    KITH_TRY(grow(listing->context, 2 * room, &memory->pairs));
    walking.partner = (int32_t *)memory->pairs.memory;
    walking.image = (uint32_t *)((char *)memory->pairs.memory + room);
    walk_cells<real, true><<<blocks_for(count), threads, 0, stream>>>(walking);
    KITH_TRY(cuda_check_launch("listing pairs"));
    to->count = count;
    to->order = walking.target_order;
    to->begin = walking.offsets;
    to->partner = walking.partner;
    to->image = walking.image;
    return KITH_OK;
}

kith_status list_pairs(struct listing *listing, struct cutoff_cuda_memory *memory, int64_t k,
                       struct cutoff_cuda_problem *to)
{
    const int64_t left = listing->targets.count - k;
    const int64_t count = left < targets_at_once ? left : (int64_t)targets_at_once;
    return listing->problem->dtype == KITH_F64 ? list<double>(listing, memory, k, count, to)
                                               : list<float>(listing, memory, k, count, to);
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

kith_status begin_pairs(kith_context *context, const struct forces_problem *problem,
                        struct cutoff_cuda_memory *memory, struct listing *listing,
                        struct cutoff_cuda_problem *to)
{
    *listing = {};
    listing->context = context;
    listing->problem = problem;
    listing->lattice = *problem->space.lattice;
    listing->sources.count = problem->source_count;
    listing->sources.position = problem->source_position;
    listing->targets.count = problem->target_count;
    listing->targets.position = problem->target_position;
    KITH_TRY(check(problem));
    KITH_TRY(make_room(listing, memory));
    KITH_TRY(prepare(listing));
    for (int c = 0; c < 3; c++) {
        to->target_position[c] = listing->targets.wrapped[c];
        to->source_position[c] = listing->sources.wrapped[c];
        for (int k = 0; k < 3; k++)
            to->basis[k][c] = listing->lattice.basis[k][c];
    }
    return KITH_OK;
}

} // namespace cutoff_points

void cutoff_cuda_free(kith_context *context, struct cutoff_cuda_memory *memory)
{
    cuda_release(context, memory->columns.memory);
    cuda_release(context, memory->pairs.memory);
    excluded_free_cuda(context, &memory->excluded);
    *memory = {};
}
