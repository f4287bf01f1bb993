#include "tree/missing_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "tree/accept_kernel.h"

enum { pairs_of_task = 64 };

/* Of one thread: a pair, and what is below it. */
static const double seconds_of_pair = 2e-6;

/* A part of the pairs, and what it finds. */
struct part {
    int64_t begin, end;
    struct cell_list waiting; /* sources that a target leaves to its children, by generations */
    struct cell_list open;    /* sources of one target that are to be decided about */
    struct tree_pair_list missing, of_branches;
    bool failed;
};

struct missing_run {
    const struct tree_rule *rule;
    tree_accept_kernel *accept;
    const struct tree_essential *targets;
    struct tree_essential *sources;
    const struct tree_pair_list *pairs;
    struct part *parts;
    bool stops_at_branches; /* whose pairs are kept for later */
};

static bool push_pair(struct tree_pair_list *list, int32_t target, int32_t source)
{
    if (list->count == list->room) {
        const int64_t room = 2 * list->room + 256;
        struct tree_cell_pair *grown = realloc(list->pair, (size_t)room * sizeof *grown);
        if (!grown)
            return false;
        list->pair = grown;
        list->room = room;
    }
    list->pair[list->count++] = (struct tree_cell_pair){target, source};
    return true;
}

/* Those of this rank and of none are no targets and sources. */
static bool is_target(const struct missing_run *run, int32_t cell)
{
    const uint8_t kind = run->targets->kind[cell];
    return kind == tree_own || kind == tree_above_own;
}

static bool is_source(const struct tree_essential *sources, int32_t cell)
{
    return sources->kind[cell] != tree_own;
}

static void split(struct missing_run *run, struct part *part, int32_t target, int32_t source)
{
    const struct octree_cell *cell = &run->sources->tree.cell[source];
    if (cell->child == octree_absent) {
        tree_flag(&run->sources->wanted[source]);
        part->failed |= !push_pair(&part->missing, target, source);
        return;
    }
    for (int32_t child = cell->child; child < cell->child + cell->children; child++)
        if (is_source(run->sources, child))
            part->failed |= !cell_list_push(&part->open, child);
}

static void place(struct missing_run *run, struct part *part, int32_t target, int32_t source,
                  enum tree_verdict verdict)
{
    switch (tree_essential_place(run->targets, target, run->sources, source, verdict)) {
    case tree_far:
    case tree_point:
        tree_flag(&run->sources->far[source]);
        break;
    case tree_near_leaves:
    case tree_bodies:
        tree_flag(&run->sources->near[source]);
        break;
    case tree_split_source:
        split(run, part, target, source);
        break;
    case tree_left_to_children:
        part->failed |= !cell_list_push(&part->waiting, source);
    }
}

static const double *powers_of(const struct missing_run *run, int32_t target)
{
    const struct tree_essential *targets = run->targets;
    return targets->power ? targets->power + (int64_t)target * targets->terms : NULL;
}

/* Decides about the open sources from k on, some at a time; returns how many. */
static int64_t decide(struct missing_run *run, struct part *part, int32_t target, int64_t k)
{
    const int64_t left = part->open.count - k;
    const int32_t count = left < accept_lanes ? (int32_t)left : accept_lanes;
    int32_t cells[accept_lanes];
    uint8_t verdicts[accept_lanes];
    memcpy(cells, part->open.cell + k, (size_t)count * sizeof *cells);
    const bool is_leaf = run->targets->tree.cell[target].children == 0;
    run->accept(run->rule, &run->targets->side[target], powers_of(run, target), is_leaf,
                run->sources->side, run->sources->power, cells, count, verdicts);
    for (int32_t lane = 0; lane < count; lane++)
        place(run, part, target, cells[lane], (enum tree_verdict)verdicts[lane]);
    return count;
}

/* The sources of a target are those of part->waiting from `waiting` on. */
static void visit(struct missing_run *run, struct part *part, int32_t target, int64_t waiting)
{
    const struct octree_cell *cell = &run->targets->tree.cell[target];
    const int64_t end = part->waiting.count;
    if (!is_target(run, target))
        return;
    if (run->stops_at_branches && run->targets->kind[target] == tree_own) {
        for (int64_t k = waiting; k < end; k++)
            part->failed |= !push_pair(&part->of_branches, target, part->waiting.cell[k]);
        return;
    }
    part->open.count = 0;
    for (int64_t k = waiting; k < end; k++)
        part->failed |= !cell_list_push(&part->open, part->waiting.cell[k]);
    for (int64_t k = 0; k < part->open.count && !part->failed;)
        k += decide(run, part, target, k);
    for (int32_t k = 0; k < cell->children && part->waiting.count > end && !part->failed; k++)
        visit(run, part, cell->child + k, end);
    part->waiting.count = end;
}

static void visit_part(void *argument, int64_t k)
{
    struct missing_run *run = argument;
    struct part *part = &run->parts[k];
    const struct tree_cell_pair *pair = run->pairs->pair;
    for (int64_t begin = part->begin, end; begin < part->end && !part->failed; begin = end) {
        const int32_t target = pair[begin].target;
        part->waiting.count = 0;
        for (end = begin; end < part->end && pair[end].target == target; end++)
            part->failed |= !cell_list_push(&part->waiting, pair[end].source);
        visit(run, part, target, 0);
    }
}

/* The pairs of the parts, in their order. */
static kith_status collect(struct missing_run *run, int64_t parts, struct tree_pair_list *missing,
                           struct tree_pair_list *of_branches)
{
    bool failed = false;
    for (int64_t k = 0; k < parts; k++) {
        struct part *part = &run->parts[k];
        failed |= part->failed;
        for (int64_t i = 0; i < part->missing.count && !failed; i++)
            failed |=
                !push_pair(missing, part->missing.pair[i].target, part->missing.pair[i].source);
        for (int64_t i = 0; i < part->of_branches.count && !failed; i++)
            failed |= !push_pair(of_branches, part->of_branches.pair[i].target,
                                 part->of_branches.pair[i].source);
        free(part->waiting.cell);
        free(part->open.cell);
        free(part->missing.pair);
        free(part->of_branches.pair);
    }
    free(run->parts);
    run->parts = NULL;
    return failed ? kith_fail(KITH_OUT_OF_MEMORY, "no memory for the lists of a tree walk")
                  : KITH_OK;
}

/* Decides about the pairs of run->pairs. */
static kith_status decide_all(kith_context *context, struct missing_run *run,
                              struct tree_pair_list *missing, struct tree_pair_list *of_branches)
{
    const int64_t pairs = run->pairs->count, parts = (pairs + pairs_of_task - 1) / pairs_of_task;
    KITH_TRY(kith_allocate(parts, sizeof *run->parts, "a tree walk", &run->parts));
    for (int64_t k = 0; k < parts; k++) {
        const int64_t end = (k + 1) * pairs_of_task;
        run->parts[k].begin = k * pairs_of_task;
        run->parts[k].end = end < pairs ? end : pairs;
    }
    const kith_status status =
        kith_for_each(context, kith_threads_for(context, seconds_of_pair * (double)pairs), parts,
                      visit_part, run);
    const kith_status collected = collect(run, parts, missing, of_branches);
    return status == KITH_OK ? collected : status;
}

kith_status tree_find_missing(kith_context *context, const struct tree_rule *rule,
                              const struct tree_essential *targets, struct tree_essential *sources,
                              struct tree_pair_list *pairs)
{
    struct tree_pair_list missing = {0}, of_branches = {0};
    struct missing_run run = {.rule = rule,
                              .accept = tree_accept_kernel_of(context->isa),
                              .targets = targets,
                              .sources = sources,
                              .pairs = pairs,
                              .stops_at_branches = true};
    kith_status status = decide_all(context, &run, &missing, &of_branches);
    run.stops_at_branches = false;
    run.pairs = &of_branches;
    if (status == KITH_OK)
        status = decide_all(context, &run, &missing, NULL);
    free(pairs->pair);
    free(of_branches.pair);
    *pairs = missing;
    return status;
}

kith_status tree_pairs_begin(const struct tree_essential *targets,
                             const struct tree_essential *sources, struct tree_pair_list *pairs)
{
    pairs->count = 0;
    if (targets->base == 0)
        return KITH_OK;
    for (int32_t root = sources->first_root; root < sources->first_root + sources->roots; root++)
        if (is_source(sources, root) && !push_pair(pairs, 0, root))
            return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a tree walk");
    return KITH_OK;
}

kith_status tree_pairs_descend(const struct tree_essential *sources, struct tree_pair_list *pairs)
{
    struct tree_pair_list below = {0};
    bool failed = false;
    for (int64_t k = 0; k < pairs->count && !failed; k++) {
        const struct octree_cell *cell = &sources->tree.cell[pairs->pair[k].source];
        for (int32_t child = cell->child; child < cell->child + cell->children; child++)
            failed |= !push_pair(&below, pairs->pair[k].target, child);
    }
    free(pairs->pair);
    *pairs = below;
    return failed ? kith_fail(KITH_OUT_OF_MEMORY, "no memory for the lists of a tree walk")
                  : KITH_OK;
}
