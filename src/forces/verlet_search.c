/* The search of a Verlet list: clusters near a group of clusters by the tree of their boxes, of
 * these the ones near a cluster, and of these the ones near each of its particles. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/verlet_list.h"

/* Clusters that walk the tree together. */
enum { clusters_a_group = 8, most_depth = 64 };

/* Of one thread. */
static const double searched_a_second = 2e7;

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

static void join(struct verlet_box *box, const struct verlet_box *other)
{
    for (int c = 0; c < 3; c++) {
        box->low[c] = other->low[c] < box->low[c] ? other->low[c] : box->low[c];
        box->high[c] = other->high[c] > box->high[c] ? other->high[c] : box->high[c];
    }
}

/* A box less a translation, rounded outwards: by more than the three roundings may do. */
static struct verlet_box translated(const struct verlet_box *box, const double translation[3])
{
    struct verlet_box moved = {{0}, {0}};
    for (int c = 0; c < 3; c++) {
        const float t = (float)translation[c];
        const float low = box->low[c] - t, high = box->high[c] - t;
        const float slack = (fabsf(t) + fabsf(low) + fabsf(high)) * 0x1p-22F;
        moved.low[c] = low - slack;
        moved.high[c] = high + slack;
    }
    return moved;
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

static float box_limit(const struct searching *searching)
{
    return (float)(searching->distance2 * (1 + 0x1p-16));
}

/* The clusters from `first` on whose boxes are within the distance of a box. */
static kith_status walk(const struct searching *searching, const struct verlet_box *box,
                        int64_t first, struct verlet_candidates *candidates)
{
    const struct verlet_list *list = searching->list;
    const float limit = box_limit(searching);
    struct {
        int64_t node, begin, end;
    } stack[most_depth] = {{2 * list->clusters, list->clusters, list->all_clusters},
                           {0, 0, list->clusters}},
      now;
    candidates->count = 0;
    for (int depth = 2; depth > 0;) {
        now = stack[--depth];
        if (now.end <= first || now.begin == now.end ||
            distance2_of_boxes(&list->boxes[now.node], box) > limit)
            continue;
        if (now.end - now.begin == 1) {
            KITH_TRY(reserve(candidates->count + 1, sizeof *candidates->clusters, candidates->count,
                             &candidates->room, &candidates->clusters));
            candidates->clusters[candidates->count++] = (int)now.begin;
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
    return KITH_OK;
}

/* Those of a group, from `first` on, that are within the distance of one cluster's box. */
static void narrow(const struct searching *searching, const struct verlet_box *box, int64_t first,
                   const struct verlet_candidates *group, struct verlet_candidates *candidates)
{
    const struct verlet_list *list = searching->list;
    const float limit = box_limit(searching);
    candidates->count = 0;
    for (int64_t k = 0; k < group->count; k++) {
        const int other = group->clusters[k];
        candidates->clusters[candidates->count] = other; /* there is room */
        candidates->count +=
            other >= first && distance2_of_boxes(&list->boxes[list->leaves[other]], box) <= limit;
    }
}

/* Segments whose entries are ghosts are kept apart. */
static kith_status add_segment(struct verlet_task *task, struct verlet_segment segment,
                               bool is_with_ghosts)
{
    struct verlet_segment **segments = is_with_ghosts ? &task->with_ghosts : &task->segments;
    int64_t *count = is_with_ghosts ? &task->with_ghosts_count : &task->segment_count;
    int64_t *room = is_with_ghosts ? &task->with_ghosts_room : &task->segment_room;
    KITH_TRY(reserve(*count + 1, sizeof **segments, *count, room, segments));
    (*segments)[(*count)++] = segment;
    return KITH_OK;
}

/* What the particles of a segment leave out of a cluster. */
static unsigned left_out_of(const struct verlet_list *list, const struct verlet_segment *segment,
                            int64_t cluster)
{
    unsigned left_out = 0;
    for (int k = 0; k < segment->particles; k++)
        left_out |= verlet_excluded_lanes(&list->excluded, list->points[segment->slot + k].row,
                                          cluster, list->lanes)
                    << k * list->lanes;
    return left_out;
}

/* Entries with slots that a particle of a segment does not interact with get segments of their own;
 * their number is subtracted from that of the segment. */
static kith_status part_excluded(const struct verlet_list *list, struct verlet_task *task,
                                 bool is_with_ghosts, struct verlet_segment *segment)
{
    int *entries = task->entries + segment->begin;
    if (segment->is_own)
        segment->left_out = left_out_of(list, segment, segment->slot / list->lanes);
    for (int k = 0; k < segment->count;) {
        const int other = entries[k];
        const unsigned left_out = left_out_of(list, segment, other);
        if (left_out == 0) {
            k++;
            continue;
        }
        entries[k] = entries[--segment->count];
        entries[segment->count] = other;
        const struct verlet_segment alone = {.begin = segment->begin + segment->count,
                                             .count = 1,
                                             .slot = segment->slot,
                                             .particles = segment->particles,
                                             .translation = segment->translation,
                                             .left_out = left_out};
        KITH_TRY(add_segment(task, alone, is_with_ghosts));
    }
    return KITH_OK;
}

/* The segment, and the ones that its excluded pairs need. */
static kith_status finish_segment(const struct verlet_list *list, struct verlet_task *task,
                                  bool is_with_ghosts, struct verlet_segment *segment)
{
    if (list->excluded.begin)
        KITH_TRY(part_excluded(list, task, is_with_ghosts, segment));
    return segment->count > 0 || segment->is_own ? add_segment(task, *segment, is_with_ghosts)
                                                 : KITH_OK;
}

/* The entries from the first ghost on get a segment of their own. */
static kith_status part_ghosts(const struct verlet_list *list, struct verlet_task *task,
                               struct verlet_segment *segment)
{
    const int *entries = task->entries + segment->begin;
    int own = segment->count;
    while (own > 0 && entries[own - 1] >= list->clusters)
        own--;
    if (own == segment->count)
        return KITH_OK;
    struct verlet_segment with_ghosts = {.begin = segment->begin + own,
                                         .count = segment->count - own,
                                         .slot = segment->slot,
                                         .particles = segment->particles,
                                         .translation = segment->translation};
    segment->count = own;
    return finish_segment(list, task, true, &with_ghosts);
}

static kith_status add_with_ghosts(struct verlet_task *task)
{
    task->first_with_ghosts = task->segment_count;
    for (int64_t k = 0; k < task->with_ghosts_count; k++)
        KITH_TRY(add_segment(task, task->with_ghosts[k], false));
    return KITH_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Adds the segments of a cluster with its candidates at an image. */
static kith_status search_cluster(const struct searching *searching, struct verlet_task *task,
                                  int64_t cluster, int64_t image, bool is_home)
{
    const struct verlet_list *list = searching->list;
    const struct verlet_candidates *candidates = &task->of_cluster;
    const double *translation = list->translations[image];
    const int64_t begin = cluster * list->lanes, after = begin + list->lanes;
    const int64_t end = least(after, list->count);
    KITH_TRY(reserve(task->entry_count + candidates->count * list->lanes, sizeof *task->entries,
                     task->entry_count, &task->entry_room, &task->entries));
    for (int64_t slot = begin; slot < end && (candidates->count > 0 || is_home);
         slot += list->particles) {
        double at[verlet_most_particles][3];
        for (int k = 0; k < verlet_most_particles; k++)
            for (int c = 0; c < 3; c++)
                at[k][c] = slot + k < end ? list->points[slot + k].x[c] - translation[c]
                                          : -verlet_far_away;
        const int64_t found = searching->search(
            list->position, (const double(*)[3])at, searching->distance2, candidates->clusters,
            candidates->count, task->entries + task->entry_count);
        const bool is_own = is_home && slot + 1 < end;
        struct verlet_segment segment = {.begin = task->entry_count,
                                         .count = (int)found,
                                         .slot = (int)slot,
                                         .particles = (int)least(list->particles, end - slot),
                                         .translation = (int)image,
                                         .is_own = is_own};
        task->entry_count += found;
        if (list->ghosts > 0)
            KITH_TRY(part_ghosts(list, task, &segment));
        KITH_TRY(finish_segment(list, task, false, &segment));
    }
    return KITH_OK;
}

/* The clusters begin … end − 1 with others at an image. Of a pair of clusters at images T and −T,
 * and of a cluster with itself, one is there. */
static kith_status search_image(const struct searching *searching, struct verlet_task *task,
                                int64_t begin, int64_t end, int64_t image)
{
    const struct verlet_list *list = searching->list;
    const int32_t *t = list->images[image];
    const double *translation = list->translations[image];
    const bool is_home = t[0] == 0 && t[1] == 0 && t[2] == 0;
    const int first_not_0 = t[0] ? t[0] : t[1] ? t[1] : t[2];
    const int64_t next = first_not_0 > 0 ? 0 : 1;
    struct verlet_box box = list->boxes[list->leaves[begin]];
    for (int64_t cluster = begin + 1; cluster < end; cluster++)
        join(&box, &list->boxes[list->leaves[cluster]]);
    box = translated(&box, translation);
    KITH_TRY(walk(searching, &box, begin + next, &task->of_group));
    if (task->of_group.count == 0 && !is_home)
        return KITH_OK;
    KITH_TRY(reserve(task->of_group.count + 1, sizeof *task->of_cluster.clusters, 0,
                     &task->of_cluster.room, &task->of_cluster.clusters));
    for (int64_t cluster = begin; cluster < end; cluster++) {
        box = translated(&list->boxes[list->leaves[cluster]], translation);
        narrow(searching, &box, cluster + next, &task->of_group, &task->of_cluster);
        KITH_TRY(search_cluster(searching, task, cluster, image, is_home));
    }
    return KITH_OK;
}

static void search_task(void *argument, int64_t k)
{
    const struct searching *searching = argument;
    const struct verlet_list *list = searching->list;
    const int64_t t = list->first_task + k, first = t * verlet_clusters_a_task;
    const int64_t after = first + verlet_clusters_a_task;
    const int64_t end = after < list->clusters ? after : list->clusters;
    struct verlet_task *task = &list->tasks[t];
    task->segment_count = task->entry_count = task->with_ghosts_count = 0;
    task->status = KITH_OK;
    for (int64_t begin = first; begin < end; begin += clusters_a_group) {
        const int64_t of_group = begin + clusters_a_group < end ? begin + clusters_a_group : end;
        for (int64_t image = 0; image < list->image_count && task->status == KITH_OK; image++)
            task->status = search_image(searching, task, begin, of_group, image);
    }
    if (task->status == KITH_OK)
        task->status = add_with_ghosts(task);
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
    return KITH_OK;
}
