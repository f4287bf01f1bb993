/* The walk on a GPU. This file is compiled without fused operations, so that the same numbers give
 * the same lists as on the CPU. */

#include "tree/walk_cuda.cuh"

#include <cub/device/device_scan.cuh>
#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_state.h"

static unsigned blocks_for(int64_t items, int of_block)
{
    return (unsigned)((items + of_block - 1) / of_block);
}

kith_status tree_reserve_cuda(kith_context *context, int64_t bytes, const char *what,
                              struct tree_memory *memory)
{
    if (bytes <= memory->bytes)
        return KITH_OK;
    cuda_release(context, memory->memory);
    *memory = {};
    KITH_TRY(cuda_allocate(context, bytes, 1, what, &memory->memory));
    memory->bytes = bytes;
    return KITH_OK;
}

void tree_walker_free_cuda(kith_context *context, struct tree_walker_cuda *walker)
{
    const struct tree_memory *const memory[] = {
        &walker->lists,  &walker->waiting, &walker->ready, &walker->far,   &walker->near,
        &walker->counts, &walker->batches, &walker->stack, &walker->pulls, &walker->totals};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        cuda_release(context, memory[k]->memory);
    *walker = {};
}

/* A walk of all targets. */
struct walk_run {
    struct tree_walker_cuda *walker;
    int32_t cells; /* of the targets */
    int32_t source_generations;
    struct walk_pass pass;
    struct walk_totals totals;
};

/* `team` sources at a time, with which the stack is empty, become at most eight times as many; of
 * each generation of theirs seven eighths stay. */
static int32_t stack_room(int team, int32_t source_generations)
{
    return team * (8 + 7 * source_generations);
}

static bool has_small_teams(const struct walk_run *run)
{
    return run->cells >= fewest_cells_of_small_teams;
}

/* By a law of bins, whose cells meet far more others. */
static bool is_by_law(const struct walk_run *run)
{
    return run->pass.rule.decay || run->pass.law == expansion_series;
}

template <int what, int order, int team>
static void launch_team(kith_context *context, const struct walk_run *run)
{
    const int32_t cells = run->pass.end - run->pass.first;
    const bool shares = what == sum_pulls && run->cells < most_cells_of_sharing;
    const int resident = shares ? blocks_of_sharing<team> : blocks_per_multiprocessor<team>;
    const int most = cuda_multiprocessors(context) * resident;
    const int blocks = cells < most ? cells : most;
    walk_targets<what, order, team><<<blocks, team, 0, cuda_stream(context)>>>(run->pass);
}

template <int what, int order>
static kith_status launch_order(kith_context *context, struct walk_run *run)
{
    KITH_TRY(cuda_check(
        cudaMemsetAsync(run->pass.totals, 0, sizeof *run->pass.totals, cuda_stream(context)),
        "walking a tree"));
    if (has_small_teams(run))
        launch_team<what, order, small_team>(context, run);
    else
        launch_team<what, order, large_team>(context, run);
    return cuda_check_launch("walking a tree");
}

/* The orders that tree_choose_cuda chooses first have loops that are unrolled. */
template <int what> static kith_status launch(kith_context *context, struct walk_run *run)
{
    if (is_by_law(run))
        return launch_order<what, order_of_law>(context, run);
    if constexpr (what == find_lists) {
        if (run->pass.rule.order == 6)
            return launch_order<what, 6>(context, run);
        if (run->pass.rule.order == 8)
            return launch_order<what, 8>(context, run);
    }
    return launch_order<what, any_order>(context, run);
}

static kith_status reserve_lists(kith_context *context, struct walk_run *run, int64_t elements)
{
    const int64_t bytes = elements * (int64_t)sizeof(int32_t);
    KITH_TRY(tree_reserve_cuda(context, bytes, "the lists of a tree", &run->walker->far));
    KITH_TRY(tree_reserve_cuda(context, bytes, "the lists of a tree", &run->walker->near));
    run->pass.far = (int32_t *)run->walker->far.memory;
    run->pass.near = (int32_t *)run->walker->near.memory;
    return KITH_OK;
}

static kith_status reserve_waiting(kith_context *context, struct walk_run *run, int64_t elements)
{
    struct tree_memory *waiting = &run->walker->waiting;
    KITH_TRY(tree_reserve_cuda(context, elements * (int64_t)sizeof(int32_t), "the lists of a tree",
                               waiting));
    run->pass.waiting = (int32_t *)waiting->memory;
    run->pass.waiting_room = waiting->bytes / (int64_t)sizeof(int32_t);
    return KITH_OK;
}

/* A pass over all targets that follows the tree, again with more room if there was too little. */
template <int what>
static kith_status pass_over(kith_context *context, struct walk_run *run,
                             struct tree_meanwhile meanwhile)
{
    struct walk_totals *totals = &run->totals;
    do {
        KITH_TRY(cuda_check(cudaMemsetAsync(run->pass.ready, 0,
                                            (size_t)run->cells * sizeof *run->pass.ready,
                                            cuda_stream(context)),
                            "walking a tree"));
        KITH_TRY(launch<what>(context, run));
        if (meanwhile.start)
            KITH_TRY(meanwhile.start(context, meanwhile.user));
        meanwhile.start = NULL;
        KITH_TRY(cuda_copy_out(context, totals, run->pass.totals, sizeof *totals));
        if (totals->stack_failed)
            return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the lists of a tree walk");
        const int64_t twice = 2 * run->pass.waiting_room, found = (int64_t)totals->waiting;
        if (totals->waiting_failed)
            KITH_TRY(reserve_waiting(context, run, twice > found ? twice : found));
    } while (totals->waiting_failed);
    return KITH_OK;
}

/* before[k] = the sums of the counts of the cells below k, 0 ≤ k ≤ cells. */
static kith_status scan_counts(kith_context *context, int32_t cells, struct list_counts *counts,
                               struct list_counts *before)
{
    const struct list_counts zero = {0, 0, 0};
    size_t bytes = 0;
    void *working = NULL;
    KITH_TRY(
        cuda_check(cub::DeviceScan::ExclusiveScan(NULL, bytes, counts, before, add_list_counts(),
                                                  zero, cells + 1, cuda_stream(context)),
                   "adding up counts"));
    KITH_TRY(cuda_scratch(context, (int64_t)bytes, &working));
    return cuda_check(cub::DeviceScan::ExclusiveScan(working, bytes, counts, before,
                                                     add_list_counts(), zero, cells + 1,
                                                     cuda_stream(context)),
                      "adding up counts");
}

static kith_status use_batch(kith_context *context, struct walk_run *run,
                             const struct walk_batch *batch, tree_use_lists *use, void *user)
{
    const int64_t far = batch->counts.far, near = batch->counts.near;
    const struct tree_batch lists = {
        batch->first, batch->end, run->pass.lists,           run->pass.far, run->pass.near,
        far,          near,       batch->counts.near_targets};
    if (far == 0 && near == 0)
        return KITH_OK;
    return use(context, user, &lists);
}

/* Where the lists do not all fit: as many targets at a time as do. */
static kith_status use_batches(kith_context *context, struct walk_run *run, tree_use_lists *use,
                               void *user)
{
    struct tree_walker_cuda *walker = run->walker;
    const int32_t cells = run->cells;
    const int64_t each = (cells + 1) * (int64_t)sizeof(struct list_counts);
    const int64_t of_batches = (cells + 1) * (int64_t)sizeof(struct walk_batch);
    KITH_TRY(tree_reserve_cuda(context, 2 * each, "the lists of a tree", &walker->counts));
    KITH_TRY(tree_reserve_cuda(context, of_batches, "the lists of a tree", &walker->batches));
    struct list_counts *counts = (struct list_counts *)walker->counts.memory;
    struct list_counts *before = counts + cells + 1;
    struct walk_batch *found = (struct walk_batch *)walker->batches.memory;
    int32_t *found_count = (int32_t *)(found + cells), count = 0;
    count_lists<<<blocks_for(cells, threads), threads, 0, cuda_stream(context)>>>(
        run->pass.targets.cell, run->pass.lists, cells, counts);
    KITH_TRY(cuda_check_launch("adding up counts"));
    KITH_TRY(scan_counts(context, cells, counts, before));
    find_batches<<<1, 1, 0, cuda_stream(context)>>>(before, cells, walker->list_room, found,
                                                    found_count);
    KITH_TRY(cuda_check_launch("adding up counts"));
    KITH_TRY(cuda_copy_out(context, &count, found_count, sizeof count));
    struct walk_batch *batches = NULL;
    KITH_TRY(kith_allocate(count, sizeof *batches, "the lists of a tree", &batches));
    kith_status status = cuda_copy_out(context, batches, found, count * (int64_t)sizeof *batches);
    run->pass.before = before;
    for (int32_t k = 0; k < count && status == KITH_OK; k++) {
        const int64_t far = batches[k].counts.far, near = batches[k].counts.near;
        run->pass.first = batches[k].first;
        run->pass.end = batches[k].end;
        status = reserve_lists(context, run, far > near ? far : near);
        if (status == KITH_OK)
            status = launch<fill_lists>(context, run);
        if (status == KITH_OK)
            status = use_batch(context, run, &batches[k], use, user);
    }
    free(batches);
    return status;
}

static kith_status prepare(kith_context *context, const struct tree_sides_cuda *targets,
                           struct walk_run *run)
{
    const int64_t of_small = blocks_per_multiprocessor<small_team> *
                             (int64_t)stack_room(small_team, run->source_generations);
    const int64_t of_large = blocks_per_multiprocessor<large_team> *
                             (int64_t)stack_room(large_team, run->source_generations);
    const int64_t stacks = cuda_multiprocessors(context) *
                           (of_small > of_large ? of_small : of_large) * (int64_t)sizeof(int32_t);
    const int64_t cells = run->cells, least = 1 << 20, most = 1 << 25;
    const int64_t usual = (is_by_law(run) ? 64 : 32) * targets->tree->count;
    const char what[] = "the lists of a tree";
    struct tree_walker_cuda *walker = run->walker;
    if (walker->list_room == 0)
        walker->list_room = usual < least ? least : usual < most ? usual : most;
    const int64_t waiting = (is_by_law(run) ? 160 : 32) * cells + (1 << 16);
    KITH_TRY(tree_reserve_cuda(context, stacks, what, &walker->stack));
    KITH_TRY(tree_reserve_cuda(context, sizeof(struct walk_totals), what, &walker->totals));
    KITH_TRY(
        tree_reserve_cuda(context, cells * (int64_t)sizeof *run->pass.ready, what, &walker->ready));
    KITH_TRY(tree_reserve_cuda(context, cells * (int64_t)sizeof(struct tree_lists), what,
                               &walker->lists));
    KITH_TRY(
        reserve_waiting(context, run, waiting < walker->list_room ? waiting : walker->list_room));
    return reserve_lists(context, run, walker->list_room);
}

static struct walk_cells cells_of(const struct tree_sides_cuda *sides)
{
    return {sides->tree->cell, sides->side, sides->power, sides->tree->net_weight};
}

static kith_status begin(kith_context *context, const struct tree_sides_cuda *targets,
                         const struct tree_sides_cuda *sources, struct walk_run *run)
{
    struct tree_walker_cuda *walker = run->walker;
    struct walk_pass *pass = &run->pass;
    run->cells = targets->tree->cell_count;
    run->source_generations = sources->tree->generations;
    KITH_TRY(prepare(context, targets, run));
    pass->self = targets->tree == sources->tree;
    pass->range = targets->range;
    pass->targets = cells_of(targets);
    pass->sources = cells_of(sources);
    pass->first = 0;
    pass->end = run->cells;
    pass->totals = (struct walk_totals *)walker->totals.memory;
    pass->lists = (struct tree_lists *)walker->lists.memory;
    pass->ready = (unsigned long long *)walker->ready.memory;
    pass->list_room = walker->list_room;
    pass->stack = (int32_t *)walker->stack.memory;
    pass->stack_room =
        stack_room(has_small_teams(run) ? small_team : large_team, run->source_generations);
    return KITH_OK;
}

kith_status tree_walk_cuda(kith_context *context, const struct tree_rule *rule,
                           const struct tree_sides_cuda *targets,
                           const struct tree_sides_cuda *sources, tree_use_lists *use, void *user,
                           struct tree_walker_cuda *walker, struct tree_counts *counts)
{
    struct walk_run run = {};
    run.walker = walker;
    run.pass.rule = *rule;
    if (rule->decay)
        run.pass.bins.decay = *rule->decay;
    KITH_TRY(begin(context, targets, sources, &run));
    KITH_TRY(pass_over<find_lists>(context, &run, {}));
    const struct walk_totals *totals = &run.totals;
    counts->far = (int64_t)totals->expansions;
    counts->near_pairs = (int64_t)totals->pairs;
    const struct walk_batch all = {
        0, run.cells, {(int64_t)totals->far, (int64_t)totals->near, (int64_t)totals->near_targets}};
    if (all.counts.far <= walker->list_room && all.counts.near <= walker->list_room)
        return use_batch(context, &run, &all, use, user);
    return use_batches(context, &run, use, user);
}

kith_status tree_find_field_cuda(kith_context *context, double softening2, enum expansion_law law,
                                 const struct tree_law_bins *bins,
                                 const struct tree_sides_cuda *targets,
                                 const struct tree_sides_cuda *sources,
                                 const struct tree_meanwhile *meanwhile,
                                 struct tree_walker_cuda *walker, struct tree_side *target_side)
{
    const struct octree_cuda *tree = targets->tree;
    struct walk_run run = {};
    KITH_TRY(tree_reserve_cuda(context, tree->cell_count * (int64_t)sizeof(struct tree_pull),
                               "fields of a tree", &walker->pulls));
    run.walker = walker;
    run.pass.rule.walk = tree_walk_one_way;
    run.pass.rule.theta = TREE_FIELD_THETA;
    run.pass.softening2 = softening2;
    run.pass.law = law;
    if (bins)
        run.pass.bins = *bins;
    run.pass.pulls = (struct tree_pull *)walker->pulls.memory;
    KITH_TRY(begin(context, targets, sources, &run));
    KITH_TRY(pass_over<sum_pulls>(context, &run, *meanwhile));
    return tree_find_scales_cuda(context, tree, run.pass.pulls, target_side);
}
