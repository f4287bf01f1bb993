/* Lists of pairs of points of any number of dimensions: the rows of a leaf's targets are found, and
 * kept by the thread that found them until all are counted and the list has its memory. What that
 * would take too much room for is found again as it is written. A visitor takes rows as they are
 * found. */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "pairs/kd_search.h"
#include "pairs/list.h"
#include "pairs/stage.h"

/* Elements of rows that all threads keep, 256 MB: no more than a fourth of a list of as many
 * pairs. */
enum { most_kept = 1 << 26 };

static const double seconds_of_row = 1e-6, seconds_of_pair = 5e-9;

enum purpose { to_count, to_write, to_visit };

/* A walk over all parts. */
struct walk {
    struct pairs_kd_search search;
    int64_t part_count, kept_of_lane;
    atomic_llong next;
    enum purpose purpose;
};

static const struct pairs_kd_kernels *kernels_of(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) &pairs_kd_kernels_double_##isa,
#define IN_FLOAT(isa)  &pairs_kd_kernels_float_##isa,
    static const struct pairs_kd_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct pairs_kd_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

static kith_status find(const struct walk *walk, const struct pairs_kd_part *part,
                        struct pairs_kd_lane *lane)
{
    return walk->search.problem->by_distance ? pairs_kd_find_nearest(&walk->search, part, lane)
                                             : pairs_kd_find_near(&walk->search, part, lane);
}

/* Whether rows have room for that many more; if not, they are found again. */
static bool grow_rows(struct pairs_kd_lane *lane, int64_t count)
{
    const int64_t wanted = (lane->rows_end + count) * (int64_t)sizeof(int32_t);
    struct pairs_buffer larger = {0};
    if (wanted <= lane->rows.bytes)
        return true;
    if (pairs_host_buffer_grow(&larger, 2 * wanted, "the rows of a list") != KITH_OK)
        return false;
    if (lane->rows_end > 0)
        memcpy(larger.data, lane->rows.data, (size_t)lane->rows_end * sizeof(int32_t));
    free(lane->rows.data);
    lane->rows = larger;
    return true;
}

static void keep_rows(const struct walk *walk, struct pairs_kd_part *part, int32_t lane_number)
{
    struct pairs_kd_lane *lane = &walk->search.workspace->lanes[lane_number];
    const struct pairs_kd_tree *targets = &walk->search.targets[part->system];
    const int32_t *index = targets->index + pairs_kd_leaf_begin(targets, part->leaf);
    const int64_t size = pairs_kd_leaf_size(targets, part->leaf);
    int64_t *counts = (int64_t *)walk->search.pairs->offsets.data + 1, sum = 0;
    for (int64_t t = 0; t < size; t++)
        sum += counts[index[t]] = lane->counts[t];
    if (walk->search.problem->count_only || lane->rows_end + sum > walk->kept_of_lane ||
        !grow_rows(lane, sum))
        return;
    part->lane = lane_number;
    part->at = lane->rows_end;
    for (int64_t t = 0; t < size; t++) {
        if (lane->counts[t] > 0)
            memcpy((int32_t *)lane->rows.data + lane->rows_end,
                   (const int32_t *)lane->found.data + t * lane->room,
                   (size_t)lane->counts[t] * sizeof(int32_t));
        lane->rows_end += lane->counts[t];
    }
}

static kith_status write_rows(const struct walk *walk, const struct pairs_kd_part *part,
                              struct pairs_kd_lane *lane)
{
    const struct pairs_kd_tree *targets = &walk->search.targets[part->system];
    const int32_t *index = targets->index + pairs_kd_leaf_begin(targets, part->leaf);
    const int64_t *offsets = walk->search.pairs->offsets.data;
    const bool kept = part->lane >= 0;
    if (!kept)
        KITH_TRY(find(walk, part, lane));
    const int32_t *row =
        kept ? (const int32_t *)walk->search.workspace->lanes[part->lane].rows.data + part->at
             : lane->found.data;
    for (int64_t t = 0; t < pairs_kd_leaf_size(targets, part->leaf); t++) {
        const int64_t count = offsets[index[t] + 1] - offsets[index[t]];
        pairs_kd_write_row(walk->search.problem, index[t], row, count, walk->search.pairs);
        row += kept ? count : lane->room;
    }
    return KITH_OK;
}

static void visit_rows(const struct walk *walk, const struct pairs_kd_part *part,
                       int64_t lane_number)
{
    const struct pairs_visitor *visitor = walk->search.problem->visitor;
    const struct pairs_kd_lane *lane = &walk->search.workspace->lanes[lane_number];
    const struct pairs_kd_tree *targets = &walk->search.targets[part->system];
    const int32_t *index = targets->index + pairs_kd_leaf_begin(targets, part->leaf);
    for (int64_t t = 0; t < pairs_kd_leaf_size(targets, part->leaf); t++)
        visitor->visit(visitor->argument, lane_number, index[t],
                       (const int32_t *)lane->found.data + t * lane->room, lane->counts[t]);
}

static kith_status take_part(const struct walk *walk, struct pairs_kd_part *part,
                             int64_t lane_number)
{
    struct pairs_kd_lane *lane = &walk->search.workspace->lanes[lane_number];
    if (walk->purpose == to_write)
        return write_rows(walk, part, lane);
    KITH_TRY(find(walk, part, lane));
    if (walk->purpose == to_count)
        keep_rows(walk, part, (int32_t)lane_number);
    else
        visit_rows(walk, part, lane_number);
    return KITH_OK;
}

/* A lane takes parts until none is left. */
static void take_parts(void *argument, int64_t lane_number)
{
    struct walk *walk = argument;
    struct pairs_kd_lane *lane = &walk->search.workspace->lanes[lane_number];
    struct pairs_kd_part *parts = walk->search.workspace->parts.data;
    for (;;) {
        const int64_t k = atomic_fetch_add(&walk->next, 1);
        if (k >= walk->part_count || kith_context_stops(walk->search.context))
            return;
        lane->status = take_part(walk, &parts[k], lane_number);
        if (lane->status != KITH_OK)
            return;
    }
}

static kith_status do_walk(struct walk *walk, enum purpose purpose, double seconds)
{
    struct pairs_kd_lane *lanes = walk->search.workspace->lanes;
    const int32_t threads = kith_threads_for(walk->search.context, seconds);
    walk->purpose = purpose;
    walk->kept_of_lane = most_kept / threads;
    atomic_store(&walk->next, 0);
    KITH_TRY(kith_for_each(walk->search.context, threads, threads, take_parts, walk));
    for (int32_t k = 0; k < threads; k++)
        if (lanes[k].status != KITH_OK)
            return kith_fail(lanes[k].status, "no memory for the rows of a few points");
    return KITH_OK;
}

static kith_status make_parts(struct walk *walk)
{
    const struct pairs_kd_tree *targets = walk->search.targets;
    const int64_t systems = walk->search.problem->system_count;
    walk->part_count = 0;
    for (int64_t s = 0; s < systems; s++)
        walk->part_count += targets[s].leaf_count;
    KITH_TRY(pairs_host_buffer_grow(&walk->search.workspace->parts,
                                    walk->part_count * (int64_t)sizeof(struct pairs_kd_part),
                                    "the parts of a search"));
    struct pairs_kd_part *part = walk->search.workspace->parts.data;
    for (int64_t s = 0; s < systems; s++)
        for (int32_t leaf = 0; leaf < targets[s].leaf_count; leaf++)
            *part++ = (struct pairs_kd_part){.system = (int32_t)s, .leaf = leaf, .lane = -1};
    return KITH_OK;
}

static kith_status begin_workspace(kith_context *context, struct pairs_kd_workspace **workspace)
{
    if (!*workspace)
        KITH_TRY(kith_allocate(1, sizeof **workspace, "a search for pairs", workspace));
    if (!(*workspace)->lanes) {
        KITH_TRY(kith_allocate(context->threads, sizeof(struct pairs_kd_lane), "a search for pairs",
                               &(*workspace)->lanes));
        (*workspace)->lane_count = context->threads;
    }
    for (int32_t k = 0; k < (*workspace)->lane_count; k++) {
        (*workspace)->lanes[k].status = KITH_OK;
        (*workspace)->lanes[k].rows_end = 0;
    }
    return KITH_OK;
}

static kith_status grow_trees(kith_context *context, struct walk *walk)
{
    struct pairs_kd_workspace *workspace = walk->search.workspace;
    const struct pairs_problem *problem = walk->search.problem;
    KITH_TRY(pairs_kd_grow(context, problem, false, &workspace->points));
    walk->search.points = walk->search.targets = workspace->points.trees.data;
    if (problem->two_sets) {
        KITH_TRY(pairs_kd_grow(context, problem, true, &workspace->targets));
        walk->search.targets = workspace->targets.trees.data;
    }
    return make_parts(walk);
}

/* Of the nearest points without a cutoff: every row has as many as there are. */
static void count_nearest(const struct walk *walk)
{
    const struct pairs_problem *problem = walk->search.problem;
    int64_t *counts = (int64_t *)walk->search.pairs->offsets.data + 1;
    for (int64_t s = 0; s < problem->system_count; s++) {
        const struct pairs_system *system = &problem->systems[s];
        const int64_t count = pairs_kd_most_nearest(problem, s);
        for (int64_t i = 0; i < system->target_count; i++)
            counts[system->first_target + i] = count > 0 ? count : 0;
    }
}

static void add_up_offsets(kith_pairs *pairs)
{
    int64_t *offsets = pairs->offsets.data;
    offsets[0] = 0;
    for (int64_t i = 0; i < pairs->row_count; i++)
        offsets[i + 1] += offsets[i];
}

kith_status pairs_kd_cpu(kith_context *context, const struct pairs_problem *problem,
                         pairs_sort_narrow *sort, kith_pairs *pairs,
                         struct pairs_kd_workspace **workspace)
{
    if (!problem->visitor)
        KITH_TRY(pairs_list_begin(problem, pairs));
    KITH_TRY(begin_workspace(context, workspace));
    struct walk walk = {.search = {.context = context,
                                   .problem = problem,
                                   .kernels = kernels_of(context, problem->dtype),
                                   .sort = sort,
                                   .workspace = *workspace,
                                   .pairs = pairs}};
    KITH_TRY(grow_trees(context, &walk));
    const double seconds = seconds_of_row * (double)problem->targets.shape[0];
    if (problem->visitor)
        return do_walk(&walk, to_visit, seconds);
    if (problem->by_distance && isinf(problem->cutoff))
        count_nearest(&walk);
    else
        KITH_TRY(do_walk(&walk, to_count, seconds));
    add_up_offsets(pairs);
    const int64_t count = ((const int64_t *)pairs->offsets.data)[pairs->row_count];
    KITH_TRY(pairs_list_reserve(count, pairs));
    if (problem->count_only)
        return KITH_OK;
    return do_walk(&walk, to_write, seconds + seconds_of_pair * (double)count);
}

void pairs_kd_workspace_free(struct pairs_kd_workspace *workspace)
{
    if (!workspace)
        return;
    for (int32_t k = 0; k < workspace->lane_count; k++) {
        struct pairs_kd_lane *lane = &workspace->lanes[k];
        free(lane->leaves.data);
        free(lane->found.data);
        free(lane->squares.data);
        free(lane->nearest.data);
        free(lane->rows.data);
    }
    free(workspace->points.memory.data);
    free(workspace->points.trees.data);
    free(workspace->targets.memory.data);
    free(workspace->targets.trees.data);
    free(workspace->parts.data);
    free(workspace->lanes);
    free(workspace);
}
