/* Where the partners of a cell's points may be: runs of cells that follow each other along the last
 * axis, each at one image. Runs come in the order of their images, the first axis' first, so that
 * the images of one point are found in the order of their shifts. */

#include <stddef.h>

#include "core/memory.h"
#include "pairs/search.h"
#include "pairs/stage.h"
#include "sort/search.h"

/* The cells of one axis at one image. */
struct stretch {
    int64_t first, last;
    int64_t image;
};

/* Mostly a is a cell of the middle image. */
static int64_t floor_divided(int64_t a, int64_t b)
{
    if (a >= 0 && a < b)
        return 0;
    return a / b - (a % b < 0);
}

/* The part of the cells from low to high that is at the image of low, of count cells an image. */
static struct stretch stretch_from(int64_t low, int64_t high, int64_t count)
{
    const int64_t image = floor_divided(low, count);
    const int64_t first = low - image * count, last = high - image * count;
    return (struct stretch){first, last < count ? last : count - 1, image};
}

/* Where the points of the cells from a number on begin. */
static int32_t beginning(const struct pairs_bin *bin, int64_t number)
{
    return bin->begin[bin->key ? search_64(bin->key, 0, bin->cell_count, number) : number];
}

static bool comes_first(const int32_t image[3])
{
    for (int k = 0; k < 3; k++)
        if (image[k] != 0)
            return image[k] > 0;
    return false;
}

/* Which candidates a run's points make: i itself is not one at T = 0, and a half list has j > i, or
 * j ≥ i where T comes first. */
static void mark_run(const struct pairs_search *search, struct pairs_run *run)
{
    const struct pairs_problem *problem = search->problem;
    const bool two_sets = problem->two_sets && !search->targets_are_points;
    run->marked = two_sets || (!problem->half && run->moved);
    run->mark = run->marked ? -1 : problem->half && comes_first(run->image) ? 1 : 0;
}

static void complete_run(const struct pairs_search *search, struct pairs_run *run)
{
    const int32_t *image = run->image;
    run->moved = image[0] != 0 || image[1] != 0 || image[2] != 0;
    for (int c = 0; c < 3; c++)
        run->translation[c] = run->moved ? pairs_translation(search->lattice, image, c) : 0;
    mark_run(search, run);
}

/* The number of stretches that reach cells to both sides may touch. */
static int64_t most_stretches(const struct pairs_grid *grid, int k)
{
    return grid->periodic[k] ? 2 * grid->reach[k] / grid->count[k] + 2 : 1;
}

static kith_status make_room(const struct pairs_grid *grid, const int axes[3],
                             struct pairs_lane *lane)
{
    const double most = (2 * (double)grid->reach[axes[0]] + 1) *
                        (2 * (double)grid->reach[axes[1]] + 1) *
                        (double)most_stretches(grid, axes[2]);
    const double bytes = most * (double)sizeof(struct pairs_run);
    if (bytes > 0x1p40)
        return kith_fail(KITH_OUT_OF_MEMORY,
                         "a point has %.3g images of the cell within the cutoff; give a smaller "
                         "cutoff",
                         most);
    return pairs_host_buffer_grow(&lane->runs, (int64_t)bytes, "the images within the cutoff");
}

/* The coordinates of a cell from its number. */
static void coordinates_of(const struct pairs_search *search, int64_t number, const int axes[3],
                           int64_t at[3])
{
    for (int k = 0; k < 3; k++) {
        at[axes[k]] = number / search->stride[axes[k]];
        number -= at[axes[k]] * search->stride[axes[k]];
    }
}

/* What the loops over the axes have come to. */
struct walk {
    const struct pairs_search *search;
    struct pairs_run *runs;
    int64_t run_count, candidates;
    bool moved;
    const int *axes; /* the last varies fastest */
    int64_t at[3];
    int32_t image[3];
};

static void add_run(struct walk *walk, int32_t begin, int32_t end)
{
    struct pairs_run *run = &walk->runs[walk->run_count++];
    run->begin = begin;
    run->end = end;
    for (int k = 0; k < 3; k++)
        run->image[k] = walk->image[k];
    complete_run(walk->search, run);
    walk->candidates += end - begin;
    walk->moved = walk->moved || run->moved;
}

/* The runs along the last axis, for cells with this number at its beginning. */
static void add_runs(struct walk *walk, int64_t number)
{
    const struct pairs_grid *grid = &walk->search->grid;
    const struct pairs_bin *points = &walk->search->points;
    const int axis = walk->axes[2];
    const int64_t count = grid->count[axis];
    int64_t low = walk->at[axis] - grid->reach[axis], high = walk->at[axis] + grid->reach[axis];
    if (!grid->periodic[axis]) {
        low = low > 0 ? low : 0;
        high = high < count ? high : count - 1;
    }
    while (low <= high) {
        const struct stretch stretch = stretch_from(low, high, count);
        const int32_t begin = beginning(points, number + stretch.first);
        const int32_t end = beginning(points, number + stretch.last + 1);
        walk->image[axis] = (int32_t)stretch.image;
        if (end > begin)
            add_run(walk, begin, end);
        low += stretch.last - stretch.first + 1;
    }
}

static void walk_axis(struct walk *walk, int depth, int64_t number)
{
    if (depth == 2) {
        add_runs(walk, number);
        return;
    }
    const struct pairs_grid *grid = &walk->search->grid;
    const int axis = walk->axes[depth];
    const int64_t count = grid->count[axis], reach = grid->reach[axis];
    for (int64_t c = walk->at[axis] - reach; c <= walk->at[axis] + reach; c++) {
        if (!grid->periodic[axis] && (c < 0 || c >= count))
            continue;
        const int64_t image = floor_divided(c, count);
        walk->image[axis] = (int32_t)image;
        walk_axis(walk, depth + 1, number + (c - image * count) * walk->search->stride[axis]);
    }
}

/* Gives candidates arrays of this size in a buffer. */
static kith_status place_candidates(const struct pairs_search *search, bool shifts, int64_t room,
                                    struct pairs_buffer *buffer,
                                    struct pairs_candidates *candidates)
{
    const int64_t real = kith_dtype_bytes(search->problem->dtype);
    const int32_t arrays = 7, indices = 5;
    KITH_TRY(pairs_host_buffer_grow(buffer, room * (arrays * real + indices * 4),
                                    "the candidates of a cell"));
    char *memory = buffer->data;
    int32_t *index = (int32_t *)(void *)(memory + arrays * room * real);
    for (int c = 0; c < 3; c++) {
        candidates->position[c] = memory + c * room * real;
        candidates->translation[c] = memory + (3 + c) * room * real;
        candidates->shift[c] = shifts ? index + (2 + c) * room : NULL;
    }
    candidates->radius = search->points.points.radius ? memory + 6 * room * real : NULL;
    candidates->index = index;
    candidates->mark = index + room;
    return KITH_OK;
}

static kith_status arrange(const struct pairs_kernels *kernels, const struct pairs_search *search,
                           int64_t room, struct pairs_lane *lane,
                           struct pairs_candidates *candidates)
{
    const struct pairs_candidates from = *candidates;
    KITH_TRY(pairs_host_buffer_grow(&lane->keys, 8 * pairs_sorting_room(room),
                                    "the candidates of a cell"));
    KITH_TRY(place_candidates(search, from.shift[0], room, &lane->arranged, candidates));
    kernels->arrange(&from, lane->keys.data, lane->found.data, candidates);
    return KITH_OK;
}

kith_status pairs_find_candidates(const struct pairs_kernels *kernels,
                                  const struct pairs_search *search, int64_t cell,
                                  struct pairs_candidates_wanted wanted, struct pairs_lane *lane,
                                  struct pairs_candidates *candidates)
{
    static const int flat[3] = {2, 0, 1}, deep[3] = {0, 1, 2};
    const struct pairs_problem *problem = search->problem;
    const int *axes = problem->dimensions == 2 ? flat : deep;
    const struct pairs_bin *targets = &search->targets;
    KITH_TRY(make_room(&search->grid, axes, lane));
    struct walk walk = {.search = search, .runs = lane->runs.data, .axes = axes};
    coordinates_of(search, targets->key ? targets->key[cell] : cell, axes, walk.at);
    walk_axis(&walk, 0, 0);

    *candidates = (struct pairs_candidates){
        .count = walk.candidates,
        .dimensions = problem->dimensions,
        .half = problem->half,
        .limit = problem->limit,
        .cutoff = problem->cutoff,
    };
    const int64_t room = kith_padded(walk.candidates) + pairs_candidates_behind;
    KITH_TRY(pairs_host_buffer_grow(&lane->found, 4 * pairs_sorting_room(room),
                                    "the candidates of a cell"));
    KITH_TRY(place_candidates(search, wanted.shifts, room, &lane->candidates, candidates));
    candidates->moved = walk.moved || problem->half || candidates->radius;
    kernels->gather(&search->points.points, walk.runs, walk.run_count, candidates);
    return wanted.arranged ? arrange(kernels, search, room, lane, candidates) : KITH_OK;
}
