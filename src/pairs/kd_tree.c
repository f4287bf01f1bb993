#include "pairs/kd_tree.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "pairs/arguments.h"
#include "pairs/stage.h"

/* Of a point and a level of the tree: a copy of the key, its bounds, a partition. */
static const double seconds_of_point = 20e-9;

/* A point by its coordinate along the axis of a cut. */
struct key {
    double value;
    int32_t row;
};

/* What the tasks of one level of a tree need. */
struct growth {
    const struct pairs_problem *problem;
    kith_array points, radii;
    struct pairs_kd_tree *tree;
    struct key *keys; /* of the tree's points, in the order so far */
    int64_t level_nodes;
};

static bool comes_before(struct key a, struct key b)
{
    return a.value != b.value ? a.value < b.value : a.row < b.row;
}

static void swap(struct key *a, struct key *b)
{
    const struct key held = *a;
    *a = *b;
    *b = held;
}

/* Brings the keys that come first, `wanted` of them, before the others (Hoare 1961). No two keys
 * are equal. Pivots are random numbers from a generator with a fixed seed: no order of the points
 * is systematically slow. */
static void part_keys(struct key *keys, int64_t count, int64_t wanted)
{
    uint64_t random = 0x9e3779b97f4a7c15U;
    int64_t low = 0, high = count - 1;
    while (low < high) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        const struct key pivot = keys[low + (int64_t)((random >> 33) % (uint64_t)(high - low + 1))];
        int64_t i = low, j = high;
        while (i <= j) {
            while (comes_before(keys[i], pivot))
                i++;
            while (comes_before(pivot, keys[j]))
                j--;
            if (i <= j)
                swap(&keys[i++], &keys[j--]);
        }
        if (wanted <= j)
            high = j;
        else if (wanted >= i)
            low = i;
        else
            return;
    }
}

/* Points before the first one of a node of the level: halves of halves, each rounded down. */
static int64_t points_before(const struct growth *growth, int64_t node)
{
    return node * growth->tree->count / growth->level_nodes;
}

static double coordinate(kith_array points, int64_t row, int64_t c)
{
    return pairs_get(points, row, c);
}

static int32_t widest_axis(const struct growth *growth, const struct key *keys, int64_t count)
{
    double widest = -1;
    int32_t axis = 0;
    for (int32_t c = 0; c < growth->tree->dimensions; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t k = 0; k < count; k++) {
            const double x = coordinate(growth->points, keys[k].row, c);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        const double width = high / 2 - low / 2; /* finite */
        if (width > widest) {
            widest = width;
            axis = c;
        }
    }
    return axis;
}

static void cut_node(void *argument, int64_t node)
{
    const struct growth *growth = argument;
    const int64_t begin = points_before(growth, node), end = points_before(growth, node + 1);
    const int64_t middle = (2 * node + 1) * growth->tree->count / (2 * growth->level_nodes);
    struct key *keys = growth->keys + begin;
    const int32_t axis = widest_axis(growth, keys, end - begin);
    for (int64_t k = 0; k < end - begin; k++)
        keys[k].value = coordinate(growth->points, keys[k].row, axis);
    if (middle > begin && middle < end)
        part_keys(keys, end - begin, middle - begin);
}

static void store(kith_dtype dtype, void *array, int64_t at, double value)
{
    if (dtype == KITH_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static double load(kith_dtype dtype, const void *array, int64_t at)
{
    return dtype == KITH_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* By row: a leaf has few. */
static void sort_rows(struct key *keys, int64_t count)
{
    for (int64_t k = 1; k < count; k++) {
        const struct key key = keys[k];
        int64_t to = k;
        for (; to > 0 && keys[to - 1].row > key.row; to--)
            keys[to] = keys[to - 1];
        keys[to] = key;
    }
}

/* The points of a leaf, by row, and after them copies of the last one, which the kernels leave
 * out; without points zeros. */
static void fill_leaf(void *argument, int64_t leaf)
{
    const struct growth *growth = argument;
    const struct pairs_kd_tree *tree = growth->tree;
    const kith_dtype dtype = growth->problem->dtype;
    const int64_t begin = points_before(growth, leaf), end = points_before(growth, leaf + 1);
    const int64_t slots = pairs_kd_leaf_begin(tree, leaf), dimensions = tree->dimensions;
    const int64_t node = tree->leaf_count - 1 + leaf;
    struct key *keys = growth->keys + begin;
    sort_rows(keys, end - begin);
    tree->begin[leaf] = (int32_t)begin;
    double largest = 0;
    for (int64_t s = 0; s < tree->width; s++) {
        const int64_t row = end > begin ? keys[s < end - begin ? s : end - begin - 1].row : -1;
        tree->index[slots + s] = (int32_t)row;
        for (int64_t c = 0; c < dimensions; c++)
            store(dtype, tree->position, slots * dimensions + c * tree->width + s,
                  row < 0 ? 0 : coordinate(growth->points, row, c));
        if (!tree->radius)
            continue;
        const double radius =
            row < 0 ? 0 : pairs_get(growth->radii, row, 0) / growth->problem->unit;
        store(dtype, tree->radius, slots + s, radius);
        largest = fmax(largest, load(dtype, tree->radius, slots + s));
    }
    if (tree->radius)
        store(dtype, tree->largest_radius, node, largest);
    tree->least_index[node] = end > begin ? keys[0].row : INT32_MAX;
    for (int64_t c = 0; c < dimensions; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t k = 0; k < end - begin; k++) {
            const double x = coordinate(growth->points, keys[k].row, c);
            low = fmin(low, x);
            high = fmax(high, x);
        }
        store(dtype, tree->box, 2 * dimensions * node + c, low);
        store(dtype, tree->box, 2 * dimensions * node + dimensions + c, high);
    }
}

static void join_children(const struct pairs_kd_tree *tree, kith_dtype dtype, int64_t node)
{
    const int64_t dimensions = tree->dimensions, a = 2 * node + 1, b = a + 1;
    for (int64_t c = 0; c < 2 * dimensions; c++) {
        const double first = load(dtype, tree->box, 2 * dimensions * a + c);
        const double second = load(dtype, tree->box, 2 * dimensions * b + c);
        store(dtype, tree->box, 2 * dimensions * node + c,
              c < dimensions ? fmin(first, second) : fmax(first, second));
    }
    if (tree->radius)
        store(dtype, tree->largest_radius, node,
              fmax(load(dtype, tree->largest_radius, a), load(dtype, tree->largest_radius, b)));
    tree->least_index[node] =
        tree->least_index[a] < tree->least_index[b] ? tree->least_index[a] : tree->least_index[b];
}

static kith_status grow_tree(kith_context *context, struct growth *growth)
{
    struct pairs_kd_tree *tree = growth->tree;
    const int32_t threads =
        kith_threads_for(context, (double)tree->count * tree->dimensions * seconds_of_point);
    for (int64_t k = 0; k < tree->count; k++)
        growth->keys[k].row = (int32_t)(tree->first + k);
    growth->level_nodes = 1;
    for (; growth->level_nodes < tree->leaf_count; growth->level_nodes *= 2)
        KITH_TRY(kith_for_each(context, threads, growth->level_nodes, cut_node, growth));
    KITH_TRY(kith_for_each(context, threads, tree->leaf_count, fill_leaf, growth));
    tree->begin[tree->leaf_count] = (int32_t)tree->count;
    for (int64_t node = tree->leaf_count - 2; node >= 0; node--)
        join_children(tree, growth->problem->dtype, node);
    return KITH_OK;
}

/* The number of leaves and their width for a number of points. */
static void shape_tree(int64_t count, struct pairs_kd_tree *tree)
{
    const int64_t lanes = 16; /* of the widest vectors */
    int64_t leaves = 1;
    while ((count + leaves - 1) / leaves > pairs_points_of_leaf)
        leaves *= 2;
    const int64_t most = (count + leaves - 1) / leaves;
    tree->leaf_count = (int32_t)leaves;
    tree->width = most > 0 ? (most + lanes - 1) / lanes * lanes : lanes;
}

static void *take(char *memory, int64_t *bytes, int64_t count, int64_t each)
{
    char *begin = memory ? memory + *bytes : NULL;
    *bytes += kith_padded(count * each);
    return begin;
}

/* Lays the tree out in memory from *bytes on, or with NULL only says how much it needs. */
static void place_tree(const struct pairs_problem *problem, bool radii, char *memory,
                       int64_t *bytes, struct pairs_kd_tree *tree)
{
    const int64_t real = kith_dtype_bytes(problem->dtype), leaves = tree->leaf_count;
    const int64_t slots = leaves * tree->width, nodes = 2 * leaves - 1;
    tree->position = take(memory, bytes, slots * tree->dimensions, real);
    tree->radius = radii ? take(memory, bytes, slots, real) : NULL;
    tree->index = take(memory, bytes, slots, sizeof(int32_t));
    tree->begin = take(memory, bytes, leaves + 1, sizeof(int32_t));
    tree->box = take(memory, bytes, 2 * nodes * tree->dimensions, real);
    tree->largest_radius = radii ? take(memory, bytes, nodes, real) : NULL;
    tree->least_index = take(memory, bytes, nodes, sizeof(int32_t));
}

/* Trees without their memory, and how much that is. The keys of the largest follow them. */
static kith_status plan(const struct pairs_problem *problem, bool targets, bool radii,
                        struct pairs_kd_forest *forest, int64_t *bytes, int64_t *largest)
{
    static const char what[] = "the tree of the points";
    const int64_t systems = problem->system_count;
    KITH_TRY(pairs_host_buffer_grow(&forest->trees,
                                    systems * (int64_t)sizeof(struct pairs_kd_tree) + 1, what));
    struct pairs_kd_tree *trees = forest->trees.data;
    *bytes = *largest = 0;
    for (int64_t s = 0; s < systems; s++) {
        const struct pairs_system *system = &problem->systems[s];
        trees[s] = (struct pairs_kd_tree){
            .first = targets ? system->first_target : system->first_point,
            .count = targets ? system->target_count : system->point_count,
            .dimensions = problem->dimensions,
        };
        shape_tree(trees[s].count, &trees[s]);
        place_tree(problem, radii, NULL, bytes, &trees[s]);
        *largest = trees[s].count > *largest ? trees[s].count : *largest;
    }
    return pairs_host_buffer_grow(
        &forest->memory, *bytes + *largest * (int64_t)sizeof(struct key) + kith_padding, what);
}

kith_status pairs_kd_grow(kith_context *context, const struct pairs_problem *problem, bool targets,
                          struct pairs_kd_forest *forest)
{
    const kith_array points = targets ? problem->targets : problem->points;
    const kith_array radii = targets ? problem->target_radii : problem->point_radii;
    const bool has_radii = !kith_array_is_none(radii);
    KITH_TRY(pairs_check_numbers(targets ? "queries" : "positions", points, false));
    KITH_TRY(pairs_check_numbers(targets ? "query_radii" : "radii", radii, true));
    int64_t bytes = 0, largest = 0;
    KITH_TRY(plan(problem, targets, has_radii, forest, &bytes, &largest));
    struct pairs_kd_tree *trees = forest->trees.data;
    struct growth growth = {
        .problem = problem,
        .points = points,
        .radii = radii,
        .keys = (struct key *)(void *)((char *)forest->memory.data + bytes),
    };
    bytes = 0;
    for (int64_t s = 0; s < problem->system_count; s++) {
        place_tree(problem, has_radii, forest->memory.data, &bytes, &trees[s]);
        growth.tree = &trees[s];
        KITH_TRY(grow_tree(context, &growth));
    }
    return KITH_OK;
}
