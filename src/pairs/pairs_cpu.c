/* Pairs on the CPU: points sorted into cells, then two walks over the cells, one to count the
 * partners of each target and one to write them down. A task does some cells; every row depends on
 * the problem alone. */

#include "pairs/pairs_cpu.h"

#include <stdlib.h>

#include "core/isa.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "pairs/kd_search.h"
#include "pairs/list.h"
#include "pairs/nearest_cpu.h"
#include "pairs/rows.h"
#include "pairs/search.h"
#include "pairs/small_cpu.h"
#include "pairs/stage.h"
#include "sort/search.h"

/* Targets of a task: some hundred microseconds. */
enum { targets_of_chunk = 1024 };

/* A cell may have all points: after this many comparisons a task looks whether the call was
 * cancelled. */
enum { comparisons_between_looks = 1 << 24 };

static const double seconds_of_target = 100e-9, seconds_of_pair = 4e-9;

/* Cells of a system. */
struct chunk {
    int64_t system, first_cell, end_cell;
};

/* A walk over all cells, to count or to write. */
struct walk {
    kith_context *context;
    const struct pairs_problem *problem;
    const struct pairs_kernels *kernels;
    struct pairs_workspace *workspace;
    kith_pairs *pairs;
    int64_t chunk_count;
    atomic_llong next_chunk;
    bool counting;
};

static const struct pairs_kernels *kernels_of(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) &pairs_kernels_double_##isa,
#define IN_FLOAT(isa)  &pairs_kernels_float_##isa,
    static const struct pairs_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct pairs_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

/* The first cell whose points begin at a position or after it. */
static int64_t cell_at(const struct pairs_bin *bin, int64_t position)
{
    return search_32(bin->begin, 0, bin->cell_count, position);
}

static int64_t chunks_of(const struct pairs_search *search)
{
    return (search->targets.count + targets_of_chunk - 1) / targets_of_chunk;
}

static kith_status make_chunks(struct walk *walk)
{
    const struct pairs_search *searches = walk->workspace->searches.data;
    const int64_t systems = walk->problem->system_count;
    walk->chunk_count = 0;
    for (int64_t s = 0; s < systems; s++)
        walk->chunk_count += chunks_of(&searches[s]);
    KITH_TRY(pairs_host_buffer_grow(&walk->workspace->chunks,
                                    walk->chunk_count * (int64_t)sizeof(struct chunk),
                                    "the parts of a search"));
    struct chunk *chunk = walk->workspace->chunks.data;
    for (int64_t s = 0; s < systems; s++) {
        const struct pairs_bin *bin = &searches[s].targets;
        const int64_t count = chunks_of(&searches[s]);
        for (int64_t k = 0; k < count; k++)
            *chunk++ = (struct chunk){s, cell_at(bin, k * targets_of_chunk),
                                      k + 1 == count ? bin->cell_count
                                                     : cell_at(bin, (k + 1) * targets_of_chunk)};
    }
    return KITH_OK;
}

/* Where those of a cell's targets end that are done before the next look. */
static int64_t end_of_some(const struct pairs_candidates *candidates, int64_t begin, int64_t end)
{
    const int64_t most = comparisons_between_looks / (candidates->count + 1) + 1;
    return end - begin < most ? end : begin + most;
}

static void count_targets(const struct walk *walk, const struct pairs_search *search,
                          const struct pairs_candidates *candidates, int64_t begin, int64_t end,
                          struct pairs_lane *lane)
{
    const struct pairs_problem *problem = walk->problem;
    int64_t *counts = (int64_t *)walk->pairs->offsets.data + 1;
    if (kith_array_is_none(problem->exclusions))
        walk->kernels->count(candidates, &search->targets.points, begin, end, counts);
    else
        for (int64_t k = begin; k < end; k++)
            counts[search->targets.index[k]] =
                pairs_find_row(walk->kernels, search, candidates, k, lane->found.data);
}

static kith_status count_cell(const struct walk *walk, const struct pairs_search *search,
                              int64_t cell, struct pairs_lane *lane)
{
    const int64_t begin = search->targets.begin[cell], end = search->targets.begin[cell + 1];
    struct pairs_candidates candidates;
    KITH_TRY(pairs_find_candidates(walk->kernels, search, cell, (struct pairs_candidates_wanted){0},
                                   lane, &candidates));
    for (int64_t k = begin, stop; k < end; k = stop) {
        if (k > begin)
            KITH_TRY(kith_context_check_cancelled(walk->context));
        stop = end_of_some(&candidates, k, end);
        count_targets(walk, search, &candidates, k, stop, lane);
    }
    return KITH_OK;
}

static kith_status write_targets(const struct walk *walk, const struct pairs_search *search,
                                 const struct pairs_candidates *candidates, int64_t begin,
                                 int64_t end, struct pairs_lane *lane)
{
    if (!pairs_rows_are_plain(walk->problem, walk->pairs))
        return pairs_write_rows(walk->kernels, search, candidates, begin, end, lane, walk->pairs);
    const struct pairs_columns columns = {
        .offsets = walk->pairs->offsets.data,
        .target_count = search->targets.count,
        .i = walk->pairs->i.data,
        .j = walk->pairs->j.data,
        .narrow = walk->pairs->memory->request.narrow,
        .sorted = walk->problem->sorted,
        .streamed = walk->pairs->count >= pairs_of_streamed_list,
        .row = lane->found.data,
    };
    walk->kernels->write(candidates, &search->targets.points, begin, end, &columns);
    return KITH_OK;
}

static kith_status write_cell(const struct walk *walk, const struct pairs_search *search,
                              int64_t cell, struct pairs_lane *lane)
{
    const int64_t begin = search->targets.begin[cell], end = search->targets.begin[cell + 1];
    const bool plain = pairs_rows_are_plain(walk->problem, walk->pairs);
    const struct pairs_candidates_wanted wanted = {
        .shifts = !kith_array_is_none(walk->pairs->shifts),
        .arranged = !plain && walk->problem->sorted,
    };
    struct pairs_candidates candidates;
    KITH_TRY(pairs_find_candidates(walk->kernels, search, cell, wanted, lane, &candidates));
    for (int64_t k = begin, stop; k < end; k = stop) {
        if (k > begin)
            KITH_TRY(kith_context_check_cancelled(walk->context));
        stop = end_of_some(&candidates, k, end);
        KITH_TRY(write_targets(walk, search, &candidates, k, stop, lane));
    }
    return KITH_OK;
}

static kith_status do_cell(const struct walk *walk, const struct pairs_search *search, int64_t cell,
                           struct pairs_lane *lane)
{
    if (search->targets.begin[cell] == search->targets.begin[cell + 1])
        return KITH_OK;
    return walk->counting ? count_cell(walk, search, cell, lane)
                          : write_cell(walk, search, cell, lane);
}

/* A lane takes chunks until none is left. */
static void take_chunks(void *argument, int64_t lane_number)
{
    struct walk *walk = argument;
    struct pairs_lane *lane = &walk->workspace->lanes[lane_number];
    const struct pairs_search *searches = walk->workspace->searches.data;
    const struct chunk *chunks = walk->workspace->chunks.data;
    for (;;) {
        const int64_t k = atomic_fetch_add(&walk->next_chunk, 1);
        if (k >= walk->chunk_count || kith_context_stops(walk->context))
            return;
        for (int64_t cell = chunks[k].first_cell; cell < chunks[k].end_cell; cell++) {
            lane->status = do_cell(walk, &searches[chunks[k].system], cell, lane);
            if (lane->status != KITH_OK)
                return;
        }
    }
}

static kith_status do_walk(struct walk *walk, bool counting, double seconds)
{
    const int32_t threads = kith_threads_for(walk->context, seconds);
    walk->counting = counting;
    atomic_store(&walk->next_chunk, 0);
    KITH_TRY(kith_for_each(walk->context, threads, threads, take_chunks, walk));
    for (int32_t k = 0; k < threads; k++)
        if (walk->workspace->lanes[k].status != KITH_OK)
            return kith_fail(walk->workspace->lanes[k].status,
                             "no memory for a row of the list and the cells around it");
    return KITH_OK;
}

static void add_up_offsets(kith_pairs *pairs)
{
    int64_t *offsets = pairs->offsets.data;
    offsets[0] = 0;
    for (int64_t i = 0; i < pairs->row_count; i++)
        offsets[i + 1] += offsets[i];
}

static kith_status count_rows(struct walk *walk)
{
    KITH_TRY(make_chunks(walk));
    KITH_TRY(do_walk(walk, true, seconds_of_target * (double)walk->pairs->row_count));
    add_up_offsets(walk->pairs);
    return KITH_OK;
}

static kith_status write_rows(struct walk *walk)
{
    kith_pairs *pairs = walk->pairs;
    const int64_t count = ((const int64_t *)pairs->offsets.data)[pairs->row_count];
    KITH_TRY(pairs_list_reserve(count, pairs));
    if (walk->problem->count_only)
        return KITH_OK;
    return do_walk(walk, false,
                   seconds_of_target * (double)pairs->row_count + seconds_of_pair * (double)count);
}

static kith_status begin_workspace(kith_context *context, struct pairs_workspace **workspace)
{
    if (!*workspace)
        KITH_TRY(kith_allocate(1, sizeof **workspace, "a search for pairs", workspace));
    if ((*workspace)->lane_count < context->threads) {
        KITH_TRY(kith_allocate(context->threads, sizeof(struct pairs_lane), "a search for pairs",
                               &(*workspace)->lanes));
        (*workspace)->lane_count = context->threads;
    }
    for (int32_t k = 0; k < (*workspace)->lane_count; k++)
        (*workspace)->lanes[k].status = KITH_OK;
    return KITH_OK;
}

kith_status pairs_cpu(kith_context *context, const struct pairs_problem *problem, kith_pairs *pairs)
{
    KITH_TRY(begin_workspace(context, &pairs->memory->workspace));
    if (!pairs_have_cells(problem->dimensions))
        return pairs_kd_cpu(context, problem, kernels_of(context, problem->dtype)->sort_narrow,
                            pairs, &pairs->memory->workspace->kd);
    KITH_TRY(pairs_list_begin(problem, pairs));
    bool done = false;
    KITH_TRY(pairs_small_cpu(context, problem, pairs->memory->workspace, pairs, &done));
    if (done)
        return KITH_OK;
    struct walk walk = {
        .context = context,
        .problem = problem,
        .kernels = kernels_of(context, problem->dtype),
        .workspace = pairs->memory->workspace,
        .pairs = pairs,
    };
    if (!problem->by_distance || isfinite(problem->cutoff)) {
        KITH_TRY(pairs_bin_systems(context, problem, pairs, walk.workspace));
        KITH_TRY(count_rows(&walk));
    }
    return problem->by_distance
               ? pairs_nearest_cpu(context, problem, walk.kernels, walk.workspace, pairs)
               : write_rows(&walk);
}

void pairs_workspace_free(struct pairs_workspace *workspace)
{
    if (!workspace)
        return;
    for (int set = 0; set < pairs_set_count; set++)
        free(workspace->bins[set].data);
    free(workspace->searches.data);
    free(workspace->chunks.data);
    for (size_t k = 0; k < sizeof workspace->rounds / sizeof workspace->rounds[0]; k++)
        free(workspace->rounds[k].data);
    pairs_uneven_free(workspace->uneven);
    pairs_kd_workspace_free(workspace->kd);
    for (int32_t k = 0; k < workspace->lane_count; k++) {
        struct pairs_lane *lane = &workspace->lanes[k];
        free(lane->runs.data);
        free(lane->candidates.data);
        free(lane->arranged.data);
        free(lane->found.data);
        free(lane->keys.data);
        free(lane->row.data);
        free(lane->rows.data);
    }
    free(workspace->lanes);
    free(workspace);
}
