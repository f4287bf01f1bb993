/* Clusters by halving boxes along their longest axes (Bentley 1975). A node of m leaves is followed
 * by its left child, of m/2 leaves and as many nodes less one as twice that, and this by its right
 * one. */

#include "forces/verlet_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/threads.h"

/* Levels of the tree whose nodes are divided level by level, and the subtrees below these. */
enum { top_levels = 5, most_subtrees = 1 << top_levels };

/* Of one thread. */
static const double arranged_a_second = 1e7;

static void free_clusters(struct verlet_list *list)
{
    free(list->points);
    free(list->position);
    free(list->boxes);
    free(list->leaves);
    list->points = NULL;
    list->position = NULL;
    list->boxes = NULL;
    list->leaves = NULL;
    list->cluster_room = 0;
}

static kith_status make_room_for_clusters(int64_t clusters, struct verlet_list *list)
{
    static const char what[] = "Verlet list";
    const int64_t slots = clusters * list->lanes;
    free_clusters(list);
    KITH_TRY(kith_allocate(slots, sizeof *list->points, what, &list->points));
    KITH_TRY(kith_allocate(3 * slots, kith_dtype_bytes(list->dtype), what, &list->position));
    KITH_TRY(kith_allocate(2 * clusters, sizeof *list->boxes, what, &list->boxes));
    KITH_TRY(kith_allocate(clusters, sizeof *list->leaves, what, &list->leaves));
    list->cluster_room = clusters;
    return KITH_OK;
}

/* Tasks keep what they have. */
static kith_status make_room_for_tasks(int64_t tasks, struct verlet_list *list)
{
    struct verlet_task *more = NULL;
    KITH_TRY(kith_allocate(tasks, sizeof *more, "Verlet list", &more));
    if (list->tasks)
        memcpy(more, list->tasks, (size_t)list->task_room * sizeof *more);
    free(list->tasks);
    list->tasks = more;
    list->task_room = tasks;
    return KITH_OK;
}

/* Of a list whose size changes, room for a tenth more. */
static int64_t room_for(int64_t wanted, int64_t room)
{
    return room > 0 ? wanted + wanted / 10 : wanted;
}

kith_status verlet_list_resize(int64_t count, int64_t ghosts, struct verlet_list *list)
{
    list->count = count;
    list->ghosts = ghosts;
    list->clusters = (count + list->lanes - 1) / list->lanes;
    list->all_clusters = list->clusters + (ghosts + list->lanes - 1) / list->lanes;
    list->task_count = (list->clusters + verlet_clusters_a_task - 1) / verlet_clusters_a_task;
    list->first_task = 0;
    list->end_task = list->task_count;
    if (list->all_clusters > list->cluster_room)
        KITH_TRY(make_room_for_clusters(room_for(list->all_clusters, list->cluster_room), list));
    return list->task_count > list->task_room
               ? make_room_for_tasks(room_for(list->task_count, list->task_room), list)
               : KITH_OK;
}

void verlet_list_free(struct verlet_list *list)
{
    free_clusters(list);
    for (int64_t t = 0; t < list->task_room; t++) {
        free(list->tasks[t].segments);
        free(list->tasks[t].entries);
        free(list->tasks[t].with_ghosts);
        free(list->tasks[t].of_group.clusters);
        free(list->tasks[t].of_cluster.clusters);
    }
    free(list->tasks);
    verlet_excluded_free(&list->excluded);
    free(list->images);
    free(list->translations);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The slots of clusters end before the first of this one. */
static int64_t end_of(const struct verlet_list *list, int64_t cluster)
{
    const int64_t end =
        cluster <= list->clusters ? list->count : verlet_first_ghost(list) + list->ghosts;
    return least(cluster * list->lanes, end);
}

/* The value of rank `middle` among those from begin to end − 1 if they are evenly spaced between
 * two values; moved towards the farther end by twice the deviation of random values. */
static double value_of_rank(int64_t begin, int64_t end, int64_t middle, double least, double most)
{
    const double before = (double)(middle - begin) + 0.5, after = (double)(end - middle) - 0.5;
    const double rank = before < after ? before + 2 * sqrt(before) : before - 2 * sqrt(after);
    return least + (most - least) * rank / (before + after);
}

/* Half by half, as what is read may just have been written: that is fast if both were of one
 * length. */
static void swap(struct verlet_point *a, struct verlet_point *b)
{
    typedef int64_t half __attribute__((vector_size(16)));
    half of_a[2], of_b[2];
    memcpy(of_a, a, sizeof of_a);
    memcpy(of_b, b, sizeof of_b);
    memcpy(a, of_b, sizeof of_b);
    memcpy(b, of_a, sizeof of_a);
}

/* Moves the points whose coordinate is less than a pivot, or at most that, before the others;
 * returns their end. Without branches (Lomuto), which processors could not predict. */
static int64_t divide_at(struct verlet_point *points, int64_t begin, int64_t end, int axis,
                         double pivot, bool is_inclusive)
{
    int64_t middle = begin;
    for (int64_t k = begin; k < end; k++) {
        const double x = points[k].x[axis];
        swap(&points[k], &points[middle]);
        middle += is_inclusive ? x <= pivot : x < pivot;
    }
    return middle;
}

/* Orders points so that none before `middle` is behind one after it along an axis. The first pivot
 * is given. The next ones are near the middle if the values between `least` and `most` are evenly
 * spaced (Floyd & Rivest 1975); where they do not help, one of the points is the pivot (Hoare
 * 1961). */
static void split(struct verlet_point *points, int64_t begin, int64_t end, int64_t middle, int axis,
                  double pivot, double least, double most)
{
    int64_t before = 2 * (end - begin);
    while (end - begin > 1) {
        if (!(pivot > least && pivot < most) || 4 * (end - begin) > 3 * before)
            pivot = points[begin + (end - begin) / 2].x[axis];
        before = end - begin;
        int64_t at = divide_at(points, begin, end, axis, pivot, false);
        if (at == begin) {
            at = divide_at(points, begin, end, axis, pivot, true);
            if (middle < at)
                return;
        }
        if (middle < at) {
            end = at;
            most = pivot;
        } else {
            begin = at;
            least = pivot;
        }
        pivot = value_of_rank(begin, end, middle, least, most);
    }
}

/* What points span, as doubles. */
struct span {
    double low[3], high[3];
};

static struct span span_of_points(const struct verlet_point *points, int64_t begin, int64_t end)
{
    struct span span;
    memcpy(span.low, points[begin].x, sizeof span.low);
    memcpy(span.high, points[begin].x, sizeof span.high);
    for (int64_t k = begin + 1; k < end; k++)
        for (int c = 0; c < 3; c++) {
            const double x = points[k].x[c];
            span.low[c] = x < span.low[c] ? x : span.low[c];
            span.high[c] = x > span.high[c] ? x : span.high[c];
        }
    return span;
}

static struct verlet_box box_of_span(const struct span *span)
{
    struct verlet_box box = {{0}, {0}};
    for (int c = 0; c < 3; c++) {
        box.low[c] = nextafterf((float)span->low[c], -INFINITY);
        box.high[c] = nextafterf((float)span->high[c], INFINITY);
    }
    return box;
}

/* A node that is to be divided, of the clusters begin … end − 1; `room` is what it may take. */
struct subtree {
    int64_t node, begin, end;
    struct span room;
};

/* Nodes of one level, and where their children go; begin = end: none. */
struct arranging {
    struct verlet_list *list;
    struct subtree levels[2][most_subtrees];
    int now;
};

static int64_t right_of(const struct subtree *tree)
{
    return tree->node + 2 * ((tree->end - tree->begin) / 2);
}

/* Between the children of this node when points were arranged before, if they were. */
static double plane_before(const struct verlet_list *list, const struct subtree *tree, int axis)
{
    const float left = list->boxes[tree->node + 1].high[axis];
    const float right = list->boxes[right_of(tree)].low[axis];
    return ((double)left + (double)right) / 2;
}

/* Divides a node into its children. */
static void divide(struct verlet_list *list, const struct subtree *tree, struct subtree *left,
                   struct subtree *right)
{
    const int64_t middle = tree->begin + (tree->end - tree->begin) / 2;
    int axis = 0;
    for (int c = 1; c < 3; c++)
        if (tree->room.high[c] - tree->room.low[c] > tree->room.high[axis] - tree->room.low[axis])
            axis = c;
    split(list->points, tree->begin * list->lanes, end_of(list, tree->end), middle * list->lanes,
          axis, plane_before(list, tree, axis), tree->room.low[axis], tree->room.high[axis]);
    *left = (struct subtree){tree->node + 1, tree->begin, middle, tree->room};
    *right = (struct subtree){right_of(tree), middle, tree->end, tree->room};
    left->room.high[axis] = right->room.low[axis] = list->points[middle * list->lanes].x[axis];
}

static void join(struct verlet_list *list, const struct subtree *tree)
{
    const struct verlet_box *a = &list->boxes[tree->node + 1], *b = &list->boxes[right_of(tree)];
    struct verlet_box *box = &list->boxes[tree->node];
    for (int c = 0; c < 3; c++) {
        box->low[c] = a->low[c] < b->low[c] ? a->low[c] : b->low[c];
        box->high[c] = a->high[c] > b->high[c] ? a->high[c] : b->high[c];
    }
}

static void place_cluster(struct verlet_list *list, int64_t cluster)
{
    const int64_t end = end_of(list, cluster + 1);
    for (int lane = 0; lane < list->lanes; lane++) {
        const int64_t slot = cluster * list->lanes + lane;
        for (int c = 0; c < 3; c++)
            real_set(list->dtype, list->position, (cluster * 3 + c) * list->lanes + lane,
                     slot < end ? list->points[slot].x[c] : verlet_far_away);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree, log2 of the clusters
static void arrange(struct verlet_list *list, const struct subtree *tree)
{
    struct subtree left, right;
    if (tree->end - tree->begin == 1) {
        const struct span span =
            span_of_points(list->points, tree->begin * list->lanes, end_of(list, tree->end));
        list->boxes[tree->node] = box_of_span(&span);
        list->leaves[tree->begin] = (int32_t)tree->node;
        place_cluster(list, tree->begin);
        return;
    }
    divide(list, tree, &left, &right);
    arrange(list, &left);
    arrange(list, &right);
    join(list, tree);
}

static void arrange_subtree(void *argument, int64_t k)
{
    const struct arranging *arranging = argument;
    const struct subtree *tree = &arranging->levels[arranging->now][k];
    if (tree->begin < tree->end)
        arrange(arranging->list, tree);
}

static void divide_node(void *argument, int64_t k)
{
    struct arranging *arranging = argument;
    const struct subtree *tree = &arranging->levels[arranging->now][k];
    struct subtree *children = &arranging->levels[1 - arranging->now][2 * k];
    children[0] = *tree;
    children[1] = (struct subtree){0};
    if (tree->end - tree->begin > 1)
        divide(arranging->list, tree, &children[0], &children[1]);
}

// NOLINTNEXTLINE(misc-no-recursion): top_levels deep
static void join_top(struct verlet_list *list, const struct subtree *tree, int level)
{
    if (level == top_levels || tree->end - tree->begin == 1)
        return;
    const int64_t middle = tree->begin + (tree->end - tree->begin) / 2;
    const struct subtree left = {.node = tree->node + 1, .begin = tree->begin, .end = middle};
    const struct subtree right = {.node = right_of(tree), .begin = middle, .end = tree->end};
    join_top(list, &left, level + 1);
    join_top(list, &right, level + 1);
    join(list, tree);
}

static kith_status arrange_from(kith_context *context, struct verlet_list *list, int64_t node,
                                int64_t begin, int64_t end)
{
    const int32_t threads = kith_threads_for(context, (double)list->count / arranged_a_second);
    struct arranging arranging = {.list = list};
    struct subtree root = {.node = node, .begin = begin, .end = end};
    if (begin == end)
        return KITH_OK;
    root.room = span_of_points(list->points, begin * list->lanes, end_of(list, end));
    arranging.levels[0][0] = root;
    for (int level = 0; level < top_levels; level++) {
        KITH_TRY(kith_for_each(context, threads, (int64_t)1 << level, divide_node, &arranging));
        arranging.now = 1 - arranging.now;
    }
    KITH_TRY(kith_for_each(context, threads, most_subtrees, arrange_subtree, &arranging));
    join_top(list, &root, 0);
    return KITH_OK;
}

kith_status verlet_list_arrange(kith_context *context, struct verlet_list *list)
{
    KITH_TRY(arrange_from(context, list, 0, 0, list->clusters));
    return arrange_from(context, list, 2 * list->clusters, list->clusters, list->all_clusters);
}
