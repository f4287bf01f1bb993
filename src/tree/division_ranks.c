#include "tree/division_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "ranks/partition.h"
#include "tree/octree_split.h"

static const char what[] = "branches of a tree";

enum { most_children = 8 };

struct morton_grid tree_division_grid(kith_context *context, int32_t dimensions, bool is_empty,
                                      const double low[3], const double high[3])
{
    double opposite[3] = {0}, largest[3] = {0};
    for (int32_t c = 0; c < dimensions; c++) {
        opposite[c] = is_empty ? -(double)INFINITY : -low[c];
        largest[c] = is_empty ? -(double)INFINITY : high[c];
    }
    ranks_maximum(context, opposite, 3);
    ranks_maximum(context, largest, 3);
    for (int32_t c = 0; c < 3; c++)
        opposite[c] = -opposite[c];
    return morton_grid_around(dimensions, opposite, largest);
}

/* Collective. */
static struct morton_grid find_grid(kith_context *context, const struct sort_points *slice)
{
    double low[3] = {0}, high[3] = {0};
    for (int32_t c = 0; c < slice->dimensions && slice->count > 0; c++)
        sort_find_range_cpu(slice, c, &low[c], &high[c]);
    return tree_division_grid(context, slice->dimensions, slice->count == 0, low, high);
}

static kith_status grow(int32_t count, int32_t room, int64_t bytes, void *memory)
{
    void *old = NULL, *grown = NULL;
    memcpy(&old, memory, sizeof old);
    KITH_TRY(kith_allocate(room, bytes, what, &grown));
    if (old)
        memcpy(grown, old, (size_t)(count * bytes));
    free(old);
    memcpy(memory, &grown, sizeof grown);
    return KITH_OK;
}

/* Room for this many cells of the top. */
static kith_status reserve(struct tree_division *division, int64_t cells)
{
    const int32_t count = division->count;
    if (cells <= division->room)
        return KITH_OK;
    const int32_t room = (int32_t)(2 * cells + 64);
    KITH_TRY(grow(count, room, sizeof *division->cell, &division->cell));
    KITH_TRY(grow(count, room, sizeof *division->before, &division->before));
    KITH_TRY(grow(count, room, sizeof *division->generation, &division->generation));
    KITH_TRY(grow(count, room, sizeof *division->begin, &division->begin));
    KITH_TRY(grow(count, room, sizeof *division->end, &division->end));
    division->room = room;
    return KITH_OK;
}

static int32_t at_most_an_index(int64_t points)
{
    return (int32_t)(points < INT32_MAX ? points : INT32_MAX);
}

static void add_cell(struct tree_division *division, int32_t parent, int64_t first, int64_t count,
                     int32_t level, int32_t begin, int32_t end)
{
    const int32_t dimensions = division->slice.dimensions, index = division->count++;
    struct octree_cell *cell = &division->cell[index];
    *cell = (struct octree_cell){.first = at_most_an_index(first),
                                 .count = at_most_an_index(count),
                                 .parent = parent,
                                 .around = at_most_an_index(count),
                                 .level = level};
    division->before[index] = first;
    division->begin[index] = begin;
    division->end[index] = end;
    division->generation[index] = parent < 0 ? 0 : division->generation[parent] + 1;
    if (parent >= 0)
        octree_find_around(dimensions, &division->cell[parent], cell);
}

/* The cells whose children are to be found, all of one level, and those of the next. */
struct descent {
    int32_t *cell, *next, count, next_count, room, level;
    unsigned long long *counts; /* of points, for each child of each cell */
    int32_t *ends;              /* of this rank's */
};

static kith_status reserve_level(struct descent *descent)
{
    const int64_t wanted = (int64_t)descent->count * most_children;
    if (wanted <= descent->room)
        return KITH_OK;
    free(descent->next);
    free(descent->counts);
    free(descent->ends);
    descent->next = descent->ends = NULL;
    descent->counts = NULL;
    const int32_t room = (int32_t)(2 * wanted);
    KITH_TRY(grow(descent->count, room, sizeof *descent->cell, &descent->cell));
    KITH_TRY(kith_allocate(room, sizeof *descent->next, what, &descent->next));
    KITH_TRY(kith_allocate(room, sizeof *descent->ends, what, &descent->ends));
    KITH_TRY(kith_allocate(room, sizeof *descent->counts, what, &descent->counts));
    descent->room = room;
    return KITH_OK;
}

/* This rank's points in each child. */
static void count_own(const struct tree_division *division, struct descent *descent)
{
    const int32_t dimensions = division->slice.dimensions, children = 1 << dimensions;
    for (int32_t k = 0; k < descent->count; k++) {
        const int32_t index = descent->cell[k];
        int32_t begin = division->begin[index];
        const struct octree_cell own = {
            .first = begin, .count = division->end[index] - begin, .level = descent->level};
        for (int32_t child = 0; child < children; child++) {
            const int32_t to =
                octree_first_of(dimensions, division->slice.keys, &own, child + 1, begin);
            descent->counts[k * children + child] = (unsigned long long)(to - begin);
            descent->ends[k * children + child] = to;
            begin = to;
        }
    }
}

static void visit_next_level(const struct tree_division *division, struct descent *descent,
                             int32_t index)
{
    if (division->cell[index].count > division->most_points &&
        descent->level + 1 < morton_levels(division->slice.dimensions))
        descent->next[descent->next_count++] = index;
}

/* The children of a cell; it has none of its own where all its points are in one child of the
 * grid, which is then the same cell. */
static void add_children(struct tree_division *division, struct descent *descent, int32_t k)
{
    const int32_t children = 1 << division->slice.dimensions, index = descent->cell[k];
    const unsigned long long *counts = descent->counts + (int64_t)k * children;
    const int32_t *ends = descent->ends + (int64_t)k * children;
    int32_t found = 0, begin = division->begin[index];
    int64_t first = division->before[index];
    for (int32_t child = 0; child < children; child++)
        found += counts[child] > 0;
    if (found == 1) {
        division->cell[index].level = descent->level + 1;
        visit_next_level(division, descent, index);
        return;
    }
    division->cell[index].child = division->count;
    division->cell[index].children = found;
    for (int32_t child = 0; child < children; begin = ends[child++]) {
        if (counts[child] == 0)
            continue;
        add_cell(division, index, first, (int64_t)counts[child], descent->level + 1, begin,
                 ends[child]);
        visit_next_level(division, descent, division->count - 1);
        first += (int64_t)counts[child];
    }
}

static kith_status descend(struct tree_division *division, struct descent *descent)
{
    kith_context *context = division->context;
    const int32_t children = 1 << division->slice.dimensions;
    kith_status status = reserve(division, 1);
    descent->level = -1;
    descent->count = 1;
    if (status == KITH_OK)
        status = reserve_level(descent);
    KITH_TRY(ranks_agree(context, status));
    if (!descent->next) /* never: agreed upon above; for the static analyzer */
        return KITH_OUT_OF_MEMORY;
    add_cell(division, -1, 0, division->points, 0, 0, (int32_t)division->slice.count);
    visit_next_level(division, descent, 0);
    while (descent->next_count > 0) {
        int32_t *const cells = descent->cell;
        descent->cell = descent->next;
        descent->next = cells;
        descent->count = descent->next_count;
        descent->next_count = 0;
        descent->level++;
        status = reserve_level(descent);
        if (status == KITH_OK)
            status = reserve(division, division->count + (int64_t)descent->count * children);
        KITH_TRY(ranks_agree(context, status));
        count_own(division, descent);
        ranks_add(context, descent->counts, (int64_t)descent->count * children);
        for (int32_t k = 0; k < descent->count; k++)
            add_children(division, descent, k);
    }
    return KITH_OK;
}

static kith_status find_top(struct tree_division *division)
{
    struct descent descent = {0};
    const kith_status status = descend(division, &descent);
    free(descent.cell);
    free(descent.next);
    free(descent.counts);
    free(descent.ends);
    return status;
}

/* In the order of the tree, without recursion: a cell's children are pushed last first. */
static void list_branches(struct tree_division *division)
{
    int32_t stack[most_children * octree_most_generations], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const int32_t index = stack[--depth];
        const struct octree_cell *cell = &division->cell[index];
        if (cell->children == 0) {
            division->work[division->branch_count] = cell->count;
            division->branch[division->branch_count++] = index;
        }
        for (int32_t k = cell->children; k-- > 0;)
            stack[depth++] = cell->child + k;
    }
}

static kith_status allocate_branches(struct tree_division *division)
{
    const int64_t most = division->count, ends = division->context->ranks->size + 1;
    KITH_TRY(kith_allocate(most, sizeof *division->branch, what, &division->branch));
    KITH_TRY(kith_allocate(most, sizeof *division->work, what, &division->work));
    KITH_TRY(kith_allocate(most, sizeof *division->counts, what, &division->counts));
    KITH_TRY(kith_allocate(ends, sizeof *division->first, what, &division->first));
    KITH_TRY(kith_allocate(ends, sizeof *division->point, what, &division->point));
    return ranks_parcels_create(division->context->ranks, &division->parcels);
}

kith_status tree_division_find_branches(kith_context *context, int64_t points, int32_t most_points,
                                        struct tree_division *division)
{
    division->context = context;
    division->points = points;
    division->most_points = most_points;
    KITH_TRY(find_top(division));
    KITH_TRY(ranks_agree(context, allocate_branches(division)));
    list_branches(division);
    return KITH_OK;
}

kith_status tree_division_create(kith_context *context, const struct sort_points *slice,
                                 const void *weight, int64_t points, int32_t most_points,
                                 struct tree_division *division)
{
    division->grid = find_grid(context, slice);
    KITH_TRY(ranks_agree(
        context, octree_sort_cpu(context, slice, weight, &division->grid, &division->slice)));
    return tree_division_find_branches(context, points, most_points, division);
}

void tree_division_free(struct tree_division *division)
{
    octree_free(&division->slice);
    free(division->cell);
    free(division->before);
    free(division->generation);
    free(division->begin);
    free(division->end);
    free(division->branch);
    free(division->work);
    free(division->counts);
    free(division->first);
    free(division->point);
    ranks_parcels_free(&division->parcels);
    *division = (struct tree_division){0};
}

void tree_division_divide(struct tree_division *division)
{
    const int32_t ranks = division->context->ranks->size;
    ranks_divide(division->branch_count, division->work, ranks, division->first);
    for (int32_t k = 0; k <= ranks; k++) {
        const int64_t branch = division->first[k];
        const bool is_end = k == ranks || branch == division->branch_count;
        const int32_t cell = is_end ? 0 : division->branch[branch];
        division->point[k] = is_end ? division->points : division->before[cell];
        division->parcels.first_sent[k] = is_end ? division->slice.count : division->begin[cell];
    }
    division->point[0] = division->parcels.first_sent[0] = 0;
    ranks_parcels_announce(&division->parcels);
}

kith_status tree_division_send(struct tree_division *division, struct octree *own)
{
    kith_context *context = division->context;
    const struct octree *slice = &division->slice;
    const int64_t real = kith_dtype_bytes(slice->dtype);
    tree_division_divide(division);
    const int64_t count = ranks_parcels_received(&division->parcels),
                  column = kith_padded(count + 1);
    char *received = NULL;
    kith_status status = kith_allocate_unset(4 * column, real, "points of a tree", &received);
    struct sort_points points = {
        .dtype = slice->dtype, .dimensions = slice->dimensions, .count = count};
    status = ranks_agree(context, status);
    if (status == KITH_OK) {
        for (int32_t c = 0; c < slice->dimensions; c++) {
            points.position[c] = received + c * column * real;
            ranks_parcels_exchange(&division->parcels, real, slice->position[c],
                                   received + c * column * real);
        }
        ranks_parcels_exchange(&division->parcels, real, slice->weight,
                               received + 3 * column * real);
        status =
            ranks_agree(context, octree_sort_cpu(context, &points, received + 3 * column * real,
                                                 &division->grid, own));
    }
    free(received);
    return status;
}

/* to[k] = from[rows[k]] */
static void pick_rows(kith_dtype dtype, const uint32_t *rows, int64_t count, const void *from,
                      void *to)
{
    for (int64_t k = 0; k < count && from && to; k++)
        real_set(dtype, to, k, real_get(dtype, from, rows[k]));
}

kith_status tree_division_send_column(struct tree_division *division, const struct octree *own,
                                      const void *of_slice, void *column)
{
    const int64_t real = kith_dtype_bytes(own->dtype), rows = division->slice.count;
    void *sent = NULL, *received = NULL;
    kith_status status = kith_allocate_unset(rows, real, "points of a tree", &sent);
    if (status == KITH_OK)
        status = kith_allocate_unset(own->count, real, "points of a tree", &received);
    status = ranks_agree(division->context, status);
    if (status == KITH_OK) {
        pick_rows(own->dtype, division->slice.order, rows, of_slice, sent);
        ranks_parcels_exchange(&division->parcels, real, sent, received);
        pick_rows(own->dtype, own->order, own->count, received, column);
    }
    free(sent);
    free(received);
    return status;
}

kith_status tree_division_bring_home(struct tree_division *division, const struct octree *own,
                                     const void *column, void *of_slice)
{
    const int64_t real = kith_dtype_bytes(own->dtype), rows = division->slice.count;
    struct ranks_parcels back = division->parcels;
    void *sent = NULL, *received = NULL;
    back.first_sent = division->parcels.first_received;
    back.first_received = division->parcels.first_sent;
    kith_status status = kith_allocate_unset(own->count, real, "results of a tree", &sent);
    if (status == KITH_OK)
        status = kith_allocate_unset(rows, real, "results of a tree", &received);
    status = ranks_agree(division->context, status);
    if (status == KITH_OK) {
        for (int64_t k = 0; k < own->count; k++)
            real_set(own->dtype, sent, own->order[k], real_get(own->dtype, column, k));
        ranks_parcels_exchange(&back, real, sent, received);
        for (int64_t k = 0; k < rows && received; k++)
            real_set(own->dtype, of_slice, division->slice.order[k],
                     real_get(own->dtype, received, k));
    }
    free(sent);
    free(received);
    return status;
}

void tree_division_gather(const struct tree_division *division, void *array, int64_t bytes)
{
    ranks_gather_parts(division->context, array, bytes, division->first);
}
