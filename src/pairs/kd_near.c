/* Partners nearer than a cutoff, of the targets of a leaf. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "pairs/kd_search.h"
#include "pairs/stage.h"

/* Leaves that targets are compared with between two looks whether the call was cancelled: a
 * millisecond. */
enum { leaves_between_looks = 512 };

struct pairs_kd_meeting pairs_kd_meeting_of(const struct pairs_kd_search *search,
                                            const struct pairs_kd_part *part,
                                            struct pairs_kd_lane *lane)
{
    const struct pairs_problem *problem = search->problem;
    memset(lane->counts, 0, sizeof lane->counts);
    return (struct pairs_kd_meeting){
        .targets = &search->targets[part->system],
        .points = &search->points[part->system],
        .target_leaf = part->leaf,
        .scale = 1 / problem->unit,
        .limits = lane->limits,
        .cutoff = problem->cutoff,
        .half = problem->half,
        .two_sets = problem->two_sets,
        .everything = problem->method == KITH_PAIRS_BRUTE_FORCE,
        .room = lane->room,
        .found = lane->found.data,
        .counts = lane->counts,
    };
}

kith_status pairs_kd_make_room(int64_t more, struct pairs_kd_lane *lane,
                               struct pairs_kd_meeting *meeting)
{
    int64_t most = 0;
    for (int k = 0; k < pairs_points_of_leaf; k++)
        most = lane->counts[k] > most ? lane->counts[k] : most;
    if (most + more <= lane->room)
        return KITH_OK;
    const int64_t room = pairs_sorting_room(2 * (most + more));
    struct pairs_buffer larger = {0};
    KITH_TRY(pairs_host_buffer_grow(
        &larger, (pairs_points_of_leaf * room + kith_padding) * (int64_t)sizeof(int32_t),
        "the rows of a leaf"));
    for (int k = 0; k < pairs_points_of_leaf && lane->found.data; k++)
        memcpy((int32_t *)larger.data + k * room, (int32_t *)lane->found.data + k * lane->room,
               (size_t)lane->counts[k] * sizeof(int32_t));
    free(lane->found.data);
    lane->found = larger;
    lane->room = meeting->room = room;
    meeting->found = larger.data;
    return KITH_OK;
}

static void set_limits(kith_dtype dtype, double limit, struct pairs_kd_lane *lane)
{
    for (int k = 0; k < pairs_points_of_leaf; k++)
        if (dtype == KITH_F32)
            ((float *)(void *)lane->limits)[k] = (float)limit;
        else
            lane->limits[k] = limit;
}

static kith_status leaves_of(const struct pairs_kd_search *search, const struct pairs_kd_part *part,
                             struct pairs_kd_lane *lane, int64_t *count)
{
    const struct pairs_problem *problem = search->problem;
    const struct pairs_kd_tree *points = &search->points[part->system];
    KITH_TRY(pairs_host_buffer_grow(&lane->leaves, points->leaf_count * (int64_t)sizeof(int32_t),
                                    "the leaves of a tree"));
    int32_t *leaves = lane->leaves.data;
    *count = points->leaf_count;
    if (problem->method == KITH_PAIRS_BRUTE_FORCE)
        for (int32_t k = 0; k < points->leaf_count; k++)
            leaves[k] = k;
    else
        *count =
            search->kernels->leaves(&search->targets[part->system], part->leaf, points,
                                    1 / problem->unit, problem->limit, problem->cutoff, leaves);
    return KITH_OK;
}

/* Those left that are not excluded. */
static int64_t leave_out(const struct pairs_problem *problem, int64_t i, int32_t *row,
                         int64_t count)
{
    const int64_t *offsets = problem->exclusion_offsets.data, *rows = problem->exclusions.data;
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        bool excluded = false;
        for (int64_t p = offsets[i]; p < offsets[i + 1] && !excluded; p++)
            excluded = rows[p] == row[k];
        row[kept] = row[k];
        kept += !excluded;
    }
    return kept;
}

static void finish_rows(const struct pairs_kd_search *search, const struct pairs_kd_part *part,
                        struct pairs_kd_lane *lane)
{
    const struct pairs_kd_tree *targets = &search->targets[part->system];
    const int32_t *index = targets->index + pairs_kd_leaf_begin(targets, part->leaf);
    for (int64_t t = 0; t < pairs_kd_leaf_size(targets, part->leaf); t++) {
        int32_t *row = (int32_t *)lane->found.data + t * lane->room;
        if (!kith_array_is_none(search->problem->exclusions))
            lane->counts[t] = leave_out(search->problem, index[t], row, lane->counts[t]);
        if (search->problem->sorted && !search->problem->count_only && lane->counts[t] > 1)
            search->sort(row, lane->counts[t]);
    }
}

kith_status pairs_kd_find_near(const struct pairs_kd_search *search,
                               const struct pairs_kd_part *part, struct pairs_kd_lane *lane)
{
    int64_t count = 0;
    struct pairs_kd_meeting meeting = pairs_kd_meeting_of(search, part, lane);
    KITH_TRY(leaves_of(search, part, lane, &count));
    set_limits(search->problem->dtype, search->problem->limit, lane);
    const int64_t more = meeting.points->width + kith_padding;
    KITH_TRY(pairs_kd_make_room(more, lane, &meeting));
    for (int64_t k = 0; k < count; k++) {
        if (k % leaves_between_looks == leaves_between_looks - 1)
            KITH_TRY(kith_context_check_cancelled(search->context));
        meeting.leaf = ((const int32_t *)lane->leaves.data)[k];
        KITH_TRY(pairs_kd_make_room(more, lane, &meeting));
        search->kernels->meet(&meeting);
    }
    finish_rows(search, part, lane);
    return KITH_OK;
}
