/* The nearest points of the targets of a leaf: a heap for each, with the farthest on top; nodes of
 * the tree are visited nearer ones first, and passed over once they are farther away than all tops.
 */

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "pairs/kd_search.h"
#include "pairs/stage.h"

enum { leaves_between_looks = 512 };

/* A node that is still to be visited, and the lower bound of its r². */
struct waiting {
    double square;
    int64_t node;
};

/* The leaf's targets during the search. */
struct visit {
    const struct pairs_kd_search *search;
    const struct pairs_kd_part *part;
    struct pairs_kd_lane *lane;
    struct pairs_kd_meeting meeting;
    int64_t targets, wanted;
    int64_t held[pairs_points_of_leaf]; /* in the heaps */
    struct pairs_kd_neighbor *heaps;    /* wanted for each target */
    struct pairs_kd_neighbor worst;     /* of all tops; infinitely far while a heap is not full */
    double limit;                       /* the largest of all targets */
};

static bool is_nearer(struct pairs_kd_neighbor a, struct pairs_kd_neighbor b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.j < b.j;
}

/* Moves an element down from place k of a heap to where it belongs. */
static void sift(struct pairs_kd_neighbor *heap, int64_t count, int64_t k,
                 struct pairs_kd_neighbor element)
{
    for (int64_t child; (child = 2 * k + 1) < count; k = child) {
        if (child + 1 < count && is_nearer(heap[child], heap[child + 1]))
            child++;
        if (!is_nearer(element, heap[child]))
            break;
        heap[k] = heap[child];
    }
    heap[k] = element;
}

static void add(struct pairs_kd_neighbor *heap, int64_t *held, int64_t wanted,
                struct pairs_kd_neighbor element)
{
    if (*held == wanted) {
        if (is_nearer(element, heap[0]))
            sift(heap, wanted, 0, element);
        return;
    }
    int64_t k = (*held)++;
    for (; k > 0 && is_nearer(heap[(k - 1) / 2], element); k = (k - 1) / 2)
        heap[k] = heap[(k - 1) / 2];
    heap[k] = element;
}

/* What the r² of a point must be below that may replace the top: as squares and roots are rounded,
 * a little more than its square. */
static double limit_of(const struct visit *visit, int64_t t)
{
    const struct pairs_problem *problem = visit->search->problem;
    if (visit->held[t] < visit->wanted)
        return problem->limit;
    const double slack = problem->dtype == KITH_F32 ? 0x1p-20 : 0x1p-48;
    const double root = visit->heaps[t * visit->wanted].distance / problem->unit;
    const double square = fmax(root * root, pairs_kd_least_square(problem->dtype)) * (1 + slack);
    return fmin(square, problem->limit);
}

static void update_limits(struct visit *visit)
{
    visit->limit = 0;
    visit->worst = (struct pairs_kd_neighbor){-1, -1};
    for (int64_t t = 0; t < visit->targets; t++) {
        const double limit = limit_of(visit, t);
        if (visit->search->problem->dtype == KITH_F32)
            ((float *)(void *)visit->lane->limits)[t] = (float)limit;
        else
            visit->lane->limits[t] = limit;
        visit->limit = fmax(visit->limit, limit);
        const struct pairs_kd_neighbor none = {INFINITY, INT32_MAX};
        const struct pairs_kd_neighbor top =
            visit->held[t] < visit->wanted ? none : visit->heaps[t * visit->wanted];
        if (is_nearer(visit->worst, top))
            visit->worst = top;
    }
}

static void add_found(struct visit *visit, int64_t t)
{
    const struct pairs_problem *problem = visit->search->problem;
    const struct pairs_kd_tree *targets = visit->meeting.targets;
    const int64_t i = targets->index[pairs_kd_leaf_begin(targets, visit->part->leaf) + t];
    const int32_t *found = visit->meeting.found + t * visit->meeting.room;
    for (int64_t k = 0; k < visit->lane->counts[t]; k++) {
        const int64_t at = t * visit->meeting.room + k;
        const double r2 = problem->dtype == KITH_F32
                              ? (double)((const float *)visit->meeting.squares)[at]
                              : ((const double *)visit->meeting.squares)[at];
        const struct pairs_kd_neighbor one = {pairs_kd_distance(problem, i, found[k], r2),
                                              found[k]};
        add(visit->heaps + t * visit->wanted, &visit->held[t], visit->wanted, one);
    }
}

static void visit_leaf(struct visit *visit, int64_t leaf)
{
    memset(visit->lane->counts, 0, sizeof visit->lane->counts);
    visit->meeting.leaf = leaf;
    visit->search->kernels->meet(&visit->meeting);
    int64_t any = 0;
    for (int64_t t = 0; t < visit->targets; t++) {
        add_found(visit, t);
        any += visit->lane->counts[t];
    }
    if (any > 0)
        update_limits(visit);
}

/* Whether a node may have points that come before one of the tops. */
static bool may_help(const struct visit *visit, struct waiting waiting)
{
    const struct pairs_problem *problem = visit->search->problem;
    if (visit->meeting.everything)
        return true;
    if (!(waiting.square < visit->limit))
        return false;
    const double root =
        problem->dtype == KITH_F32 ? (double)sqrtf((float)waiting.square) : sqrt(waiting.square);
    const struct pairs_kd_neighbor best = {
        waiting.square < pairs_kd_least_square(problem->dtype) ? 0 : root * problem->unit,
        visit->meeting.points->least_index[waiting.node]};
    return is_nearer(best, visit->worst);
}

static struct waiting waiting_of(const struct visit *visit, int64_t node)
{
    const struct pairs_kd_meeting *meeting = &visit->meeting;
    const double square = visit->search->kernels->gap(meeting->targets, meeting->target_leaf,
                                                      meeting->points, node, meeting->scale);
    return (struct waiting){square, node};
}

/* Depth first, of two children the nearer one, or that of lower rows. */
static kith_status visit_tree(struct visit *visit, int64_t own_leaf)
{
    const struct pairs_kd_tree *points = visit->meeting.points;
    struct waiting stack[64]; /* the depth of a tree of 2³¹ points is less */
    int64_t count = 0, leaves = 0;
    stack[count++] = waiting_of(visit, 0);
    while (count > 0) {
        const struct waiting next = stack[--count];
        if (!may_help(visit, next))
            continue;
        if (pairs_kd_is_leaf(points, next.node)) {
            const int64_t leaf = next.node - (points->leaf_count - 1);
            if (leaf != own_leaf)
                visit_leaf(visit, leaf);
            if (++leaves % leaves_between_looks == 0)
                KITH_TRY(kith_context_check_cancelled(visit->search->context));
            continue;
        }
        const struct waiting a = waiting_of(visit, 2 * next.node + 1);
        const struct waiting b = waiting_of(visit, 2 * next.node + 2);
        const bool b_first = b.square != a.square
                                 ? b.square < a.square
                                 : points->least_index[b.node] < points->least_index[a.node];
        stack[count++] = b_first ? a : b;
        stack[count++] = b_first ? b : a;
    }
    return KITH_OK;
}

static kith_status begin_visit(struct visit *visit)
{
    static const char what[] = "the nearest points of a leaf";
    struct pairs_kd_lane *lane = visit->lane;
    const int64_t width = visit->meeting.points->width + kith_padding;
    KITH_TRY(pairs_host_buffer_grow(
        &lane->nearest,
        pairs_points_of_leaf * visit->wanted * (int64_t)sizeof(struct pairs_kd_neighbor), what));
    KITH_TRY(
        pairs_kd_make_room(width > visit->wanted ? width : visit->wanted, lane, &visit->meeting));
    KITH_TRY(pairs_host_buffer_grow(
        &lane->squares,
        (pairs_points_of_leaf * lane->room + kith_padding) * (int64_t)sizeof(double), what));
    visit->heaps = lane->nearest.data;
    visit->meeting.squares = lane->squares.data;
    update_limits(visit);
    return KITH_OK;
}

/* From heaps to rows in order. */
static void finish_rows(struct visit *visit)
{
    for (int64_t t = 0; t < visit->targets; t++) {
        struct pairs_kd_neighbor *heap = visit->heaps + t * visit->wanted;
        int32_t *row = visit->meeting.found + t * visit->meeting.room;
        for (int64_t left = visit->held[t]; left > 0; left--) {
            row[left - 1] = heap[0].j;
            sift(heap, left - 1, 0, heap[left - 1]);
        }
        visit->lane->counts[t] = visit->held[t];
    }
}

kith_status pairs_kd_find_nearest(const struct pairs_kd_search *search,
                                  const struct pairs_kd_part *part, struct pairs_kd_lane *lane)
{
    struct visit visit = {
        .search = search,
        .part = part,
        .lane = lane,
        .meeting = pairs_kd_meeting_of(search, part, lane),
        .targets = pairs_kd_leaf_size(&search->targets[part->system], part->leaf),
        .wanted = pairs_kd_most_nearest(search->problem, part->system),
    };
    if (visit.wanted <= 0)
        return KITH_OK;
    KITH_TRY(begin_visit(&visit));
    const int64_t own_leaf = search->targets == search->points ? part->leaf : -1;
    if (own_leaf >= 0)
        visit_leaf(&visit, own_leaf);
    KITH_TRY(visit_tree(&visit, own_leaf));
    finish_rows(&visit);
    return KITH_OK;
}
