#ifndef TREE_WALK_H
#define TREE_WALK_H

#include <stdlib.h>

#include "tree/acceptance.h"
#include "tree/octree.h"

/* The dual traversal, seen from the targets: from the root down each cell gets the source cells
 * that its parent could neither accept nor split (Dehnen 2002, J. Comput. Phys. 179, 27, one side
 * of it). Each is accepted (far; or a point or bodies, if one of the two is a larger leaf), or both
 * are leaves (near), or the source is split, or it is left to the target's children. Sums belong to
 * targets only, so that the division of the walk changes no bit, and lists are no longer than one
 * branch of the tree needs. */

struct tree_sides {
    const struct octree *tree;
    const struct tree_side *side;
    const double *power; /* order + 1 per cell; NULL with order 0 */
};

/* A list of cells. */
struct cell_list {
    int32_t *cell;
    int64_t count, room;
};

/* Room for more cells; false: no memory. */
static inline bool cell_list_reserve(struct cell_list *list, int64_t more)
{
    if (list->count + more <= list->room)
        return true;
    const int64_t room = 2 * (list->count + more) + 1024;
    int32_t *cells = (int32_t *)realloc(list->cell, (size_t)room * sizeof *cells);
    if (!cells)
        return false;
    list->cell = cells;
    list->room = room;
    return true;
}

static inline bool cell_list_push(struct cell_list *list, int32_t cell)
{
    if (list->count == list->room && !cell_list_reserve(list, 1))
        return false;
    list->cell[list->count++] = cell;
    return true;
}

struct tree_walker;    /* a thread's memory */
struct tree_essential; /* tree/essential_ranks.h */

/* What is done with what is found. */
struct tree_actions {
    bool far_to_leaves; /* far cells are kept for the leaves below; else far has them immediately */
    /* The far sources of a target cell; before its children and leaf. */
    void (*far)(void *user, int32_t target, const int32_t *sources, int64_t count);
    /* The source leaves whose bodies act on the expansion of a target cell, after its far ones;
     * only if there are some. */
    void (*bodies)(void *user, int32_t target, const int32_t *leaves, int64_t count);
    /* Before the children of a target cell. */
    void (*descend)(void *user, int32_t target);
    /* A leaf: all near sources of it, those that act as points, and far ones if they were kept. */
    void (*leaf)(void *user, struct tree_walker *walker, int32_t target,
                 const struct cell_list *far, const struct cell_list *points,
                 const struct cell_list *near);
    void *user;
    /* The trees of both sides, over ranks that have parts of them: each walks what is above its own
     * branches of the targets' tree, and these. NULL: the trees are complete. */
    const struct tree_essential *targets, *sources;
};

/* Room for this many bytes in the walker's memory, or NULL: then the walk fails. */
void *tree_walker_room(struct tree_walker *walker, int64_t bytes);

struct tree_counts {
    int64_t far;        /* accepted pairs of cells, or of points and cells if kept for leaves */
    int64_t near_pairs; /* pairs of points, of which one may be a cell */
};

/* Flags what several threads find. */
static inline void tree_flag(uint8_t *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

/* Walks all targets. Over ranks collective: the counts are those of all of them.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED; those of ranks_agree. */
kith_status tree_walk_cpu(kith_context *context, const struct tree_rule *rule,
                          const struct tree_sides *targets, const struct tree_sides *sources,
                          const struct tree_actions *actions, double seconds,
                          struct tree_counts *counts);

#endif
