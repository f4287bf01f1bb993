#ifndef TREE_WALK_CUDA_H
#define TREE_WALK_CUDA_H

/* The dual traversal of tree/walk.h on a GPU, in one launch: each target cell is a block's, which
 * waits until the parent's sources are known and takes as many at a time as it has threads. Where a
 * list is in memory depends on the order of the blocks; what is in it does not. */

#include "tree/octree_cuda.h"
#include "tree/parts_cuda.h"
#include "tree/pull.h"
#include "tree/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* tree_sides, with its arrays in the device's memory. */
struct tree_sides_cuda {
    const struct octree_cuda *tree;
    const struct tree_side *side;
    const double *power; /* order + 1 per cell; not read with order 0 */
    /* Of targets: cells with none of these points have empty lists, and the counts are those of the
     * cells whose first point is one. */
    struct octree_range range;
    /* Of sources: where other trees begin that have been added to theirs (tree/slices_cuda.c). */
    int32_t first_root, roots;
};

struct tree_walker_cuda {
    struct tree_memory lists, waiting, far, near, counts, batches, stack, pulls, totals, spans;
    int64_t list_room; /* elements of far and of near between two calls of use; 0: the usual */
    bool divides[tree_list_count]; /* which lists are used in parts */
    struct tree_parts_memory parts[tree_list_count];
};
void tree_walker_free_cuda(kith_context *context, struct tree_walker_cuda *walker);

/* The lists of the target cells first … end − 1. */
struct tree_batch {
    int32_t first, end;
    const struct tree_lists *lists; /* of all target cells */
    const int32_t *far, *near;
    int64_t far_count, near_count; /* elements */
    struct tree_parts parts[tree_list_count];
};

/* What is done with lists: starts kernels. */
typedef kith_status tree_use_lists(kith_context *context, void *user,
                                   const struct tree_batch *batch);

/* What is started once the kernel of the field is, on another stream, and joined before the walk.
 */
struct tree_meanwhile {
    kith_status (*start)(kith_context *context, void *user);
    kith_status (*join)(kith_context *context, void *user);
    void *user;
};

/* The scales of every target cell (tree_find_field_cpu) are found before the walk. */
struct tree_field_cuda {
    double softening2;
    enum expansion_law law;
    const struct tree_law_bins *bins; /* of expansion_series, else NULL */
    struct tree_side *target_side;    /* the targets' sides, whose scales are not yet known */
    struct tree_meanwhile meanwhile;
    /* Of several devices, each of which has the pulls on the targets in its range: makes all scales
     * known to all. NULL: this device finds all pulls. */
    kith_status (*share)(kith_context *context, const struct tree_pull *pulls, void *user);
};

/* Walks all targets; every cell's lists are used once. Waits for the device once, for a shared
 * field once more, and twice more where the lists do not all fit. The rows of rule->decay are in
 * the device's memory.
 *
 *   field  NULL: the scales are known
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status tree_walk_cuda(kith_context *context, const struct tree_rule *rule,
                           const struct tree_field_cuda *field,
                           const struct tree_sides_cuda *targets,
                           const struct tree_sides_cuda *sources, tree_use_lists *use, void *user,
                           struct tree_walker_cuda *walker, struct tree_counts *counts);

/* The scales of every target cell alone. Waits for the device.
 * Errors: as tree_walk_cuda. */
kith_status tree_find_field_cuda(kith_context *context, const struct tree_field_cuda *field,
                                 const struct tree_sides_cuda *targets,
                                 const struct tree_sides_cuda *sources,
                                 struct tree_walker_cuda *walker);

/* The sides of all cells of a tree, whose scales are 0; where they are to be found, infinite but
 * for leaves. */
kith_status tree_make_sides_cuda(kith_context *context, const struct octree_cuda *tree,
                                 bool has_scales, struct tree_side *side);

/* The scales of all cells, by what pulls on the leaves. */
kith_status tree_find_scales_cuda(kith_context *context, const struct octree_cuda *tree,
                                  const struct tree_pull *pulls, struct tree_side *side);

/* The same in two steps, of several devices: those of the leaves whose first point is in the range;
 * and those of all cells, after the first step of all devices, whose memory this one reads. */
kith_status tree_find_leaf_scales_cuda(kith_context *context, const struct octree_cuda *tree,
                                       struct octree_range range, const struct tree_pull *pulls,
                                       struct tree_side *side);
enum { tree_most_devices = 64 };
struct tree_sides_of_devices {
    int32_t count, own;
    int32_t end[tree_most_devices]; /* of each device's range, from where the last one's ends */
    const struct tree_side *side[tree_most_devices];
};
kith_status tree_gather_scales_cuda(kith_context *context, const struct octree_cuda *tree,
                                    const struct tree_sides_of_devices *devices,
                                    struct tree_side *side);

#ifdef __cplusplus
}
#endif

#endif
