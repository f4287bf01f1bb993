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
    if (count * real <= tree->room)
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
    KITH_TRY(kith_allocate(4 * kith_padded(count), real, "points of a tree", &tree->columns));
    tree->room = count * real;
    return KITH_OK;
}

static kith_status reserve_cells(struct octree *tree, int64_t count)
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
    KITH_TRY(kith_allocate(room, sizeof *cells, "cells of a tree", &cells));
    if (tree->cell)
        memcpy(cells, tree->cell, (size_t)tree->cell_count * sizeof *cells);
    free(tree->cell);
    tree->cell = cells;
    tree->cell_room = 0; /* until all of it is there */
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

/* A generation of cells; of each the children are counted, and then made. */
struct generation_run {
    struct octree *tree;
    int32_t first, end, leaf;
    int32_t *children; /* counts, then where they begin after the generation's end */
};

static void count_children(void *argument, int64_t task)
{
    const struct generation_run *run = argument;
    int32_t first[9];
    for (int64_t k = task * cells_of_task;
         k < (task + 1) * cells_of_task && k < run->end - run->first; k++)
        run->children[k] = octree_find_children(run->tree->dimensions, run->tree->keys,
                                                &run->tree->cell[run->first + k], run->leaf, first);
}

static void make_children(void *argument, int64_t task)
{
    const struct generation_run *run = argument;
    const struct octree *tree = run->tree;
    int32_t first[9] = {0};
    for (int64_t k = task * cells_of_task;
         k < (task + 1) * cells_of_task && k < run->end - run->first; k++) {
        const int32_t index = run->first + (int32_t)k;
        struct octree_cell *cell = &tree->cell[index];
        cell->children = octree_find_children(tree->dimensions, tree->keys, cell, run->leaf, first);
        cell->child = cell->children > 0 ? run->end + run->children[k] : 0;
        for (int32_t j = 0; j < cell->children; j++)
            tree->cell[cell->child + j] = octree_make_cell(tree->dimensions, tree->keys, tree->cell,
                                                           index, first[j], first[j + 1]);
    }
}

/* The generation after the last; none if that has leaves only. */
static kith_status add_generation(kith_context *context, struct octree *tree, int32_t leaf)
{
    struct generation_run run = {.tree = tree,
                                 .first = tree->generation[tree->generations - 1],
                                 .end = tree->generation[tree->generations],
                                 .leaf = leaf};
    const int64_t cells = run.end - run.first, tasks = tasks_for(cells, cells_of_task);
    const int32_t threads = threads_for(context, cells, seconds_of_cell);
    KITH_TRY(kith_allocate(cells + 1, sizeof *run.children, "cells of a tree", &run.children));
    kith_status status = kith_for_each(context, threads, tasks, count_children, &run);
    sort_scan_cpu(cells, run.children, run.children);
    const int32_t added = run.children[cells];
    if (status == KITH_OK)
        status = reserve_cells(tree, (int64_t)run.end + added);
    if (status == KITH_OK)
        status = kith_for_each(context, threads, tasks, make_children, &run);
    free(run.children);
    tree->cell_count = run.end + added;
    if (added > 0)
        tree->generation[++tree->generations] = tree->cell_count;
    return status;
}

static void measure_cells(void *argument, int64_t task)
{
    const struct generation_run *run = argument;
    const int64_t begin = run->first + task * cells_of_task;
    for (int64_t k = begin; k < begin + cells_of_task && k < run->end; k++)
        octree_measure_cell(run->tree, (int32_t)k);
}

/* Children before parents. */
static kith_status measure(kith_context *context, struct octree *tree)
{
    for (int32_t g = tree->generations - 1; g >= 0; g--) {
        struct generation_run run = {
            .tree = tree, .first = tree->generation[g], .end = tree->generation[g + 1]};
        const int64_t cells = run.end - run.first;
        KITH_TRY(kith_for_each(context, threads_for(context, tree->count, seconds_of_point),
                               tasks_for(cells, cells_of_task), measure_cells, &run));
    }
    return KITH_OK;
}

kith_status octree_build_cpu(kith_context *context, const struct sort_points *points,
                             const void *weight, int32_t leaf, struct octree *tree)
{
    struct morton_grid grid;
    tree->dtype = points->dtype;
    tree->dimensions = points->dimensions;
    tree->count = points->count;
    tree->cell_count = tree->generations = 0;
    if (points->count == 0)
        return KITH_OK;
    KITH_TRY(reserve_points(tree, points->count, kith_dtype_bytes(points->dtype)));
    KITH_TRY(sort_morton_keys_cpu(context, points, tree->keys, &grid));
    KITH_TRY(sort_keys_cpu(context, points->count, morton_bits(points->dimensions), tree->keys,
                           tree->order, tree->scratch));
    KITH_TRY(move_columns(context, tree, points, weight));

    KITH_TRY(reserve_cells(tree, 1));
    tree->cell[0] =
        octree_make_cell(tree->dimensions, tree->keys, NULL, -1, 0, (int32_t)points->count);
    tree->cell_count = tree->generations = 1;
    tree->generation[0] = 0;
    tree->generation[1] = 1;
    for (int32_t before = 0; before != tree->generations;) {
        before = tree->generations;
        KITH_TRY(add_generation(context, tree, leaf));
    }
    return measure(context, tree);
}

void octree_free(struct octree *tree)
{
    free(tree->keys);
    free(tree->order);
    free(tree->scratch);
    free(tree->columns);
    free(tree->cell);
    free(tree->sphere);
    free(tree->weight_sum);
    free(tree->net_weight);
    *tree = (struct octree){0};
}
