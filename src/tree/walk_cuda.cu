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

kith_status tree_make_sides_cuda(kith_context *context, const struct octree_cuda *tree,
                                 struct tree_side *side)
{
    if (tree->cell_count == 0)
        return KITH_OK;
    make_sides<<<blocks_for(tree->cell_count, threads), threads, 0, cuda_stream(context)>>>(
        tree->cell, tree->sphere, tree->weight_sum, tree->cell_count, side);
    return cuda_check_launch("measuring the cells of a tree");
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
        &walker->lists,  &walker->waiting[0], &walker->waiting[1], &walker->far,   &walker->near,
        &walker->counts, &walker->offsets,    &walker->stack,      &walker->pulls, &walker->failed};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        cuda_release(context, memory[k]->memory);
    *walker = {};
}

/* A walk of all generations. */
struct walk_run {
    struct tree_walker_cuda *walker;
    const struct octree_cuda *tree; /* of the targets */
    struct walk_pass pass;
    tree_use_lists *use; /* NULL: the field pass */
    void *user;
    int32_t source_generations;
    int32_t cells;                 /* of the generation */
    int32_t used;                  /* target cells whose lists were used */
    int64_t far_there, near_there; /* in the lists, not used yet */
    struct walk_counts all;
};

/* `team` sources at a time become at most eight times as many; of each generation of theirs seven
 * eighths stay. */
static int32_t stack_room(int team, int32_t source_generations)
{
    return team * (8 + 7 * source_generations);
}

template <int team>
static void launch_teams(cudaStream_t stream, enum what what, int teams, int32_t source_generations,
                         struct walk_pass pass)
{
    const int block = team == warp_team ? threads : block_team;
    const int grid = (int)blocks_for(teams, block / team);
    pass.stack_room = stack_room(team, source_generations);
    switch (what) {
    case count_lists:
        walk_generation<count_lists, team><<<grid, block, 0, stream>>>(pass);
        break;
    case fill_lists:
        walk_generation<fill_lists, team><<<grid, block, 0, stream>>>(pass);
        break;
    case count_waiting:
        walk_generation<count_waiting, team><<<grid, block, 0, stream>>>(pass);
        break;
    default:
        walk_generation<sum_pulls, team><<<grid, block, 0, stream>>>(pass);
    }
}

static kith_status launch(kith_context *context, const struct walk_run *run, enum what what,
                          int32_t cells_of_generation)
{
    const cudaStream_t stream = cuda_stream(context);
    const int32_t cells = run->pass.end - run->pass.first;
    const int multiprocessors = cuda_multiprocessors(context);
    const bool by_blocks = cells_of_generation < fewest_cells_of_warps;
    const int most = multiprocessors *
                     (by_blocks ? (int)blocks_per_multiprocessor : (int)warps_per_multiprocessor);
    const int teams = cells < most ? cells : most;
    if (by_blocks)
        launch_teams<block_team>(stream, what, teams, run->source_generations, run->pass);
    else
        launch_teams<warp_team>(stream, what, teams, run->source_generations, run->pass);
    return cuda_check_launch("walking a tree");
}

/* before[k] = the sums of counts below k, 0 ≤ k ≤ cells. */
static kith_status scan_counts(kith_context *context, int32_t cells,
                               const struct walk_counts *counts, struct walk_counts *before)
{
    const struct walk_counts zero = {0, 0, 0, 0, 0};
    size_t bytes = 0;
    void *working = NULL;
    KITH_TRY(cuda_check(cub::DeviceScan::ExclusiveScan(NULL, bytes, counts, before, add_counts(),
                                                       zero, cells + 1, cuda_stream(context)),
                        "adding up counts"));
    KITH_TRY(cuda_scratch(context, (int64_t)bytes, &working));
    return cuda_check(cub::DeviceScan::ExclusiveScan(working, bytes, counts, before, add_counts(),
                                                     zero, cells + 1, cuda_stream(context)),
                      "adding up counts");
}

/* Uses the lists of all cells before `end` that were not used. */
static kith_status use_lists(kith_context *context, struct walk_run *run, int32_t end)
{
    if (end > run->used)
        KITH_TRY(run->use(context, run->user, run->used, end,
                          (const struct tree_lists *)run->walker->lists.memory, run->pass.far,
                          run->pass.near));
    run->used = end;
    run->far_there = run->near_there = 0;
    return KITH_OK;
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

/* Fills in the lists of the cells first … end − 1 of the generation, of which the counts before
 * each are known; they are appended. */
static kith_status fill_part(kith_context *context, struct walk_run *run, int32_t first,
                             int32_t end, const struct walk_counts *from,
                             const struct walk_counts *to)
{
    struct walk_pass *pass = &run->pass;
    pass->first = first;
    pass->end = end;
    pass->far_base = from->far - run->far_there;
    pass->near_base = from->near - run->near_there;
    KITH_TRY(launch(context, run, fill_lists, run->cells));
    run->far_there += to->far - from->far;
    run->near_there += to->near - from->near;
    return KITH_OK;
}

/* A generation that has more than there is room for: as many cells at a time as there is. */
static kith_status fill_parts(kith_context *context, struct walk_run *run, int32_t first,
                              int32_t end)
{
    const int32_t cells = end - first;
    struct walk_counts *before = NULL;
    KITH_TRY(kith_allocate(cells + 1, sizeof *before, "the lists of a tree", &before));
    kith_status status =
        cuda_copy_out(context, before, run->pass.before, (cells + 1) * (int64_t)sizeof *before);
    for (int32_t k = 0; k < cells && status == KITH_OK;) {
        const struct walk_counts *from = &before[k];
        int32_t next = k + 1;
        while (next < cells && before[next + 1].far - from->far <= run->walker->list_room &&
               before[next + 1].near - from->near <= run->walker->list_room)
            next++;
        const int64_t far = before[next].far - from->far, near = before[next].near - from->near;
        status = reserve_lists(context, run, far > near ? far : near);
        if (status == KITH_OK)
            status = fill_part(context, run, first + k, first + next, from, &before[next]);
        if (status == KITH_OK)
            status = use_lists(context, run, first + next);
        k = next;
    }
    free(before);
    return status;
}

static kith_status fill_generation(kith_context *context, struct walk_run *run, int32_t first,
                                   int32_t end, const struct walk_counts *all)
{
    static const struct walk_counts none = {0, 0, 0, 0, 0};
    const int64_t room = run->walker->list_room;
    if (!run->use) {
        run->pass.first = first;
        run->pass.end = end;
        return launch(context, run, sum_pulls, run->cells);
    }
    if (run->far_there + all->far > room || run->near_there + all->near > room)
        KITH_TRY(use_lists(context, run, first));
    if (all->far > room || all->near > room)
        return fill_parts(context, run, first, end);
    KITH_TRY(reserve_lists(context, run, room));
    return fill_part(context, run, first, end, &none, all);
}

static kith_status walk_one_generation(kith_context *context, struct walk_run *run, int32_t g)
{
    struct tree_walker_cuda *walker = run->walker;
    struct walk_pass *pass = &run->pass;
    const int32_t first = run->tree->generation[g], end = run->tree->generation[g + 1];
    struct tree_memory *out = &walker->waiting[g % 2];
    pass->generation = pass->first = first;
    pass->end = end;
    pass->far_base = pass->near_base = 0;
    pass->waiting_in = (const int32_t *)walker->waiting[(g + 1) % 2].memory;
    run->cells = end - first;
    KITH_TRY(launch(context, run, run->use ? count_lists : count_waiting, run->cells));
    KITH_TRY(scan_counts(context, end - first, pass->counts,
                         (struct walk_counts *)walker->offsets.memory));
    struct walk_counts all;
    KITH_TRY(cuda_copy_out(context, &all, pass->before + (end - first), sizeof all));
    const int64_t wanted = all.waiting * (int64_t)sizeof(int32_t);
    if (wanted > out->bytes)
        KITH_TRY(tree_reserve_cuda(context, wanted + wanted / 2, "the lists of a tree", out));
    pass->waiting_out = (int32_t *)out->memory;
    run->all = add_counts()(run->all, all);
    return fill_generation(context, run, first, end, &all);
}

static kith_status prepare(kith_context *context, const struct walk_run *run)
{
    const int64_t of_warps =
        (int64_t)warps_per_multiprocessor * stack_room(warp_team, run->source_generations);
    const int64_t of_blocks =
        (int64_t)blocks_per_multiprocessor * stack_room(block_team, run->source_generations);
    const int64_t stacks = cuda_multiprocessors(context) *
                           (of_warps > of_blocks ? of_warps : of_blocks) * (int64_t)sizeof(int32_t);
    const int64_t cells = run->tree->cell_count, each = (cells + 1) * (int64_t)sizeof run->all;
    const char what[] = "the lists of a tree";
    struct tree_walker_cuda *walker = run->walker;
    KITH_TRY(tree_reserve_cuda(context, stacks, what, &walker->stack));
    KITH_TRY(tree_reserve_cuda(context, sizeof(int32_t), what, &walker->failed));
    KITH_TRY(tree_reserve_cuda(context, each, what, &walker->counts));
    KITH_TRY(tree_reserve_cuda(context, each, what, &walker->offsets));
    KITH_TRY(tree_reserve_cuda(context, cells * (int64_t)sizeof(struct tree_lists), what,
                               &walker->lists));
    KITH_TRY(cuda_check(
        cudaMemsetAsync(walker->failed.memory, 0, sizeof(int32_t), cuda_stream(context)), what));
    if (walker->list_room == 0) {
        const int64_t least = 1 << 20, most = 1 << 25, usual = 16 * run->tree->count;
        walker->list_room = usual < least ? least : usual < most ? usual : most;
    }
    return KITH_OK;
}

static struct walk_cells cells_of(const struct tree_sides_cuda *sides)
{
    return {sides->tree->cell, sides->side, sides->power, sides->tree->net_weight};
}

static kith_status walk(kith_context *context, const struct tree_sides_cuda *targets,
                        const struct tree_sides_cuda *sources, struct walk_run *run)
{
    struct tree_walker_cuda *walker = run->walker;
    struct walk_pass *pass = &run->pass;
    run->tree = targets->tree;
    run->source_generations = sources->tree->generations;
    KITH_TRY(prepare(context, run));
    pass->self = targets->tree == sources->tree;
    pass->range = targets->range;
    pass->targets = cells_of(targets);
    pass->sources = cells_of(sources);
    pass->counts = (struct walk_counts *)walker->counts.memory;
    pass->before = (const struct walk_counts *)walker->offsets.memory;
    pass->lists = (struct tree_lists *)walker->lists.memory;
    pass->stack = (int32_t *)walker->stack.memory;
    pass->failed = (int32_t *)walker->failed.memory;
    for (int32_t g = 0; g < targets->tree->generations; g++)
        KITH_TRY(walk_one_generation(context, run, g));
    if (run->use)
        KITH_TRY(use_lists(context, run, targets->tree->cell_count));
    int32_t failed = 0;
    KITH_TRY(cuda_copy_out(context, &failed, walker->failed.memory, sizeof failed));
    return failed ? kith_fail(KITH_OUT_OF_MEMORY, "no memory for the lists of a tree walk")
                  : KITH_OK;
}

kith_status tree_walk_cuda(kith_context *context, const struct tree_rule *rule,
                           const struct tree_sides_cuda *targets,
                           const struct tree_sides_cuda *sources, tree_use_lists *use, void *user,
                           struct tree_walker_cuda *walker, struct tree_counts *counts)
{
    struct walk_run run = {};
    run.walker = walker;
    run.use = use;
    run.user = user;
    run.pass.rule = *rule;
    KITH_TRY(walk(context, targets, sources, &run));
    counts->far = run.all.expansions;
    counts->near_pairs = run.all.pairs;
    return KITH_OK;
}

kith_status tree_find_field_cuda(kith_context *context, double softening2, enum expansion_law law,
                                 const struct tree_sides_cuda *targets,
                                 const struct tree_sides_cuda *sources,
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
    run.pass.pulls = (struct tree_pull *)walker->pulls.memory;
    KITH_TRY(walk(context, targets, sources, &run));
    for (int32_t g = tree->generations - 1; g >= 0; g--) {
        const int32_t first = tree->generation[g], end = tree->generation[g + 1];
        gather_scales<<<blocks_for(end - first, threads), threads, 0, cuda_stream(context)>>>(
            tree->cell, run.pass.pulls, first, end, target_side);
    }
    return cuda_check_launch("finding the field of a tree");
}
