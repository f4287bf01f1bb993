/* Memory for the bins of all systems, and which systems one thread sorts by itself. */

#include <stdatomic.h>
#include <stddef.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "pairs/search.h"
#include "pairs/stage.h"

enum { rows_of_big_system = 16384 };
static const double seconds_of_row = 20e-9;

/* Where the arrays of a set begin in its buffer, in bytes. */
struct layout {
    int64_t unsorted, sorted[4], index, cell, wraps, begin, histogram, bytes;
};

static int64_t most_cells_of(const struct pairs_system *system)
{
    const int64_t rows =
        system->point_count > system->target_count ? system->point_count : system->target_count;
    const int64_t most = 2 * rows + 16;
    return most < INT32_MAX ? most : INT32_MAX;
}

static int64_t take(int64_t *bytes, int64_t count, int64_t each)
{
    const int64_t begin = *bytes;
    *bytes = kith_padded(begin + count * each);
    return begin;
}

static bool is_big(const struct pairs_problem *problem, const struct pairs_system *system)
{
    return problem->system_count == 1 || system->point_count >= rows_of_big_system ||
           system->target_count >= rows_of_big_system;
}

static struct layout lay_out(const struct pairs_problem *problem, int64_t rows, bool radii,
                             bool wraps, int32_t parts)
{
    const int64_t real = kith_dtype_bytes(problem->dtype), padded = rows + kith_padding;
    int64_t cells = 0, largest = 0;
    for (int64_t s = 0; s < problem->system_count; s++) {
        const int64_t most = most_cells_of(&problem->systems[s]);
        cells += most;
        if (is_big(problem, &problem->systems[s]))
            largest = most > largest ? most : largest;
    }
    const int64_t histograms = parts * largest > cells ? parts * largest : cells;
    struct layout layout = {0};
    layout.unsorted = take(&layout.bytes, rows, 4 * real);
    for (int c = 0; c < 3; c++)
        layout.sorted[c] = take(&layout.bytes, padded, real);
    layout.sorted[3] = take(&layout.bytes, radii ? padded : 0, real);
    layout.index = take(&layout.bytes, padded, 4);
    layout.cell = take(&layout.bytes, rows, 4);
    layout.wraps = take(&layout.bytes, wraps ? 3 * rows : 0, 4);
    layout.begin = take(&layout.bytes, cells + problem->system_count, 4);
    layout.histogram = take(&layout.bytes, histograms, 4);
    return layout;
}

/* The bin of a system, in its part of the set's arrays. */
static struct pairs_bin place_bin(const struct pairs_problem *problem, const struct layout *layout,
                                  char *memory, int64_t first, int64_t count, bool radii,
                                  bool wraps, int64_t system, int64_t cells_before, bool big)
{
    const int64_t real = kith_dtype_bytes(problem->dtype);
    struct pairs_bin bin = {
        .first = first,
        .count = count,
        .unsorted = memory + layout->unsorted + 4 * real * first,
        .index = (int32_t *)(void *)(memory + layout->index) + first,
        .cell = (int32_t *)(void *)(memory + layout->cell) + first,
        .begin = (int32_t *)(void *)(memory + layout->begin) + cells_before + system,
        .histogram = (int32_t *)(void *)(memory + layout->histogram) + (big ? 0 : cells_before),
    };
    for (int c = 0; c < 4; c++)
        bin.sorted[c] = memory + layout->sorted[c] + real * first;
    for (int c = 0; c < 3; c++)
        bin.points.position[c] = bin.sorted[c];
    bin.points.radius = radii ? bin.sorted[3] : NULL;
    bin.points.index = bin.index;
    if (wraps)
        bin.wraps = (int32_t *)(void *)(memory + layout->wraps) + 3 * first;
    bin.points.wraps = bin.wraps;
    bin.points.first = first;
    return bin;
}

static bool wants_wraps(const struct pairs_problem *problem, const kith_pairs *pairs)
{
    if (!(pairs->memory->request.quantities & KITH_PAIRS_SHIFTS))
        return false;
    for (int64_t s = 0; s < problem->system_count; s++)
        for (int k = 0; k < 3; k++)
            if (problem->systems[s].lattice.periodic[k])
                return true;
    return false;
}

static kith_status make_searches(const struct pairs_problem *problem, bool wraps, int32_t parts,
                                 struct pairs_workspace *workspace)
{
    const kith_array rows[] = {problem->points, problem->targets};
    const bool radii = !kith_array_is_none(problem->point_radii);
    struct layout layouts[pairs_set_count];
    for (int set = 0; set < (problem->two_sets ? 2 : 1); set++) {
        layouts[set] = lay_out(problem, rows[set].shape[0], radii, wraps, parts);
        KITH_TRY(pairs_host_buffer_grow(&workspace->bins[set], layouts[set].bytes + kith_padding,
                                        "sorting points into cells"));
    }
    KITH_TRY(pairs_host_buffer_grow(&workspace->searches,
                                    problem->system_count * (int64_t)sizeof(struct pairs_search),
                                    "the systems"));
    struct pairs_search *searches = workspace->searches.data;
    int64_t cells = 0;
    for (int64_t s = 0; s < problem->system_count; s++) {
        const struct pairs_system *system = &problem->systems[s];
        const bool big = is_big(problem, system);
        struct pairs_search *search = &searches[s];
        *search = (struct pairs_search){.problem = problem, .lattice = &system->lattice};
        search->most_cells = most_cells_of(system);
        search->uneven = &workspace->uneven;
        search->points =
            place_bin(problem, &layouts[0], workspace->bins[0].data, system->first_point,
                      system->point_count, radii, wraps, s, cells, big);
        search->targets = search->points;
        if (problem->two_sets)
            search->targets =
                place_bin(problem, &layouts[1], workspace->bins[1].data, system->first_target,
                          system->target_count, radii, wraps, s, cells, big);
        cells += search->most_cells;
    }
    return KITH_OK;
}

/* Systems that are binned by one thread each. */
struct small_systems {
    kith_context *context;
    struct pairs_search *searches;
    const struct pairs_problem *problem;
    atomic_llong first_bad;
};

static void bin_small(void *argument, int64_t s)
{
    struct small_systems *small = argument;
    if (is_big(small->problem, &small->problem->systems[s]))
        return;
    if (pairs_bin_system(small->context, &small->searches[s], 1, false) == KITH_OK)
        return;
    long long before = atomic_load(&small->first_bad);
    while (s < before && !atomic_compare_exchange_weak(&small->first_bad, &before, s))
        ;
}

kith_status pairs_bin_systems(kith_context *context, const struct pairs_problem *problem,
                              const kith_pairs *pairs, struct pairs_workspace *workspace)
{
    const double rows = (double)problem->points.shape[0] +
                        (problem->two_sets ? (double)problem->targets.shape[0] : 0);
    const int32_t threads = kith_threads_for(context, rows * seconds_of_row);
    KITH_TRY(make_searches(problem, wants_wraps(problem, pairs), threads, workspace));
    struct pairs_search *searches = workspace->searches.data;
    if (problem->system_count > 1) {
        struct small_systems small = {context, searches, problem, INT64_MAX};
        KITH_TRY(kith_for_each(context, threads, problem->system_count, bin_small, &small));
        const int64_t bad = atomic_load(&small.first_bad);
        if (bad < INT64_MAX) /* again, for the message in this thread */
            return pairs_bin_system(context, &searches[bad], 1, false);
    }
    for (int64_t s = 0; s < problem->system_count; s++)
        if (is_big(problem, &problem->systems[s]) || searches[s].crowded)
            KITH_TRY(pairs_bin_system(context, &searches[s],
                                      is_big(problem, &problem->systems[s]) ? threads : 1, true));
    return KITH_OK;
}
