/* The nearest points on the GPU: chooses radii, and searches in rounds. */

#include "pairs/nearest_cuda.cuh"

#include <string.h>

#include "pairs/exchange_cuda.cuh"
#include "pairs/nearest_cuda.h"
#include "pairs/prepare_cuda.cuh"
#include "pairs/stage.h"
#include "sort/sort.h"

/* All rounds. The problem is a copy in units of about the first radius. */
template <typename real> struct rounds {
    kith_context *context;
    struct pairs_problem problem;
    struct pairs_system *systems; /* its own */
    double *radius, *farthest; /* of each system: this round's, and one beyond which is nothing */
    struct pairs_exchange exchange;
    struct pairs_extent *host_extents, *extents;
    struct pairs_cuda_search<real> search;
    struct pairs_plan plan;
    struct pairs_nearest nearest;
    char *scratch;
};

enum { image_bits = 10, most_shrinkings = 100 };

/* Points wanted within the first radius: enough that most targets find k. */
static double wanted_points(int64_t k)
{
    return (double)k + 4 * sqrt((double)k) + 1;
}

static double number_of(unsigned long long ordered)
{
    const unsigned long long bits = pairs_bits_of_ordered(ordered);
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A radius that would contain that many points at uniform density: in as many dimensions
 * as are not thinner than the radius itself. */
static double even_radius(double extent[3], double points, double wanted)
{
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            if (extent[b] < extent[b + 1]) {
                const double larger = extent[b + 1];
                extent[b + 1] = extent[b];
                extent[b] = larger;
            }
    static const double ball[] = {2, 3.141592653589793, 4.1887902047863905};
    for (int dimensions = 3; dimensions > 0; dimensions--) {
        double each = wanted / (ball[dimensions - 1] * fmax(points, 1));
        double radius = pow(each, 1.0 / dimensions);
        for (int k = 0; k < dimensions; k++)
            radius *= pow(extent[k], 1.0 / dimensions);
        if (radius > 0 && (dimensions == 1 || radius <= extent[dimensions - 1]))
            return radius;
    }
    return 1;
}

/* The first radius of a system, and where it ends. */
template <typename real> static void choose_radius(struct rounds<real> *rounds, int64_t s)
{
    const struct pairs_problem *problem = &rounds->problem;
    const struct pairs_system *system = &rounds->systems[s];
    double extent[3] = {0, 0, 0}, diagonal = 0;
    bool periodic = false;
    for (int k = 0; k < problem->dimensions; k++) {
        const struct pairs_extent *found = &rounds->host_extents[s];
        if (system->lattice.periodic[k])
            extent[k] = system->lattice.height[k];
        else if (found->highest[k] > 0)
            extent[k] = number_of(found->highest[k]) - number_of(~found->lowest[k]);
        periodic |= system->lattice.periodic[k];
        diagonal += extent[k];
    }
    rounds->farthest[s] = periodic && system->point_count > 0 ? (double)INFINITY : diagonal * 1.001;
    rounds->farthest[s] = fmin(rounds->farthest[s], problem->cutoff);
    rounds->radius[s] =
        even_radius(extent, (double)system->point_count, wanted_points(problem->nearest));
}

/* Lengths in another unit. */
static void scale_lattice(struct pairs_lattice *lattice, double factor)
{
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3 && lattice->periodic[k]; c++) {
            lattice->basis[k][c] *= factor;
            lattice->inverse[c][k] /= factor;
            lattice->height[k] *= c == 0 ? factor : 1;
        }
}

/* The unit becomes a power of two near the largest first radius. */
template <typename real> static void choose_unit(struct rounds<real> *rounds)
{
    struct pairs_problem *problem = &rounds->problem;
    double largest = 0;
    for (int64_t s = 0; s < problem->system_count; s++)
        largest = fmax(largest, rounds->radius[s]);
    const int exponent = ilogb(largest), most = 500;
    const double unit = ldexp(1, exponent < -most ? -most : exponent > most ? most : exponent);
    problem->unit *= unit;
    problem->cutoff /= unit;
    problem->limit /= unit * unit;
    for (int64_t s = 0; s < problem->system_count; s++) {
        rounds->radius[s] /= unit;
        rounds->farthest[s] /= unit;
        scale_lattice(&rounds->systems[s].lattice, 1 / unit);
    }
}

template <typename real> static void begin_search(struct rounds<real> *rounds)
{
    pairs_begin_search(&rounds->problem, &rounds->search);
    rounds->search.counters = rounds->exchange.own;
    rounds->search.grids = rounds->exchange.own_grids;
}

template <typename real> static kith_status choose_radii(struct rounds<real> *rounds)
{
    const int64_t count = rounds->problem.system_count;
    const int64_t bytes = count * (int64_t)sizeof *rounds->extents;
    for (int64_t s = 0; s < count; s++) {
        const struct pairs_system *system = &rounds->systems[s];
        rounds->exchange.host_grids[s] = {};
        rounds->exchange.host_grids[s].lattice = system->lattice;
        rounds->exchange.host_grids[s].first_point = system->first_point;
        rounds->exchange.host_grids[s].first_target = system->first_target;
    }
    memset(rounds->host_extents, 0, (size_t)bytes);
    KITH_TRY(pairs_send_grids(rounds->context, &rounds->problem, &rounds->exchange));
    KITH_TRY(cuda_copy_in(rounds->context, rounds->extents, rounds->host_extents, bytes));
    begin_search(rounds);
    KITH_TRY(pairs_measure_extents(rounds->context, rounds->search, rounds->search.points,
                                   rounds->extents));
    if (rounds->problem.two_sets)
        KITH_TRY(pairs_measure_extents(rounds->context, rounds->search, rounds->search.targets,
                                       rounds->extents));
    KITH_TRY(cuda_copy_out(rounds->context, rounds->host_extents, rounds->extents, bytes));
    KITH_TRY(pairs_receive_counters(rounds->context, &rounds->problem, &rounds->exchange));
    for (int64_t s = 0; s < count; s++)
        choose_radius(rounds, s);
    choose_unit(rounds);
    begin_search(rounds);
    return KITH_OK;
}

/* The grid of a system in this round. */
template <typename real> static kith_status choose_grid(struct rounds<real> *rounds, int64_t s)
{
    struct pairs_folded_grid *grid = &rounds->exchange.host_grids[s];
    const double radius = fmin(rounds->radius[s], rounds->farthest[s]);
    KITH_TRY(pairs_folded_grid_choose(&rounds->problem, &rounds->systems[s], radius,
                                      &rounds->plan.places, grid));
    rounds->plan.folded |= grid->folded;
    for (int k = 0; k < 3; k++) {
        rounds->plan.open |= !grid->lattice.periodic[k] && grid->per_basis[k] > 0;
        if (grid->image_bits[k] > image_bits)
            return kith_fail(KITH_UNSUPPORTED,
                             "the nearest points are more than 500 images of the cell away; list "
                             "fewer, or give a larger cell");
        grid->image_bits[k] = grid->lattice.periodic[k] ? image_bits : 0;
    }
    grid->last = rounds->radius[s] >= rounds->farthest[s];
    grid->limit = grid->last ? rounds->problem.limit : radius * radius;
    return KITH_OK;
}

/* Sorts all points by cells of this round's radii. */
template <typename real> static kith_status sort(struct rounds<real> *rounds)
{
    struct pairs_plan *plan = &rounds->plan;
    struct pairs_cuda_search<real> *search = &rounds->search;
    plan->places = 0;
    plan->folded = plan->open = false;
    for (int64_t s = 0; s < rounds->problem.system_count; s++)
        KITH_TRY(choose_grid(rounds, s));
    KITH_TRY(pairs_send_grids(rounds->context, &rounds->problem, &rounds->exchange));
    search->may_unfold = pairs_may_unfold(&rounds->problem, plan);
    search->place_count = plan->places;
    search->open = plan->open;
    plan->scratch_bytes =
        pairs_scratch_bytes(search->points.count, search->targets.count, plan->places);
    KITH_TRY(pairs_lay_out(rounds->context, plan, search, &rounds->scratch));
    return pairs_sort(rounds->context, *search, rounds->scratch, plan->scratch_bytes);
}

/* Where most points are crowded, the first radius for an even spread is far too large. */
template <typename real> static kith_status shrink_radii(struct rounds<real> *rounds)
{
    const double wanted = 1 + wanted_points(rounds->problem.nearest);
    for (int turn = 0; turn < most_shrinkings; turn++) {
        KITH_TRY(sort(rounds));
        KITH_TRY(pairs_measure_crowding(rounds->context, rounds->search));
        KITH_TRY(pairs_receive_counters(rounds->context, &rounds->problem, &rounds->exchange));
        const double crowding =
            (double)rounds->exchange.host->neighbors / fmax(1, rounds->search.points.count);
        if (crowding <= 4 * wanted || crowding <= 64)
            return KITH_OK;
        const double factor = fmin(0.5, cbrt(wanted / crowding));
        for (int64_t s = 0; s < rounds->problem.system_count; s++)
            rounds->radius[s] *= factor;
    }
    return KITH_OK;
}

template <typename real> static kith_status take_keys(struct rounds<real> *rounds)
{
    struct pairs_nearest *nearest = &rounds->nearest;
    const int64_t targets = rounds->search.targets.count;
    const int64_t bytes = targets * rounds->problem.nearest * (int64_t)sizeof *nearest->keys;
    void *memory = nullptr;
    nearest->k = (uint32_t)rounds->problem.nearest;
    nearest->room = 2 * warp_size;
    while (nearest->room < nearest->k + warp_size)
        nearest->room *= 2;
    KITH_TRY(cuda_memory_of_arrays(rounds->context, bytes + targets, &memory));
    nearest->keys = (uint64_t *)memory;
    nearest->done = (uint8_t *)memory + bytes;
    return cuda_check(
        cudaMemsetAsync(nearest->done, 0, (size_t)targets, cuda_stream(rounds->context)),
        "beginning the search for the nearest");
}

template <typename real> static kith_status do_rounds(struct rounds<real> *rounds)
{
    KITH_TRY(shrink_radii(rounds));
    KITH_TRY(take_keys(rounds));
    for (;;) {
        KITH_TRY(pairs_find_nearest(rounds->context, rounds->search, rounds->nearest));
        KITH_TRY(pairs_receive_counters(rounds->context, &rounds->problem, &rounds->exchange));
        if (rounds->exchange.host->left == 0)
            return KITH_OK;
        for (int64_t s = 0; s < rounds->problem.system_count; s++)
            rounds->radius[s] *= 2;
        KITH_TRY(sort(rounds));
    }
}

template <typename real> static kith_status solve(struct rounds<real> *rounds, kith_pairs *pairs)
{
    kith_context *context = rounds->context;
    const int64_t count = rounds->problem.system_count;
    const int64_t extents = count * (int64_t)sizeof *rounds->extents;
    KITH_TRY(pairs_open_exchange(context, &rounds->problem, extents, &rounds->exchange));
    rounds->host_extents = (struct pairs_extent *)(rounds->exchange.host_grids + count);
    rounds->extents = (struct pairs_extent *)(rounds->exchange.own_grids + count);
    rounds->plan.with_shifts = (pairs->memory->request.quantities & KITH_PAIRS_SHIFTS) != 0;
    KITH_TRY(choose_radii(rounds));
    rounds->search.offsets = (int64_t *)pairs->offsets.data;
    KITH_TRY(do_rounds(rounds));
    const int64_t rows = rounds->search.targets.count;
    KITH_TRY(sort_scan_cuda(context, rows + 1, rounds->search.offsets, rounds->search.offsets,
                            rounds->scratch, rounds->plan.scratch_bytes));
    int64_t all = 0;
    KITH_TRY(cuda_copy_out(context, &all, rounds->search.offsets + rows, sizeof all));
    KITH_TRY(pairs_list_reserve(all, pairs));
    if (all == 0 || rounds->problem.count_only)
        return KITH_OK;
    return pairs_store_nearest(context, rounds->search, columns_of<real>(&rounds->problem, pairs),
                               rounds->nearest);
}

template <typename real>
static kith_status find(kith_context *context, const struct pairs_problem *problem,
                        kith_pairs *pairs)
{
    const int64_t count = problem->system_count;
    const int64_t bytes = count * (int64_t)(sizeof(struct pairs_system) + 2 * sizeof(double));
    struct pairs_buffer *memory = &pairs->memory->rounds;
    struct rounds<real> rounds = {
    };
    KITH_TRY(pairs_host_buffer_grow(memory, bytes, "the search for the nearest"));
    rounds.context = context;
    rounds.problem = *problem;
    rounds.systems = (struct pairs_system *)memory->data;
    rounds.radius = (double *)(rounds.systems + count);
    rounds.farthest = rounds.radius + count;
    memcpy(rounds.systems, problem->systems, (size_t)count * sizeof *rounds.systems);
    rounds.problem.systems = rounds.systems;
    return solve(&rounds, pairs);
}

kith_status pairs_nearest_cuda(kith_context *context, const struct pairs_problem *problem,
                               kith_pairs *pairs)
{
    if (problem->nearest > most_nearest)
        return kith_fail(KITH_UNSUPPORTED,
                         "k is %lld; on a GPU at most %d nearest points are listed, more on the "
                         "CPU",
                         (long long)problem->nearest, (int)most_nearest);
    return problem->dtype == KITH_F64 ? find<double>(context, problem, pairs)
                                      : find<float>(context, problem, pairs);
}
