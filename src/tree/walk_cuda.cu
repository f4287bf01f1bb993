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

void tree_walker_free_cuda(kith_context *context, struct tree_walker_cuda *walker)
{
    const struct tree_memory *const memory[] = {
        &walker->lists,   &walker->waiting, &walker->far,   &walker->near,   &walker->counts,
        &walker->batches, &walker->stack,   &walker->pulls, &walker->totals, &walker->spans};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        cuda_release(context, memory[k]->memory);
    for (int k = 0; k < tree_list_count; k++)
        tree_parts_free_cuda(context, &walker->parts[k]);
    *walker = {};
}

/* Of the passes over all targets the first may be left out. */
enum pass { of_field, of_lists, passes };

struct walk_run {
    struct tree_walker_cuda *walker;
    const struct octree_cuda *tree; /* of the targets */
    int64_t points;                 /* of the targets */
    int32_t cells;
    int32_t source_generations;
    bool has_meanwhile; /* has been started */
    struct walk_pass pass;
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
static kith_status launch_order(kith_context *context, const struct walk_run *run)
{
    if (has_small_teams(run))
        launch_team<what, order, small_team>(context, run);
    else
        launch_team<what, order, what == sum_pulls ? middle_team : large_team>(context, run);
    return cuda_check_launch("walking a tree");
}

/* The orders that tree_choose_cuda chooses first have loops that are unrolled. */
template <int what> static kith_status launch(kith_context *context, const struct walk_run *run)
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

static kith_status reserve_waiting(kith_context *context, struct tree_walker_cuda *walker,
                                   int64_t elements)
{
    return tree_reserve_cuda(context, elements * (int64_t)sizeof(int32_t), "the lists of a tree",
                             &walker->waiting);
}

static kith_status clear(kith_context *context, void *memory, int64_t bytes)
{
    return cuda_check(cudaMemsetAsync(memory, 0, (size_t)bytes, cuda_stream(context)),
                      "walking a tree");
}

static bool is_partial(const struct walk_run *run)
{
    return run->pass.range.first > 0 || run->pass.range.end < run->points;
}

/* Of the pass's cells, where not all have points in the range. */
static kith_status set_spans(kith_context *context, struct walk_run *run)
{
    struct generations generations = {run->tree->generations, {}};
    run->pass.spans = NULL;
    if (!is_partial(run))
        return KITH_OK;
    for (int32_t g = 0; g <= generations.count; g++)
        generations.first[g] = run->tree->generation[g];
    struct tree_memory *memory = &run->walker->spans;
    KITH_TRY(tree_reserve_cuda(context, sizeof(struct walk_spans), "the lists of a tree", memory));
    find_spans<<<1, span_threads, 0, cuda_stream(context)>>>(
        run->pass.targets.cell, generations, run->pass.first, run->pass.end, run->pass.range,
        (struct walk_spans *)memory->memory);
    run->pass.spans = (const struct walk_spans *)memory->memory;
    return cuda_check_launch("walking a tree");
}

/* The lists of the targets first … end − 1 in parts. */
static kith_status divide(kith_context *context, const struct walk_run *run, int64_t far,
                          int64_t near, struct tree_parts parts[tree_list_count])
{
    struct tree_walker_cuda *walker = run->walker;
    const struct walk_pass *pass = &run->pass;
    struct tree_list_division division = {};
    division.first = pass->first;
    division.end = pass->end;
    division.cells = pass->targets.cell;
    division.lists = pass->lists;
    division.elements[tree_list_far] = far;
    division.elements[tree_list_near] = near;
    division.counts = pass->totals->parts;
    bool has = false;
    for (int k = 0; k < tree_list_count; k++) {
        division.has[k] = walker->divides[k];
        has = has || walker->divides[k];
        parts[k] = {};
    }
    return has ? tree_divide_cuda(context, &division, walker->parts, parts) : KITH_OK;
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

static kith_status use_batch(kith_context *context, const struct walk_run *run, int64_t far,
                             int64_t near, const struct tree_parts parts[tree_list_count],
                             tree_use_lists *use, void *user)
{
    struct tree_batch lists = {};
    lists.first = run->pass.first;
    lists.end = run->pass.end;
    lists.lists = run->pass.lists;
    lists.far = run->pass.far;
    lists.near = run->pass.near;
    lists.far_count = far;
    lists.near_count = near;
    for (int k = 0; k < tree_list_count; k++)
        lists.parts[k] = parts[k];
    return far == 0 && near == 0 ? KITH_OK : use(context, user, &lists);
}

/* Two and more parts of a list are at least half full. */
static int64_t most_slots(int64_t targets, int32_t elements_of_part)
{
    return 2 * targets / elements_of_part;
}

static kith_status fill_batch(kith_context *context, struct walk_run *run,
                              const struct walk_batch *batch, tree_use_lists *use, void *user)
{
    const int64_t far = batch->counts.far, near = batch->counts.near;
    const int32_t cells = batch->end - batch->first;
    struct tree_parts parts[tree_list_count];
    run->pass.first = batch->first;
    run->pass.end = batch->end;
    KITH_TRY(reserve_lists(context, run, far > near ? far : near));
    KITH_TRY(clear(context, run->pass.totals, sizeof *run->pass.totals));
    KITH_TRY(set_spans(context, run));
    KITH_TRY(launch<fill_lists>(context, run));
    KITH_TRY(divide(context, run, far, near, parts));
    parts[tree_list_far].most = cells + far / tree_far_of_part;
    parts[tree_list_far].slots = most_slots(far, tree_far_of_part);
    parts[tree_list_near].most = cells + near / tree_near_of_part;
    parts[tree_list_near].slots = most_slots(batch->counts.near_targets, tree_near_of_part);
    return use_batch(context, run, far, near, parts, use, user);
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
    for (int32_t k = 0; k < count && status == KITH_OK; k++)
        status = fill_batch(context, run, &batches[k], use, user);
    free(batches);
    return status;
}

/* The totals of both passes, and what is ready in each. */
static int64_t bytes_of_totals(int64_t cells)
{
    return passes * (int64_t)(sizeof(struct walk_totals) + cells * sizeof(unsigned long long));
}

static kith_status prepare(kith_context *context, struct walk_run *run)
{
    const int64_t of_small = blocks_per_multiprocessor<small_team> *
                             (int64_t)stack_room(small_team, run->source_generations);
    const int64_t of_large = blocks_per_multiprocessor<large_team> * /* and of middle ones */
                             (int64_t)stack_room(large_team, run->source_generations);
    const int64_t stacks = cuda_multiprocessors(context) *
                           (of_small > of_large ? of_small : of_large) * (int64_t)sizeof(int32_t);
    const int64_t cells = run->cells, least = 1 << 20, most = 1 << 25;
    const int64_t usual = (is_by_law(run) ? 64 : 32) * run->points;
    const char what[] = "the lists of a tree";
    struct tree_walker_cuda *walker = run->walker;
    if (walker->list_room == 0)
        walker->list_room = usual < least ? least : usual < most ? usual : most;
    const int64_t waiting = (is_by_law(run) ? 160 : 32) * cells + (1 << 16);
    KITH_TRY(tree_reserve_cuda(context, stacks, what, &walker->stack));
    KITH_TRY(tree_reserve_cuda(context, bytes_of_totals(cells), what, &walker->totals));
    KITH_TRY(tree_reserve_cuda(context, cells * (int64_t)sizeof(struct tree_lists), what,
                               &walker->lists));
    KITH_TRY(reserve_waiting(context, walker,
                             waiting < walker->list_room ? waiting : walker->list_room));
    return reserve_lists(context, run, walker->list_room);
}

static struct walk_cells cells_of(const struct tree_sides_cuda *sides)
{
    return {sides->tree->cell, sides->side, sides->power, sides->tree->net_weight};
}

static struct walk_run run_for(const struct tree_sides_cuda *targets,
                               const struct tree_sides_cuda *sources,
                               struct tree_walker_cuda *walker)
{
    struct walk_run run = {};
    run.walker = walker;
    run.tree = targets->tree;
    run.points = targets->tree->count;
    run.cells = targets->tree->cell_count;
    run.source_generations = sources->tree->generations;
    run.pass.self = targets->side == sources->side;
    run.pass.first_root = sources->first_root;
    run.pass.roots = sources->roots;
    run.pass.targets = cells_of(targets);
    run.pass.sources = cells_of(sources);
    run.pass.end = run.cells;
    return run;
}

/* The walker's memory to a pass. */
static void use_memory(enum pass pass, struct walk_run *run)
{
    const struct tree_walker_cuda *walker = run->walker;
    struct walk_pass *to = &run->pass;
    struct walk_totals *totals = (struct walk_totals *)walker->totals.memory;
    to->totals = totals + pass;
    to->lists = (struct tree_lists *)walker->lists.memory;
    to->ready = (unsigned long long *)(totals + passes) + (int64_t)pass * run->cells;
    to->waiting = (int32_t *)walker->waiting.memory;
    to->waiting_room = walker->waiting.bytes / (int64_t)sizeof(int32_t);
    to->far = (int32_t *)walker->far.memory;
    to->near = (int32_t *)walker->near.memory;
    to->list_room = walker->list_room;
    to->stack = (int32_t *)walker->stack.memory;
    const int few = pass == of_field ? middle_team : large_team;
    to->stack_room = stack_room(has_small_teams(run) ? small_team : few, run->source_generations);
    to->pulls = (struct tree_pull *)walker->pulls.memory;
}

static kith_status prepare_field(kith_context *context, const struct tree_field_cuda *field,
                                 struct walk_run *run)
{
    KITH_TRY(tree_reserve_cuda(context, run->cells * (int64_t)sizeof(struct tree_pull),
                               "fields of a tree", &run->walker->pulls));
    run->pass.rule.walk = tree_walk_one_way;
    run->pass.rule.theta = TREE_FIELD_THETA;
    run->pass.range = {0, INT32_MAX};
    run->pass.softening2 = field->softening2;
    run->pass.law = field->law;
    if (field->bins)
        run->pass.bins = *field->bins;
    return prepare(context, run);
}

static kith_status find_field(kith_context *context, const struct tree_field_cuda *field,
                              const struct tree_sides_cuda *targets, const struct walk_run *run,
                              bool is_first)
{
    const struct tree_meanwhile *meanwhile = &field->meanwhile;
    const bool has_more = is_first && meanwhile->start;
    if (!is_first) /* scales are lowered */
        KITH_TRY(tree_make_sides_cuda(context, targets->tree, true, field->target_side));
    KITH_TRY(launch<sum_pulls>(context, run));
    kith_status status = has_more ? meanwhile->start(context, meanwhile->user) : KITH_OK;
    if (status == KITH_OK)
        status = tree_find_scales_cuda(context, targets->tree, run->pass.pulls, field->target_side);
    if (has_more)
        KITH_TRY(meanwhile->join(context, meanwhile->user));
    return status;
}

/* Of a pass that had too little. */
static kith_status make_more_room(kith_context *context, const struct walk_run *run,
                                  const struct walk_totals *found)
{
    const int64_t twice = 2 * run->pass.waiting_room, wanted = (int64_t)found->waiting;
    if (found->stack_failed)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the lists of a tree walk");
    return found->waiting_failed
               ? reserve_waiting(context, run->walker, twice > wanted ? twice : wanted)
               : KITH_OK;
}

/* The pass for a field that several devices share; its scales follow once there was room for it. */
static kith_status sum_shared_pulls(kith_context *context, const struct tree_field_cuda *field,
                                    struct walk_run *run)
{
    struct walk_totals found;
    do {
        use_memory(of_field, run);
        KITH_TRY(clear(context, run->walker->totals.memory, bytes_of_totals(run->cells)));
        KITH_TRY(launch<sum_pulls>(context, run));
        if (!run->has_meanwhile)
            KITH_TRY(field->meanwhile.start(context, field->meanwhile.user));
        run->has_meanwhile = true;
        KITH_TRY(cuda_copy_out(context, &found, run->pass.totals, sizeof found));
        KITH_TRY(make_more_room(context, run, &found));
    } while (found.waiting_failed);
    return field->share(context, run->pass.pulls, field->meanwhile.user);
}

static kith_status find_shared_field(kith_context *context, const struct tree_field_cuda *field,
                                     const struct octree_range *range, struct walk_run *run)
{
    run->pass.range = *range;
    KITH_TRY(set_spans(context, run));
    const kith_status status = sum_shared_pulls(context, field, run);
    KITH_TRY(field->meanwhile.join(context, field->meanwhile.user));
    return status;
}

/* Both passes, again with more room if one had too little: the walk is started before it is known
 * whether that for the field had enough, unless several devices share it. */
static kith_status find_all(kith_context *context, const struct tree_field_cuda *field,
                            const struct tree_sides_cuda *targets, struct walk_run runs[passes],
                            struct tree_parts parts[tree_list_count], struct walk_totals *totals)
{
    struct walk_run *run = &runs[of_lists];
    struct tree_walker_cuda *walker = run->walker;
    struct walk_totals found[passes];
    if (field && field->share) {
        KITH_TRY(find_shared_field(context, field, &targets->range, &runs[of_field]));
        field = NULL;
    }
    KITH_TRY(set_spans(context, run));
    for (bool is_first = true, again = true; again; is_first = false) {
        for (int pass = 0; pass < passes; pass++)
            use_memory((enum pass)pass, &runs[pass]);
        found[of_field] = {};
        KITH_TRY(clear(context, walker->totals.memory, bytes_of_totals(run->cells)));
        if (run->pass.spans)
            KITH_TRY(clear(context, walker->lists.memory,
                           run->cells * (int64_t)sizeof(struct tree_lists)));
        run->pass.field = field ? runs[of_field].pass.totals : NULL;
        if (field)
            KITH_TRY(find_field(context, field, targets, &runs[of_field], is_first));
        KITH_TRY(launch<find_lists>(context, run));
        KITH_TRY(divide(context, run, walker->list_room, walker->list_room, parts));
        const int first = field ? of_field : of_lists;
        KITH_TRY(cuda_copy_out(context, &found[first], runs[first].pass.totals,
                               (passes - first) * (int64_t)sizeof *found));
        again = false;
        for (int pass = first; pass < passes; pass++) {
            KITH_TRY(make_more_room(context, &runs[pass], &found[pass]));
            again = again || found[pass].waiting_failed;
        }
    }
    *totals = found[of_lists];
    return KITH_OK;
}

kith_status tree_find_field_cuda(kith_context *context, const struct tree_field_cuda *field,
                                 const struct tree_sides_cuda *targets,
                                 const struct tree_sides_cuda *sources,
                                 struct tree_walker_cuda *walker)
{
    struct walk_run run = run_for(targets, sources, walker);
    struct walk_totals found;
    KITH_TRY(prepare_field(context, field, &run));
    do {
        use_memory(of_field, &run);
        KITH_TRY(clear(context, walker->totals.memory, bytes_of_totals(run.cells)));
        KITH_TRY(find_field(context, field, targets, &run, false));
        KITH_TRY(cuda_copy_out(context, &found, run.pass.totals, sizeof found));
        KITH_TRY(make_more_room(context, &run, &found));
    } while (found.waiting_failed);
    return KITH_OK;
}

kith_status tree_walk_cuda(kith_context *context, const struct tree_rule *rule,
                           const struct tree_field_cuda *field,
                           const struct tree_sides_cuda *targets,
                           const struct tree_sides_cuda *sources, tree_use_lists *use, void *user,
                           struct tree_walker_cuda *walker, struct tree_counts *counts)
{
    struct walk_run runs[passes] = {run_for(targets, sources, walker),
                                    run_for(targets, sources, walker)};
    struct walk_run *run = &runs[of_lists];
    struct walk_totals totals;
    struct tree_parts parts[tree_list_count];
    run->pass.rule = *rule;
    run->pass.range = targets->range;
    if (rule->decay)
        run->pass.bins.decay = *rule->decay;
    if (field)
        KITH_TRY(prepare_field(context, field, &runs[of_field]));
    KITH_TRY(prepare(context, run));
    KITH_TRY(find_all(context, field, targets, runs, parts, &totals));
    counts->far = (int64_t)totals.expansions;
    counts->near_pairs = (int64_t)totals.pairs;
    const int64_t far = (int64_t)totals.far, near = (int64_t)totals.near;
    if (far > walker->list_room || near > walker->list_room)
        return use_batches(context, run, use, user);
    for (int k = 0; k < tree_list_count; k++) {
        parts[k].most = (int64_t)totals.parts[k].parts;
        parts[k].slots = (int64_t)totals.parts[k].slots;
    }
    return use_batch(context, run, far, near, parts, use, user);
}
