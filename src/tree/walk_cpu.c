/* The walk on the CPU: the top of the tree first, and then its branches, each a task. */

#include "tree/walk.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "ranks/ranks.h"
#include "tree/accept_kernel.h"
#include "tree/essential_ranks.h"
#include "tree/work_ranks.h"

struct tree_walker {
    struct cell_list
        waiting;           /* sources that a target leaves to its children, for each generation */
    struct cell_list open; /* sources of one target that are to be decided about */
    struct cell_list far, near;
    struct cell_list points, bodies; /* of one target */
    void *room;
    int64_t room_bytes;
    bool failed;
    struct tree_counts counts;
};

/* A branch (tree/division_ranks.h), and the lists that its root begins with, one after the other in
 * the walk's. */
struct task {
    int32_t cell;
    int64_t first, waiting, far, near;
};

struct walk {
    const struct tree_rule *rule;
    const struct tree_sides *targets, *sources;
    const struct tree_actions *actions;
    tree_accept_kernel *accept;
    int32_t task_points;
    struct task *tasks; /* NULL once they are known */
    int64_t task_count;
    struct cell_list lists;
    struct tree_counts *task_counts;
    _Atomic(struct tree_walker *) *spare; /* those that no task has, or NULL: one a thread */
    int32_t spare_count;
    atomic_bool failed;
};

static void push(struct tree_walker *walker, struct cell_list *list, int32_t cell)
{
    if (!cell_list_push(list, cell))
        walker->failed = true;
}

static void push_all(struct tree_walker *walker, struct cell_list *list, const int32_t *cells,
                     int64_t count)
{
    if (!cell_list_reserve(list, count)) {
        walker->failed = true;
        return;
    }
    if (count > 0)
        memcpy(list->cell + list->count, cells, (size_t)count * sizeof *cells);
    list->count += count;
}

void *tree_walker_room(struct tree_walker *walker, int64_t bytes)
{
    if (bytes > walker->room_bytes) {
        free(walker->room);
        walker->room_bytes = 0;
        walker->room = aligned_alloc(64, (size_t)(bytes + bytes / 2 + 127) / 64 * 64);
        if (walker->room)
            walker->room_bytes = bytes + bytes / 2;
        else
            walker->failed = true;
    }
    return walker->room;
}

static void free_walker(struct tree_walker *walker)
{
    free(walker->waiting.cell);
    free(walker->open.cell);
    free(walker->far.cell);
    free(walker->near.cell);
    free(walker->points.cell);
    free(walker->bodies.cell);
    free(walker->room);
}

/* A walker for a task, with what memory an earlier task left to it; NULL: no memory. */
static struct tree_walker *take_walker(struct walk *walk)
{
    for (int32_t k = 0; k < walk->spare_count; k++) {
        struct tree_walker *walker = atomic_exchange(&walk->spare[k], NULL);
        if (walker)
            return walker;
    }
    return calloc(1, sizeof(struct tree_walker));
}

static void leave_walker(struct walk *walk, struct tree_walker *walker)
{
    for (int32_t k = 0; k < walk->spare_count && walker; k++) {
        struct tree_walker *none = NULL;
        if (atomic_compare_exchange_strong(&walk->spare[k], &none, walker))
            return;
    }
    if (walker)
        free_walker(walker);
    free(walker);
}

static void free_spare(struct walk *walk)
{
    for (int32_t k = 0; k < walk->spare_count && walk->spare; k++) {
        struct tree_walker *walker = walk->spare[k];
        if (walker)
            free_walker(walker);
        free(walker);
    }
    free(walk->spare);
}

static const double *power_of(const struct walk *walk, const struct tree_sides *sides, int32_t cell)
{
    return sides->power ? sides->power + (int64_t)cell * (walk->rule->order + 1) : NULL;
}

/* Whether what is found of a target is counted by this rank. */
static bool is_counted(const struct walk *walk, int32_t target)
{
    const struct tree_essential *essential = walk->actions->targets;
    return !essential || essential->kind[target] == tree_own || essential->counts_here[target];
}

/* Of a pair that is not far. */
static bool is_split(const struct walk *walk, int32_t target, int32_t source)
{
    const struct tree_sides *targets = walk->targets, *sources = walk->sources;
    if (walk->actions->targets)
        return tree_essential_place(walk->actions->targets, target, walk->actions->sources, source,
                                    tree_is_open) == tree_split_source;
    const bool self = targets->tree == sources->tree;
    return tree_is_split(&targets->side[target], self ? target : 0,
                         targets->tree->cell[target].children, &sources->side[source],
                         self ? source : 0, sources->tree->cell[source].children);
}

/* Puts the sources of pairs that are not far where they go: each to the end of every list, which
 * then has it or not, as branches would be mispredicted. */
static void place(const struct walk *walk, struct tree_walker *walker, int32_t target,
                  const int32_t *sources, int32_t count)
{
    typedef int32_t numbers __attribute__((vector_size(32)));
    const numbers of_children = {0, 1, 2, 3, 4, 5, 6, 7};
    const struct octree_cell *cells = walk->sources->tree->cell;
    struct cell_list *const near = &walker->near, *const open = &walker->open,
                            *const waiting = &walker->waiting;
    const struct octree_cell *cell_of_target = &walk->targets->tree->cell[target];
    const int32_t is_leaf = cell_of_target->children == 0;
    int64_t points = 0;
    if (!cell_list_reserve(near, count) || !cell_list_reserve(waiting, count) ||
        !cell_list_reserve(open, count * (int64_t)(sizeof of_children / sizeof of_children[0]))) {
        walker->failed = true;
        return;
    }
    int32_t *to_near = near->cell + near->count, *to_open = open->cell + open->count,
            *to_waiting = waiting->cell + waiting->count;
    for (int32_t k = 0; k < count; k++) {
        const int32_t source = sources[k];
        const struct octree_cell *cell = &cells[source];
        const numbers children = cell->child + of_children;
        const int32_t split = is_split(walk, target, source), rest = 1 - split;
        *to_near = *to_waiting = source;
        memcpy(to_open, &children, sizeof children);
        to_near += rest & is_leaf;
        to_waiting += rest & !is_leaf;
        to_open += cell->children & -split;
        points += cell->count & -(rest & is_leaf);
    }
    near->count = to_near - near->cell;
    open->count = to_open - open->cell;
    waiting->count = to_waiting - waiting->cell;
    walker->counts.near_pairs += points * cell_of_target->count;
}

/* Puts the source of an uneven pair where it goes; false: as if it were open. */
static bool place_uneven(const struct walk *walk, struct tree_walker *walker, int32_t target,
                         int32_t source)
{
    const struct tree_side *a = &walk->targets->side[target], *b = &walk->sources->side[source];
    const struct octree_cell *cell_a = &walk->targets->tree->cell[target];
    const struct octree_cell *cell_b = &walk->sources->tree->cell[source];
    switch (tree_place_pair(a, 0, cell_a->children, b, 0, cell_b->children, tree_is_uneven)) {
    case tree_point:
        walker->counts.near_pairs += cell_a->count;
        push(walker, &walker->points, source);
        return true;
    case tree_bodies:
        walker->counts.near_pairs += is_counted(walk, target) ? cell_b->count : 0;
        push(walker, &walker->bodies, source);
        return true;
    default:
        return false;
    }
}

/* Decides about the open sources from k on, some at a time; returns how many. */
static int64_t decide(const struct walk *walk, struct tree_walker *walker, int32_t target,
                      int64_t k)
{
    enum { is_placed = tree_is_uneven + 1 };
    const struct tree_sides *targets = walk->targets, *sources = walk->sources;
    const int64_t left = walker->open.count - k;
    const int32_t count = left < accept_lanes ? (int32_t)left : accept_lanes;
    int32_t cells[accept_lanes];
    uint8_t verdicts[accept_lanes];
    if (!cell_list_reserve(&walker->far, accept_lanes)) {
        walker->failed = true;
        return count;
    }
    memcpy(cells, walker->open.cell + k, (size_t)count * sizeof *cells);
    walk->accept(walk->rule, &targets->side[target], power_of(walk, targets, target),
                 targets->tree->cell[target].children == 0, sources->side, sources->power, cells,
                 count, verdicts);
    int32_t *const far = walker->far.cell + walker->far.count, rest = 0;
    int64_t found = 0;
    if (walk->rule->as_point)
        for (int32_t lane = 0; lane < count; lane++)
            if (verdicts[lane] == tree_is_uneven && place_uneven(walk, walker, target, cells[lane]))
                verdicts[lane] = is_placed;
    for (int32_t lane = 0; lane < count; lane++) { /* without branches */
        const uint8_t verdict = verdicts[lane];
        far[found] = cells[rest] = cells[lane];
        found += verdict == tree_is_far;
        rest += (verdict != tree_is_far) & (verdict != is_placed);
    }
    walker->far.count += found;
    place(walk, walker, target, cells, rest);
    return count;
}

static void keep_for_task(struct walk *walk, struct tree_walker *walker, int32_t target,
                          int64_t waiting)
{
    const struct task task = {target, walk->lists.count, walker->waiting.count - waiting,
                              walker->far.count, walker->near.count};
    push_all(walker, &walk->lists, walker->waiting.cell + waiting, task.waiting);
    push_all(walker, &walk->lists, walker->far.cell, task.far);
    push_all(walker, &walk->lists, walker->near.cell, task.near);
    walk->tasks[walk->task_count++] = task;
}

static bool is_of_others(const struct walk *walk, int32_t target)
{
    const struct tree_essential *essential = walk->actions->targets;
    return essential &&
           (essential->kind[target] == tree_other || essential->kind[target] == tree_above_others);
}

static bool is_task(const struct walk *walk, int32_t target)
{
    const struct tree_essential *essential = walk->actions->targets;
    if (!walk->tasks)
        return false;
    return essential ? essential->kind[target] == tree_own
                     : walk->targets->tree->cell[target].count <= walk->task_points;
}

/* Walks a branch; its root's sources are those of walker->waiting from `waiting` on. */
static void walk_branch(struct walk *walk, struct tree_walker *walker, int32_t target,
                        int64_t waiting)
{
    const struct octree_cell *cell = &walk->targets->tree->cell[target];
    const struct tree_actions *actions = walk->actions;
    if (is_of_others(walk, target))
        return;
    if (is_task(walk, target)) {
        keep_for_task(walk, walker, target, waiting);
        return;
    }
    const int64_t end = walker->waiting.count, far = walker->far.count, near = walker->near.count;
    walker->open.count = walker->points.count = walker->bodies.count = 0;
    push_all(walker, &walker->open, walker->waiting.cell + waiting, end - waiting);
    for (int64_t k = 0; k < walker->open.count && !walker->failed;)
        k += decide(walk, walker, target, k);
    if (walker->failed)
        return;
    if (is_counted(walk, target))
        walker->counts.far +=
            (walker->far.count - far) * (actions->far_to_leaves ? cell->count : 1);
    if (!actions->far_to_leaves) {
        actions->far(actions->user, target, walker->far.cell + far, walker->far.count - far);
        walker->far.count = far;
    }
    if (walker->bodies.count > 0)
        actions->bodies(actions->user, target, walker->bodies.cell, walker->bodies.count);
    if (cell->children == 0)
        actions->leaf(actions->user, walker, target, &walker->far, &walker->points, &walker->near);
    else
        actions->descend(actions->user, target);
    for (int32_t k = 0; k < cell->children; k++)
        walk_branch(walk, walker, cell->child + k, end);
    walker->waiting.count = end;
    walker->far.count = far;
    walker->near.count = near;
}

static void run_task(void *argument, int64_t k)
{
    struct walk *walk = argument;
    const struct task *task = &walk->tasks[k];
    struct walk mine = {.rule = walk->rule,
                        .targets = walk->targets,
                        .sources = walk->sources,
                        .actions = walk->actions,
                        .accept = walk->accept};
    struct tree_walker *const walker = take_walker(walk);
    const int32_t *list = walk->lists.cell + task->first;
    if (!walker) {
        atomic_store(&walk->failed, true);
        return;
    }
    walker->counts = (struct tree_counts){0};
    walker->waiting.count = walker->far.count = walker->near.count = 0;
    push_all(walker, &walker->waiting, list, task->waiting);
    push_all(walker, &walker->far, list + task->waiting, task->far);
    push_all(walker, &walker->near, list + task->waiting + task->far, task->near);
    if (!walker->failed)
        walk_branch(&mine, walker, task->cell, 0);
    if (walker->failed)
        atomic_store(&walk->failed, true);
    walk->task_counts[k] = walker->counts;
    leave_walker(walk, walker);
}

static void add_counts(struct tree_counts *sum, const struct tree_counts *counts)
{
    sum->far += counts->far;
    sum->near_pairs += counts->near_pairs;
}

/* The top of the tree, down to the branches that are tasks. */
static void walk_top(struct walk *walk, struct tree_counts *counts)
{
    struct tree_walker walker = {0};
    push(&walker, &walker.waiting, 0);
    if (!walker.failed)
        walk_branch(walk, &walker, 0, 0);
    if (walker.failed)
        atomic_store(&walk->failed, true);
    *counts = walker.counts;
    free_walker(&walker);
}

kith_status tree_walk_cpu(kith_context *context, const struct tree_rule *rule,
                          const struct tree_sides *targets, const struct tree_sides *sources,
                          const struct tree_actions *actions, double seconds,
                          struct tree_counts *counts)
{
    struct walk walk = {.rule = rule,
                        .targets = targets,
                        .sources = sources,
                        .actions = actions,
                        .accept = tree_accept_kernel_of(context->isa),
                        .task_points = tree_branch_points(targets->tree->count, 1)};
    *counts = (struct tree_counts){0};
    if (targets->tree->cell_count == 0 || sources->tree->cell_count == 0)
        return KITH_OK;
    kith_status status =
        kith_allocate(targets->tree->cell_count, sizeof *walk.tasks, "a tree walk", &walk.tasks);
    if (status == KITH_OK) {
        walk_top(&walk, counts);
        status = kith_allocate(walk.task_count, sizeof *walk.task_counts, "a tree walk",
                               &walk.task_counts);
    }
    if (status == KITH_OK) {
        status = kith_allocate(context->threads, sizeof *walk.spare, "a tree walk", &walk.spare);
        walk.spare_count = status == KITH_OK ? context->threads : 0;
    }
    if (status == KITH_OK && !atomic_load(&walk.failed))
        status = kith_for_each(context, kith_threads_for(context, seconds), walk.task_count,
                               run_task, &walk);
    if (status == KITH_OK && atomic_load(&walk.failed))
        status = kith_fail(KITH_OUT_OF_MEMORY, "no memory for the lists of a tree walk");
    if (actions->targets)
        status = ranks_agree(context, status);
    for (int64_t k = 0; k < walk.task_count && status == KITH_OK; k++)
        add_counts(counts, &walk.task_counts[k]);
    if (actions->targets && status == KITH_OK)
        tree_essential_count(actions->targets, walk.task_counts, counts);
    free_spare(&walk);
    free(walk.tasks);
    free(walk.task_counts);
    free(walk.lists.cell);
    return status;
}
