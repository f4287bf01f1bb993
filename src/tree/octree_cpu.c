/* The tree on the CPU: sort, columns, cells generation by generation, and then their spheres from
 * the last generation to the root. */

#include "tree/octree.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/threads.h"
#include "tree/octree_split.h"

enum { points_of_task = 1 << 14, cells_of_task = 1 << 7 };

/* Of one thread. */
static const double seconds_of_point = 5e-9, seconds_of_cell = 300e-9;

static int64_t tasks_for(int64_t count, int64_t of_task)
{
    return (count + of_task - 1) / of_task;
}

static int32_t threads_for(kith_context *context, int64_t count, double seconds_each)
{
    return kith_threads_for(context, (double)count * seconds_each);
}

static kith_status reserve_points(struct octree *tree, int64_t count, int64_t real)
{
    const int64_t column_bytes = kith_padded(count + kith_padding) * real;
    if (count <= tree->room && column_bytes <= tree->column_bytes)
        return KITH_OK;
    free(tree->keys);
    free(tree->order);
    free(tree->scratch);
    free(tree->columns);
    tree->room = 0;
    tree->keys = NULL;
    tree->order = NULL;
    tree->scratch = tree->columns = NULL;
    KITH_TRY(kith_allocate(count, sizeof *tree->keys, "keys of a tree", &tree->keys));
    KITH_TRY(kith_allocate(count, sizeof *tree->order, "order of a tree", &tree->order));
    KITH_TRY(kith_allocate(sort_scratch_bytes(count), 1, "a sort", &tree->scratch));
    KITH_TRY(kith_allocate(4, column_bytes, "points of a tree", &tree->columns));
    tree->room = count;
    tree->column_bytes = column_bytes;
    return KITH_OK;
}

kith_status octree_reserve_cpu(struct octree *tree, int64_t count)
{
    if (count <= tree->cell_room)
        return KITH_OK;
    const int64_t wanted = 2 * tree->cell_room, room = count > wanted ? count : wanted;
    struct octree_cell *cells = NULL;
    free(tree->sphere);
    free(tree->weight_sum);
    free(tree->net_weight);
    tree->sphere = NULL;
    tree->weight_sum = tree->net_weight = NULL;
    tree->cell_room = 0; /* until all of it is there */
    KITH_TRY(kith_allocate(room, sizeof *cells, "cells of a tree", &cells));
    if (tree->cell)
        memcpy(cells, tree->cell, (size_t)tree->cell_count * sizeof *cells);
    free(tree->cell);
    tree->cell = cells;
    KITH_TRY(kith_allocate(room, sizeof *tree->sphere, "cells of a tree", &tree->sphere));
    KITH_TRY(kith_allocate(room, sizeof *tree->weight_sum, "cells of a tree", &tree->weight_sum));
    KITH_TRY(kith_allocate(room, sizeof *tree->net_weight, "cells of a tree", &tree->net_weight));
    tree->cell_room = room;
    return KITH_OK;
}

struct column_move {
    const struct octree *tree;
    const void *from; /* NULL: ones */
    void *to;
};

static void move_points(void *argument, int64_t task)
{
    const struct column_move *move = argument;
    const struct octree *tree = move->tree;
    const int64_t begin = task * points_of_task, left = tree->count - begin;
    const int64_t end = begin + (left < points_of_task ? left : points_of_task);
    const uint32_t *order = tree->order;
    if (tree->dtype == KITH_F64) {
        const double *from = move->from;
        for (int64_t k = begin; k < end; k++)
            ((double *)move->to)[k] = from ? from[order[k]] : 1;
    } else {
        const float *from = move->from;
        for (int64_t k = begin; k < end; k++)
            ((float *)move->to)[k] = from ? from[order[k]] : 1;
    }
}

/* The columns in the order of the tree; what pads them repeats nothing and is 0. */
static kith_status move_columns(kith_context *context, struct octree *tree,
                                const struct sort_points *points, const void *weight)
{
    const int64_t padded = kith_padded(tree->count), real = kith_dtype_bytes(tree->dtype);
    const int32_t threads = threads_for(context, tree->count, 4 * seconds_of_point);
    for (int32_t c = 0; c < 4; c++) {
        char *const column = (char *)tree->columns + c * padded * real;
        *(c < 3 ? &tree->position[c] : &tree->weight) = column;
        memset(column + tree->count * real, 0, (size_t)((padded - tree->count) * real));
        if (c == 2 && tree->dimensions == 2) {
            memset(column, 0, (size_t)(padded * real));
            continue;
        }
        struct column_move move = {tree, c < 3 ? points->position[c] : weight, column};
        KITH_TRY(kith_for_each(context, threads, tasks_for(tree->count, points_of_task),
                               move_points, &move));
    }
    return KITH_OK;
}

/* A generation of cells, or those of a list, and what is made after them; of each the children are
 * counted, and then made. */
struct generation_run {
    struct octree *tree;
    const int32_t *cells; /* NULL: from first on */
    int32_t first, end, made, leaf;
    int32_t *children; /* counts, then where they begin after `made` */
};

static int32_t cell_of(const struct generation_run *run, int64_t k)
{
    return run->cells ? run->cells[k] : run->first + (int32_t)k;
}

static void count_children(void *argument, int64_t task)
{
    const struct generation_run *run = argument;
    int32_t first[9];
    for (int64_t k = task * cells_of_task;
         k < (task + 1) * cells_of_task && k < run->end - run->first; k++)
        run->children[k] =
            octree_find_children(run->tree->dimensions, run->tree->keys,
                                 &run->tree->cell[cell_of(run, k)], run->leaf, first);
}

static void make_children(void *argument, int64_t task)
{
    const struct generation_run *run = argument;
    const struct octree *tree = run->tree;
    int32_t first[9] = {0};
    for (int64_t k = task * cells_of_task;
         k < (task + 1) * cells_of_task && k < run->end - run->first; k++) {
        const int32_t index = cell_of(run, k);
        struct octree_cell *cell = &tree->cell[index];
        cell->children = octree_find_children(tree->dimensions, tree->keys, cell, run->leaf, first);
        cell->child = cell->children > 0 ? run->made + run->children[k] : 0;
        for (int32_t j = 0; j < cell->children; j++)
            tree->cell[cell->child + j] = octree_make_cell(tree->dimensions, tree->keys, tree->cell,
                                                           index, first[j], first[j + 1]);
    }
}

/* The children of all of them: none if these are leaves. */
static kith_status add_children(kith_context *context, struct generation_run *run)
{
    struct octree *tree = run->tree;
    const int64_t cells = run->end - run->first, tasks = tasks_for(cells, cells_of_task);
    const int32_t threads = threads_for(context, cells, seconds_of_cell);
    run->made = tree->cell_count;
    KITH_TRY(kith_allocate(cells + 1, sizeof *run->children, "cells of a tree", &run->children));
    kith_status status = kith_for_each(context, threads, tasks, count_children, run);
    sort_scan_cpu(cells, run->children, run->children);
    const int32_t added = run->children[cells];
    if (status == KITH_OK)
        status = octree_reserve_cpu(tree, (int64_t)tree->cell_count + added);
    if (status == KITH_OK)
        status = kith_for_each(context, threads, tasks, make_children, run);
    free(run->children);
    tree->cell_count += added;
    if (added > 0)
        tree->generation[++tree->generations] = tree->cell_count;
    return status;
}

kith_status octree_split_cpu(kith_context *context, int32_t leaf, const int32_t *cells,
                             int32_t count, struct octree *tree)
{
    struct generation_run run = {.tree = tree, .cells = cells, .end = count, .leaf = leaf};
    for (int32_t before = -1; before != tree->generations;) {
        before = tree->generations;
        KITH_TRY(add_children(context, &run));
        run = (struct generation_run){.tree = tree,
                                      .first = tree->generation[tree->generations - 1],
                                      .end = tree->generation[tree->generations],
                                      .leaf = leaf};
    }
    return KITH_OK;
}

static void measure_cells(void *argument, int64_t task)
{
    const struct generation_run *run = argument;
    const int64_t begin = run->first + task * cells_of_task;
    for (int64_t k = begin; k < begin + cells_of_task && k < run->end; k++)
        octree_measure_cell(run->tree, (int32_t)k);
}

/* Children before parents. */
kith_status octree_measure_cpu(kith_context *context, int32_t first, struct octree *tree)
{
    for (int32_t g = tree->generations - 1; g >= first; g--) {
        struct generation_run run = {
            .tree = tree, .first = tree->generation[g], .end = tree->generation[g + 1]};
        const int64_t cells = run.end - run.first;
        KITH_TRY(kith_for_each(context, threads_for(context, tree->count, seconds_of_point),
                               tasks_for(cells, cells_of_task), measure_cells, &run));
    }
    return KITH_OK;
}

kith_status octree_sort_cpu(kith_context *context, const struct sort_points *points,
                            const void *weight, const struct morton_grid *grid, struct octree *tree)
{
    tree->dtype = points->dtype;
    tree->dimensions = points->dimensions;
    tree->count = points->count;
    tree->cell_count = tree->generations = 0;
    if (points->count == 0)
        return KITH_OK;
    KITH_TRY(reserve_points(tree, points->count, kith_dtype_bytes(points->dtype)));
    KITH_TRY(sort_keys_in_grid_cpu(context, points, grid, tree->keys));
    KITH_TRY(sort_keys_cpu(context, points->count, morton_bits(points->dimensions), tree->keys,
                           tree->order, tree->scratch));
    return move_columns(context, tree, points, weight);
}

kith_status octree_build_cpu(kith_context *context, const struct sort_points *points,
                             const void *weight, int32_t leaf, struct octree *tree)
{
    const int32_t root = 0;
    const struct morton_grid grid = sort_grid_around_cpu(points);
    KITH_TRY(octree_sort_cpu(context, points, weight, &grid, tree));
    if (points->count == 0)
        return KITH_OK;
    KITH_TRY(octree_reserve_cpu(tree, 1));
    tree->cell[0] =
        octree_make_cell(tree->dimensions, tree->keys, NULL, -1, 0, (int32_t)points->count);
    tree->cell_count = tree->generations = 1;
    tree->generation[0] = 0;
    tree->generation[1] = 1;
    KITH_TRY(octree_split_cpu(context, leaf, &root, 1, tree));
    return octree_measure_cpu(context, 0, tree);
}

void octree_free_keys(struct octree *tree)
{
    free(tree->keys);
    free(tree->scratch);
    tree->keys = NULL;
    tree->scratch = NULL;
    tree->room = 0;
}

void octree_free_points(struct octree *tree)
{
    octree_free_keys(tree);
    free(tree->columns);
    tree->columns = NULL;
    tree->weight = NULL;
    for (int32_t c = 0; c < 3; c++)
        tree->position[c] = NULL;
}

void octree_free(struct octree *tree)
{
    octree_free_points(tree);
    free(tree->order);
    free(tree->cell);
    free(tree->sphere);
    free(tree->weight_sum);
    free(tree->net_weight);
    *tree = (struct octree){0};
}
