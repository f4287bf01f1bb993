/* A small system, its points wrapped and measured from its middle. */

#include "pairs/small_system.h"

#include <math.h>

#include "core/memory.h"
#include "pairs/cells.h"
#include "pairs/stage.h"

/* Up to this many points are always compared, and more than that never: only brute force is. */
enum { few_points = 256, most_points = 4096 };

/* Of distances in float, in halves of the system's extent: differences of coordinates from the
 * middle, and the period, are each rounded a few times, here and in geometry.h. */
static const double error_of_extent = 0x1p-20, relative_error = 0x1p-20;

/* The part of the cutoff that the error may be: this few pairs are in doubt. */
static const double most_error = 0x1p-9;

/* The periodic vectors lie along the axes, and no two images of a point are within the cutoff. */
static bool is_wide_box(const struct pairs_problem *problem, const struct pairs_lattice *lattice)
{
    const double reach = pairs_safe_distance(lattice, problem->dtype, problem->cutoff, 0);
    for (int k = 0; k < 3; k++) {
        if (!lattice->periodic[k])
            continue;
        for (int c = 0; c < 3; c++)
            if (c != k && (lattice->basis[k][c] != 0 || lattice->inverse[c][k] != 0))
                return false;
        if (!(fabs(lattice->basis[k][k]) >= 2 * reach))
            return false;
    }
    return true;
}

bool pairs_is_small(const struct pairs_problem *problem, const struct pairs_system *system)
{
    return (system->point_count <= most_points || problem->method == KITH_PAIRS_BRUTE_FORCE) &&
           is_wide_box(problem, &system->lattice);
}

static int64_t take(int64_t *bytes, int64_t count, int64_t each)
{
    const int64_t begin = *bytes;
    *bytes = kith_padded(begin + count * each);
    return begin;
}

kith_status pairs_small_memory_make(const struct pairs_problem *problem, bool wraps,
                                    struct pairs_buffer *buffer, struct pairs_small_memory *memory)
{
    const int64_t real = kith_dtype_bytes(problem->dtype);
    const int64_t rows[pairs_set_count] = {problem->points.shape[0], problem->targets.shape[0]};
    const int sets = problem->two_sets ? 2 : 1;
    int64_t positions[pairs_set_count][3], near[pairs_set_count][3], of_wraps[pairs_set_count];
    int64_t bytes = 0;
    for (int set = 0; set < sets; set++) {
        for (int k = 0; k < problem->dimensions; k++) {
            positions[set][k] = take(&bytes, rows[set], real);
            near[set][k] =
                take(&bytes, rows[set] + problem->system_count * pairs_small_behind, sizeof(float));
        }
        of_wraps[set] = take(&bytes, wraps ? 3 * rows[set] : 0, sizeof(int32_t));
    }
    KITH_TRY(pairs_host_buffer_grow(buffer, bytes + kith_padding, "the points"));
    *memory = (struct pairs_small_memory){0};
    char *at = buffer->data;
    for (int set = 0; set < sets; set++) {
        for (int k = 0; k < problem->dimensions; k++) {
            memory->position[set][k] = at + positions[set][k];
            memory->near[set][k] = (float *)(void *)(at + near[set][k]);
        }
        if (wraps)
            memory->wraps[set] = (int32_t *)(void *)(at + of_wraps[set]);
    }
    return KITH_OK;
}

static struct pairs_small_set place_set(const struct pairs_problem *problem,
                                        const struct pairs_small_memory *memory, int set, int64_t s,
                                        int64_t first, int64_t count)
{
    const int64_t real = kith_dtype_bytes(problem->dtype);
    struct pairs_small_set placed = {.first = first, .count = count};
    for (int k = 0; k < problem->dimensions; k++) {
        placed.position[k] = memory->position[set][k] + first * real;
        placed.near[k] = memory->near[set][k] + first + s * pairs_small_behind;
    }
    if (memory->wraps[set])
        placed.wraps = memory->wraps[set] + 3 * first;
    return placed;
}

/* The screen's limits of r². False if the points are too far apart for it. */
static bool choose_limits(const struct pairs_small_bounds *bounds,
                          struct pairs_small_system *system)
{
    double extent = 0;
    for (int k = 0; k < system->dimensions; k++) {
        extent = fmax(extent, (bounds->high[k] - bounds->low[k]) / 2);
        if (isfinite(system->period[k]))
            extent = fmax(extent, system->period[k] / 2);
    }
    const double cutoff = sqrt(system->limit), error = sqrt(3) * error_of_extent * extent;
    const double inside = cutoff * (1 - relative_error) - error;
    const double outside = cutoff * (1 + relative_error) + error;
    system->inside = (float)(inside * inside);
    system->outside = (float)(outside * outside);
    return error <= most_error * cutoff;
}

/* Nanoseconds of a target, measured on a core with AVX-512: to look through all points, or to find
 * its candidates in cells (a cell's targets share in finding them) and look through those. */
static bool beats_cells(const struct pairs_small_bounds *bounds,
                        const struct pairs_problem *problem,
                        const struct pairs_small_system *system)
{
    const double points = (double)system->points.count, targets = (double)system->targets.count;
    const double of_cell = system->dimensions == 3 ? 600 : 300;
    const double of_candidate = system->dtype == KITH_F32 ? 0.7 : 1.1;
    const double of_point = 0.1 + system->dimensions * (system->periodic ? 0.07 : 0.05);
    double cells = 1, candidates = points;
    for (int k = 0; k < system->dimensions; k++) {
        const double width =
            isfinite(system->period[k]) ? system->period[k] : bounds->high[k] - bounds->low[k];
        const double count = fmax(1, floor(width / problem->cutoff));
        cells *= count;
        candidates *= fmin(1, 3 / count);
    }
    return 20 + of_point * points < of_cell * fmin(1, cells / targets) + of_candidate * candidates;
}

static bool wrap_sets(const struct pairs_small_kernels *kernels,
                      const struct pairs_problem *problem, const struct pairs_small_system *system,
                      struct pairs_small_bounds *bounds)
{
    const double per_unit = 1 / problem->unit;
    if (!kernels->wrap(problem->points, per_unit, system->lattice, &system->points, bounds))
        return false;
    return !problem->two_sets ||
           kernels->wrap(problem->targets, per_unit, system->lattice, &system->targets, bounds);
}

void pairs_small_describe(const struct pairs_problem *problem,
                          const struct pairs_small_memory *memory, int64_t s,
                          struct pairs_small_system *system)
{
    const struct pairs_system *from = &problem->systems[s];
    const struct pairs_lattice *lattice = &from->lattice;
    *system = (struct pairs_small_system){
        .dtype = problem->dtype,
        .dimensions = problem->dimensions,
        .half = problem->half,
        .two_sets = problem->two_sets,
        .lattice = lattice,
        .limit = problem->limit,
    };
    for (int k = 0; k < 3; k++) {
        const double period = fabs(lattice->basis[k][k]);
        system->periodic = system->periodic || lattice->periodic[k];
        system->period[k] = !lattice->periodic[k]        ? INFINITY
                            : problem->dtype == KITH_F32 ? (double)(float)period
                                                         : period;
    }
    system->points = place_set(problem, memory, 0, s, from->first_point, from->point_count);
    system->targets = system->points;
    if (problem->two_sets)
        system->targets = place_set(problem, memory, 1, s, from->first_target, from->target_count);
}

bool pairs_small_prepare(const struct pairs_small_kernels *kernels,
                         const struct pairs_problem *problem,
                         const struct pairs_small_memory *memory, int64_t s,
                         struct pairs_small_system *system)
{
    pairs_small_describe(problem, memory, s, system);
    if (system->points.count == 0 || system->targets.count == 0)
        return system->points.count == system->targets.count;

    struct pairs_small_bounds bounds;
    for (int k = 0; k < 3; k++) {
        bounds.low[k] = INFINITY;
        bounds.high[k] = -INFINITY;
    }
    if (!wrap_sets(kernels, problem, system, &bounds) || !choose_limits(&bounds, system))
        return false;
    if (problem->method != KITH_PAIRS_BRUTE_FORCE && system->points.count > few_points &&
        !beats_cells(&bounds, problem, system))
        return false;
    double middle[3] = {0};
    for (int k = 0; k < problem->dimensions; k++)
        middle[k] = bounds.low[k] + (bounds.high[k] - bounds.low[k]) / 2;
    kernels->center(&system->points, problem->dimensions, middle);
    if (problem->two_sets)
        kernels->center(&system->targets, problem->dimensions, middle);
    return true;
}
