#ifndef TREE_WALK_CUDA_H
#define TREE_WALK_CUDA_H

/* The dual traversal of tree/walk.h on a GPU, in one launch: each target cell is a block's, which
 * waits until the parent's sources are known and takes as many at a time as it has threads. Where a
 * list is in memory depends on the order of the blocks; what is in it does not. */

#include "tree/lists_cuda.h"
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

struct tree_walker_cuda {
    struct tree_memory lists, waiting, ready, far, near, counts, batches, stack, pulls, totals;
    int64_t list_room; /* elements of far and of near between two calls of use; 0: the usual */
};
void tree_walker_free_cuda(kith_context *context, struct tree_walker_cuda *walker);

/* The lists of the target cells first … end − 1. */
struct tree_batch {
    int32_t first, end;
    const struct tree_lists *lists; /* of all target cells */
    const int32_t *far, *near;
    int64_t far_count, near_count, near_targets; /* elements; those of near times targets */
};

/* What is done with lists: starts kernels. */
typedef kith_status tree_use_lists(kith_context *context, void *user,
                                   const struct tree_batch *batch);

/* Walks all targets; every cell's lists are used once. Waits for the device once, and twice
 * more where the lists do not all fit. The rows of rule->decay are in the device's memory.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status tree_walk_cuda(kith_context *context, const struct tree_rule *rule,
                           const struct tree_sides_cuda *targets,
                           const struct tree_sides_cuda *sources, tree_use_lists *use, void *user,
                           struct tree_walker_cuda *walker, struct tree_counts *counts);

/* What is started after a kernel and before the device is waited for; start may be NULL. */
struct tree_meanwhile {
    kith_status (*start)(kith_context *context, void *user);
    void *user;
};

/* The scales of every target cell (tree_find_field_cpu), into target_side. Waits for the device.
 *
 *   bins  of expansion_series, else NULL */
kith_status tree_find_field_cuda(kith_context *context, double softening2, enum expansion_law law,
                                 const struct tree_law_bins *bins,
                                 const struct tree_sides_cuda *targets,
                                 const struct tree_sides_cuda *sources,
                                 const struct tree_meanwhile *meanwhile,
                                 struct tree_walker_cuda *walker, struct tree_side *target_side);

/* The sides of all cells of a tree, whose scales are 0; where they are to be found, infinite but
 * for leaves. */
kith_status tree_make_sides_cuda(kith_context *context, const struct octree_cuda *tree,
                                 bool has_scales, struct tree_side *side);

/* The scales of all cells, by what pulls on the leaves. */
kith_status tree_find_scales_cuda(kith_context *context, const struct octree_cuda *tree,
                                  const struct tree_pull *pulls, struct tree_side *side);

#ifdef __cplusplus
}
#endif

#endif
