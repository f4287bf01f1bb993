/* What a search on the GPU needs before its first kernel: grids, memory, the largest radii. */

#include "pairs/prepare_cuda.cuh"

#include <string.h>

#include "core/arena.h"
#include "device/cuda_state.h"

enum { threads = 256 };

template <typename real>
static void lay_out_side(struct arena *arena, bool with_cells_away, struct pairs_side<real> *side)
{
    arena_take(arena, side->count, sizeof *side->wrapped, &side->wrapped);
    arena_take(arena, side->count, sizeof *side->sorted, &side->sorted);
    arena_take(arena, with_cells_away ? side->count : 0, sizeof *side->cells_away,
               &side->cells_away);
    if (!with_cells_away)
        side->cells_away = nullptr;
    arena_take(arena, side->count, sizeof *side->key, &side->key);
    arena_take(arena, side->count, sizeof *side->row, &side->row);
    arena_take(arena, side->count, sizeof *side->sorted_key, &side->sorted_key);
    arena_take(arena, side->count, sizeof *side->sorted_row, &side->sorted_row);
}

template <typename real>
static void lay_out(struct arena *arena, const struct pairs_plan *plan,
                    struct pairs_cuda_search<real> *search, char **scratch)
{
    lay_out_side(arena, plan->with_shifts, &search->points);
    if (search->two_sets)
        lay_out_side(arena, plan->with_shifts, &search->targets);
    else
        search->targets = search->points;
    arena_take(arena, (int64_t)plan->places + 1, sizeof *search->place_first, &search->place_first);
    arena_take(arena, plan->folded ? search->points.count : 0, sizeof *search->rows, &search->rows);
    if (!plan->folded)
        search->rows = nullptr;
    arena_take(arena, search->targets.count, sizeof *search->chunks, &search->chunks);
    arena_take(arena, plan->scratch_bytes, 1, scratch);
    arena_take(arena, plan->mask_bytes, sizeof *search->masks, &search->masks);
}

template <typename real>
kith_status pairs_lay_out(kith_context *context, struct pairs_plan *plan,
                          struct pairs_cuda_search<real> *search, char **scratch)
{
    struct arena arena = {};
    void *memory = nullptr;
    lay_out(&arena, plan, search, scratch);
    KITH_TRY(cuda_scratch(context, arena.used, &memory));
    /* The masks are last: they have all that an earlier call made the memory larger by. */
    const int64_t left = cuda_state_of(context)->scratch.bytes - arena.used;
    if (plan->mask_bytes > 0)
        plan->mask_bytes += left;
    arena = (struct arena){(char *)memory, 0};
    lay_out(&arena, plan, search, scratch);
    search->mask_room = (uint64_t)plan->mask_bytes;
    return KITH_OK;
}

template <typename real> static struct pairs_side<real> side_of(kith_array array, bool is_target) {
    struct pairs_side<real> side = {
    };
    side.data = (const real *)array.data;
    side.row_stride = array.strides[0];
    side.column_stride = array.strides[1];
    side.count = (uint32_t)array.shape[0];
    side.is_target = is_target;
    return side;
}

/* The fewer the targets, the smaller the chunks, so that all multiprocessors have some. */
static uint32_t
chunk_size_for(uint32_t targets)
{
    uint32_t size = 4;
    while (size < chunk_most && targets > size * 8192)
        size *= 2;
    return size;
}

template <typename real>
void pairs_begin_search(const struct pairs_problem *problem, struct pairs_cuda_search<real> *search)
{
    *search = {};
    search->points = side_of<real>(problem->points, false);
    search->targets = problem->two_sets ? side_of<real>(problem->targets, true) : search->points;
    search->system_count = (int32_t)problem->system_count;
    search->dimensions = problem->dimensions;
    search->two_sets = problem->two_sets;
    search->chunk_size = chunk_size_for(search->targets.count);
    search->half = problem->half;
    search->per_unit = 1 / problem->unit;
    search->unit = (real)problem->unit;
    search->per_unit_real = (real)(1 / problem->unit);
    search->limit = (real)problem->limit;
    search->cutoff = (real)problem->cutoff;
    if (!kith_array_is_none(problem->point_radii)) {
        search->radii = (const real *)problem->point_radii.data;
        search->radius_stride = problem->point_radii.strides[0];
        search->target_radii = (const real *)problem->target_radii.data;
        search->target_radius_stride = problem->target_radii.strides[0];
    }
    if (!kith_array_is_none(problem->exclusions)) {
        search->exclusion_offsets = (const int64_t *)problem->exclusion_offsets.data;
        search->exclusions = (const int64_t *)problem->exclusions.data;
    }
}

kith_status pairs_make_grids(const struct pairs_problem *problem, double search,
                             struct pairs_folded_grid *grids, struct pairs_plan *plan)
{
    for (int64_t s = 0; s < problem->system_count; s++) {
        const struct pairs_system *system = &problem->systems[s];
        KITH_TRY(pairs_folded_grid_choose(problem, system, search, &plan->places, &grids[s]));
        plan->folded |= grids[s].folded;
        for (int k = 0; k < 3; k++) {
            plan->open |= !grids[s].lattice.periodic[k] && grids[s].per_basis[k] > 0;
            plan->many_images |= grids[s].lattice.periodic[k] &&
                                 2 * (int64_t)grids[s].reach[k] + 1 > grids[s].count[k];
        }
    }
    return KITH_OK;
}

bool pairs_may_unfold(const struct pairs_problem *problem, struct pairs_plan *plan)
{
    if (!plan->open || !plan->folded || problem->system_count > 1 || problem->two_sets)
        return false;
    const double worth = fmin(pairs_places_worth(problem->points.shape[0]), 0x1p31);
    if (plan->places < worth)
        plan->places = (uint32_t)worth;
    return true;
}

/* The largest of an array's radii, and the first row that has none. */
template <typename real>
static __global__ void measure_radii(const real *radii, int64_t stride, int64_t count,
                                     unsigned long long *largest, unsigned long long *worst)
{
    double most = 0;
    for (int64_t row = (int64_t)blockIdx.x * threads + threadIdx.x; row < count;
         row += (int64_t)gridDim.x * threads) {
        const double radius = radii[row * stride];
        if (!isfinite(radius) || radius < 0)
            atomicMax(worst, ~(unsigned long long)row);
        else
            most = fmax(most, radius);
    }
    if (most > 0)
        atomicMax(largest, (unsigned long long)__double_as_longlong(most));
}

template <typename real>
kith_status pairs_measure_radii(kith_context *context, const struct pairs_cuda_search<real> &search)
{
    const int blocks = 4 * cuda_multiprocessors(context);
    struct pairs_counters *counters = search.counters;
    measure_radii<real><<<blocks, threads, 0, cuda_stream(context)>>>(
        search.radii, search.radius_stride, search.points.count, &counters->largest_radius,
        &counters->worst_radius);
    KITH_TRY(cuda_check_launch("looking at the radii"));
    measure_radii<real><<<blocks, threads, 0, cuda_stream(context)>>>(
        search.target_radii, search.target_radius_stride, search.targets.count,
        &counters->largest_target_radius, &counters->worst_target_radius);
    return cuda_check_launch("looking at the radii");
}

#define PAIRS_INSTANTIATE(real)                                                                    \
    template kith_status pairs_lay_out(kith_context *, struct pairs_plan *,                        \
                                       struct pairs_cuda_search<real> *, char **);                 \
    template void pairs_begin_search(const struct pairs_problem *,                                 \
                                     struct pairs_cuda_search<real> *);                            \
    template kith_status pairs_measure_radii(kith_context *,                                       \
                                             const struct pairs_cuda_search<real> &);
PAIRS_INSTANTIATE(float)
PAIRS_INSTANTIATE(double)
