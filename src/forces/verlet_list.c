/* Clusters by halving boxes along their longest axes (Bentley 1975), and the search of the tree
 * that this makes. A node of m leaves is followed by its left child, of m/2 leaves and as many
 * nodes less one as twice that, and this by its right one. */

#include "forces/verlet_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/threads.h"

enum { serial_levels = 5, most_subtrees = 1 << serial_levels, most_depth = 64 };

/* Of one thread. */
static const double arranged_a_second = 1e7, searched_a_second = 2e7;

/* Where slots are that are not there: nothing is near them, and no square of it overflows. */
static const double far_away = 1e15;

kith_status verlet_list_create(int64_t count, int lanes, kith_dtype dtype, struct verlet_list *list)
{
    static const char what[] = "Verlet list";
    *list = (struct verlet_list){.count = count, .lanes = lanes, .dtype = dtype};
    list->clusters = (count + lanes - 1) / lanes;
    list->task_count = (list->clusters + verlet_clusters_a_task - 1) / verlet_clusters_a_task;
    const int64_t slots = list->clusters * lanes;
    KITH_TRY(kith_allocate(slots, sizeof *list->points, what, &list->points));
    KITH_TRY(kith_allocate(3 * slots, kith_dtype_bytes(dtype), what, &list->position));
    KITH_TRY(kith_allocate(2 * list->clusters, sizeof *list->boxes, what, &list->boxes));
    KITH_TRY(kith_allocate(list->task_count, sizeof *list->tasks, what, &list->tasks));
    return kith_allocate(list->clusters, sizeof *list->touched, what, &list->touched);
}

void verlet_list_free(struct verlet_list *list)
{
    for (int64_t t = 0; t < list->task_count && list->tasks; t++) {
        free(list->tasks[t].segments);
        free(list->tasks[t].entries);
        free(list->tasks[t].candidates);
    }
    free(list->points);
    free(list->position);
    free(list->boxes);
    free(list->tasks);
    free(list->touched);
    free(list->images);
    free(list->translations);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t end_of(const struct verlet_list *list, int64_t cluster)
{
    return least(cluster * list->lanes, list->count);
}

static void swap(struct verlet_point *a, struct verlet_point *b)
{
    const struct verlet_point kept = *a;
    *a = *b;
    *b = kept;
}

/* Orders points so that none before `middle` is behind one after it along an axis (Hoare 1961). */
static void split(struct verlet_point *points, int64_t begin, int64_t end, int64_t middle, int axis)
{
    int64_t low = begin, high = end - 1;
    while (low < high) {
        const double pivot = points[low + (high - low) / 2].x[axis];
        int64_t i = low, j = high;
        while (i <= j) {
            while (points[i].x[axis] < pivot)
                i++;
            while (points[j].x[axis] > pivot)
                j--;
            if (i <= j)
                swap(&points[i++], &points[j--]);
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
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

/* A span less a translation. */
static struct verlet_box box_of_span(const struct span *span, const double translation[3])
{
    struct verlet_box box = {{0}, {0}};
    for (int c = 0; c < 3; c++) {
        box.low[c] = nextafterf((float)(span->low[c] - translation[c]), -INFINITY);
        box.high[c] = nextafterf((float)(span->high[c] - translation[c]), INFINITY);
    }
    return box;
}

/* A node that is to be divided, of the clusters begin … end − 1; `room` is what it may take. */
struct subtree {
    int64_t node, begin, end;
    struct span room;
};

struct arranging {
    struct verlet_list *list;
    struct subtree subtrees[most_subtrees];
    int64_t count;
};

static int64_t right_of(const struct subtree *tree)
{
    return tree->node + 2 * ((tree->end - tree->begin) / 2);
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
          axis);
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
    for (int lane = 0; lane < list->lanes; lane++) {
        const int64_t slot = cluster * list->lanes + lane;
        for (int c = 0; c < 3; c++)
            real_set(list->dtype, list->position, (cluster * 3 + c) * list->lanes + lane,
                     slot < list->count ? list->points[slot].x[c] : far_away);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree, log2 of the clusters
static void arrange(struct verlet_list *list, const struct subtree *tree)
{
    struct subtree left, right;
    if (tree->end - tree->begin == 1) {
        static const double none[3] = {0};
        const struct span span =
            span_of_points(list->points, tree->begin * list->lanes, end_of(list, tree->end));
        list->boxes[tree->node] = box_of_span(&span, none);
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
    arrange(arranging->list, &arranging->subtrees[k]);
}

/* The top of the tree. */
// NOLINTNEXTLINE(misc-no-recursion): serial_levels deep
static void divide_top(struct arranging *arranging, const struct subtree *tree, int level)
{
    struct subtree left, right;
    if (level == serial_levels || tree->end - tree->begin == 1) {
        arranging->subtrees[arranging->count++] = *tree;
        return;
    }
    divide(arranging->list, tree, &left, &right);
    divide_top(arranging, &left, level + 1);
    divide_top(arranging, &right, level + 1);
}

// NOLINTNEXTLINE(misc-no-recursion): serial_levels deep
static void join_top(struct verlet_list *list, const struct subtree *tree, int level)
{
    if (level == serial_levels || tree->end - tree->begin == 1)
        return;
    const int64_t middle = tree->begin + (tree->end - tree->begin) / 2;
    const struct subtree left = {.node = tree->node + 1, .begin = tree->begin, .end = middle};
    const struct subtree right = {.node = right_of(tree), .begin = middle, .end = tree->end};
    join_top(list, &left, level + 1);
    join_top(list, &right, level + 1);
    join(list, tree);
}

kith_status verlet_list_arrange(kith_context *context, struct verlet_list *list)
{
    struct arranging arranging = {.list = list};
    const struct subtree root = {0, 0, list->clusters,
                                 span_of_points(list->points, 0, list->count)};
    divide_top(&arranging, &root, 0);
    KITH_TRY(kith_for_each(context,
                           kith_threads_for(context, (double)list->count / arranged_a_second),
                           arranging.count, arrange_subtree, &arranging));
    join_top(list, &root, 0);
    return KITH_OK;
}

struct searching {
    struct verlet_list *list;
    verlet_search *search;
    double distance2;
};

/* Makes room in an array that has some; memory is the address of its pointer, of any type. */
static kith_status reserve(int64_t needed, int64_t bytes_each, int64_t used, int64_t *room,
                           void *memory)
{
    void *less = NULL, *more = NULL;
    if (needed <= *room)
        return KITH_OK;
    const int64_t wanted = needed + needed / 2 + 64;
    KITH_TRY(kith_allocate(wanted, bytes_each, "Verlet list", &more));
    memcpy(&less, memory, sizeof less);
    if (used > 0)
        memcpy(more, less, (size_t)(used * bytes_each));
    free(less);
    memcpy(memory, &more, sizeof more);
    *room = wanted;
    return KITH_OK;
}

/* Along an axis one of two boxes is below the other, or they overlap. */
static float distance2_of_boxes(const struct verlet_box *a, const struct verlet_box *b)
{
    typedef int32_t mask __attribute__((vector_size(16)));
    const verlet_corner zero = {0};
    const verlet_corner below = a->low - b->high, above = b->low - a->high;
    const verlet_corner gap = (verlet_corner)(((mask)below & (mask)(below > zero)) |
                                              ((mask)above & (mask)(above > zero)));
    const verlet_corner square = gap * gap;
    return square[0] + square[1] + square[2];
}

/* The clusters from `first` on whose boxes are within the distance of a box, to the candidates. */
static kith_status find_candidates(const struct searching *searching, struct verlet_task *task,
                                   const struct verlet_box *box, int64_t first, int64_t *count)
{
    const struct verlet_list *list = searching->list;
    struct {
        int64_t node, begin, end;
    } stack[most_depth] = {{0, 0, list->clusters}}, now;
    const float limit = (float)(searching->distance2 * (1 + 0x1p-16));
    int64_t found = 0;
    for (int depth = 1; depth > 0;) {
        now = stack[--depth];
        if (now.end <= first || distance2_of_boxes(&list->boxes[now.node], box) > limit)
            continue;
        if (now.end - now.begin == 1) {
            KITH_TRY(reserve(found + 1, sizeof *task->candidates, found, &task->candidate_room,
                             &task->candidates));
            task->candidates[found++] = (int)now.begin;
            continue;
        }
        const int64_t half = (now.end - now.begin) / 2;
        stack[depth].node = now.node + 2 * half;
        stack[depth].begin = now.begin + half;
        stack[depth++].end = now.end;
        stack[depth].node = now.node + 1;
        stack[depth].begin = now.begin;
        stack[depth++].end = now.begin + half;
    }
    *count = found;
    return KITH_OK;
}

/* Adds the segments of a cluster with clusters at an image. */
static kith_status search_image(const struct searching *searching, struct verlet_task *task,
                                int64_t cluster, int64_t image)
{
    const struct verlet_list *list = searching->list;
    const int32_t *t = list->images[image];
    const double *translation = list->translations[image];
    const bool is_home = t[0] == 0 && t[1] == 0 && t[2] == 0;
    const int first_not_0 = t[0] ? t[0] : t[1] ? t[1] : t[2];
    const int64_t begin = cluster * list->lanes, end = end_of(list, cluster + 1);
    int64_t count = 0;
    const struct span span = span_of_points(list->points, begin, end);
    const struct verlet_box box = box_of_span(&span, translation);
    /* Of a pair of clusters at images T and −T, and of a cluster with itself, one. */
    KITH_TRY(
        find_candidates(searching, task, &box, first_not_0 > 0 ? cluster : cluster + 1, &count));
    KITH_TRY(reserve(task->entry_count + count * list->lanes, sizeof *task->entries,
                     task->entry_count, &task->entry_room, &task->entries));
    KITH_TRY(reserve(task->segment_count + list->lanes, sizeof *task->segments, task->segment_count,
                     &task->segment_room, &task->segments));
    for (int64_t slot = begin; slot < end && (count > 0 || is_home); slot++) {
        const double *x = list->points[slot].x;
        const double at[3] = {x[0] - translation[0], x[1] - translation[1], x[2] - translation[2]};
        const int64_t found =
            searching->search(list->position, at, searching->distance2, task->candidates, count,
                              task->entries + task->entry_count);
        const bool is_own = is_home && slot + 1 < end;
        if (found == 0 && !is_own)
            continue;
        task->segments[task->segment_count++] = (struct verlet_segment){.begin = task->entry_count,
                                                                        .count = (int)found,
                                                                        .slot = (int)slot,
                                                                        .translation = (int)image,
                                                                        .is_own = is_own};
        task->entry_count += found;
    }
    return KITH_OK;
}

static void search_task(void *argument, int64_t k)
{
    const struct searching *searching = argument;
    const struct verlet_list *list = searching->list;
    const int64_t t = list->first_task + k;
    struct verlet_task *task = &list->tasks[t];
    const int64_t begin = t * verlet_clusters_a_task;
    const int64_t end = least(begin + verlet_clusters_a_task, list->clusters);
    task->segment_count = task->entry_count = 0;
    task->status = KITH_OK;
    for (int64_t cluster = begin; cluster < end; cluster++)
        for (int64_t image = 0; image < list->image_count && task->status == KITH_OK; image++)
            task->status = search_image(searching, task, cluster, image);
}

static void count_touched(struct verlet_list *list)
{
    memset(list->touched, 0, (size_t)list->clusters * sizeof *list->touched);
    for (int64_t t = list->first_task; t < list->end_task; t++) {
        const struct verlet_task *task = &list->tasks[t];
        for (int64_t k = 0; k < task->segment_count; k++)
            list->touched[task->segments[k].slot / list->lanes] += task->segments[k].is_own;
        for (int64_t k = 0; k < task->entry_count; k++)
            list->touched[task->entries[k]]++;
    }
}

kith_status verlet_list_search(kith_context *context, verlet_search *search, double distance,
                               struct verlet_list *list)
{
    /* More than the distance by what rounding does in single precision. */
    struct searching searching = {list, search, distance * distance * (1 + 0x1p-16)};
    KITH_TRY(kith_for_each(context,
                           kith_threads_for(context, (double)list->count / searched_a_second),
                           list->end_task - list->first_task, search_task, &searching));
    for (int64_t t = list->first_task; t < list->end_task; t++)
        if (list->tasks[t].status != KITH_OK)
            return kith_fail(list->tasks[t].status, "no memory for the Verlet list");
    count_touched(list);
    return KITH_OK;
}
