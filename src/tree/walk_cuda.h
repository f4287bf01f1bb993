#ifndef TREE_WALK_CUDA_H
#define TREE_WALK_CUDA_H

/* The dual traversal of tree/walk.h on a GPU, a generation of targets after the other: each target
 * cell is a warp's, which takes its parent's waiting sources 32 at a time. A first pass counts the
 * entries of each list, and a second one writes them. */

#include "tree/octree_cuda.h"
#include "tree/pull.h"
#include "tree/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of the device that is kept and grown. */
struct tree_memory {
    void *memory;
    int64_t bytes;
};

/* At least this many bytes, whose contents are undefined. */
kith_status tree_reserve_cuda(kith_context *context, int64_t bytes, const char *what,
                              struct tree_memory *memory);

/* tree_sides, with its arrays in the device's memory. */
struct tree_sides_cuda {
    const struct octree_cuda *tree;
    const struct tree_side *side;
    const double *power; /* order + 1 per cell; not read with order 0 */
    /* Of targets: cells with none of these points have empty lists, and the counts are those of the
     * cells whose first point is one. */
    struct octree_range range;
};

/* The lists of a target cell begin at this many elements. */
struct tree_lists {
    int64_t far, near, waiting;
    int32_t far_count, near_count, waiting_count;
};

struct tree_walker_cuda {
    struct tree_memory lists, waiting[2], far, near, counts, offsets, stack, pulls, failed;
    int64_t list_room; /* elements of far and of near between two calls of use; 0: the usual */
};
void tree_walker_free_cuda(kith_context *context, struct tree_walker_cuda *walker);

/* What is done with the lists of the target cells first … end − 1: starts kernels. */
typedef kith_status tree_use_lists(kith_context *context, void *user, int32_t first, int32_t end,
                                   const struct tree_lists *lists, const int32_t *far,
                                   const int32_t *near);

/* Walks all targets; every cell's lists are used once.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status tree_walk_cuda(kith_context *context, const struct tree_rule *rule,
                           const struct tree_sides_cuda *targets,
                           const struct tree_sides_cuda *sources, tree_use_lists *use, void *user,
                           struct tree_walker_cuda *walker, struct tree_counts *counts);

/* The scales of every target cell (tree_find_field_cpu), into target_side. */
kith_status tree_find_field_cuda(kith_context *context, double softening2, enum expansion_law law,
                                 const struct tree_sides_cuda *targets,
                                 const struct tree_sides_cuda *sources,
                                 struct tree_walker_cuda *walker, struct tree_side *target_side);

/* The sides of all cells of a tree, without scales. */
kith_status tree_make_sides_cuda(kith_context *context, const struct octree_cuda *tree,
                                 struct tree_side *side);

#ifdef __cplusplus
}
#endif

#endif
