#ifndef PAIRS_KD_TREE_H
#define PAIRS_KD_TREE_H

#include "core/status.h"
#include "kith/context.h"
#include "pairs/memory.h"
#include "pairs/problem.h"

/* Points of any number of dimensions, sorted by a k-d tree: each node's points are cut in halves at
 * the median along its widest axis (Friedman, Bentley & Finkel 1977), points of one coordinate by
 * row, so that the tree depends on the points alone. Nodes are numbered as in a heap: node k has
 * the children 2k + 1 and 2k + 2, and the leaves are the last leaf_count nodes. */

/* A mask of a leaf's points has a bit for each. */
enum { pairs_points_of_leaf = 32 };

struct pairs_kd_tree {
    int64_t first, count; /* rows of the caller's array */
    int32_t leaf_count;   /* a power of two */
    int32_t dimensions;
    int64_t width; /* slots of a leaf */

    int32_t *begin; /* leaf_count + 1: of the points before a leaf */
    int32_t *index; /* width for each leaf: rows of the caller's array, ascending */
    void
        *position; /* dimensions × width for each leaf, in the caller's unit, the problem's dtype */
    void *radius;  /* width for each leaf, in the problem's unit; NULL without */

    /* Of each node; lows, then highs. */
    void *box;
    void *largest_radius; /* NULL without */
    int32_t *least_index; /* INT32_MAX of none */
};

/* The trees of all systems of a set of rows, in one piece of memory. Lists use it again. */
struct pairs_kd_forest {
    struct pairs_buffer memory, trees;
};

/* Sorts the points of all systems, or their targets.
 *
 * Errors: KITH_INVALID_ARGUMENT (a number that is not finite, or a radius below 0; name is that of
 * the array), KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status pairs_kd_grow(kith_context *context, const struct pairs_problem *problem, bool targets,
                          struct pairs_kd_forest *forest);

static inline int64_t pairs_kd_leaf_begin(const struct pairs_kd_tree *tree, int64_t leaf)
{
    return leaf * tree->width;
}

/* Points of a leaf. */
static inline int64_t pairs_kd_leaf_size(const struct pairs_kd_tree *tree, int64_t leaf)
{
    return tree->begin[leaf + 1] - tree->begin[leaf];
}

static inline bool pairs_kd_is_leaf(const struct pairs_kd_tree *tree, int64_t node)
{
    return node >= tree->leaf_count - 1;
}

#endif
