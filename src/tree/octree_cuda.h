#ifndef TREE_OCTREE_CUDA_H
#define TREE_OCTREE_CUDA_H

#include "tree/octree.h"

struct cuda_part;
struct cuda_reading;

#ifdef __cplusplus
extern "C" {
#endif

struct octree_made;

/* The tree of tree/octree.h on a GPU, to the bit: arrays in the device's memory. */
struct octree_cuda {
    kith_dtype dtype;
    int32_t dimensions;
    int64_t count;
    uint32_t *order;
    void *point; /* of each point in the order of the tree x, y, z (0 in 2D) and weight */

    int32_t cell_count, generations;
    int32_t generation[octree_most_generations + 1];
    struct octree_cell *cell;
    struct octree_sphere *sphere;
    double *weight_sum, *net_weight;

    /* Memory kept from build to build. */
    uint64_t *keys;
    struct morton_grid *grid;
    void *scratch;
    struct octree_made *made;
    uint32_t *measured;
    int64_t room, real, cell_room; /* points, bytes of a coordinate, cells */
    int32_t leaf;
};

/* Points first … end − 1 in the order of a tree: those of one device, of several that share it. */
struct octree_range {
    int32_t first, end;
};

/* As octree_build_cpu, of columns in the device's memory. Waits for the device once.
 *
 *   tree  zeroed before the first call; free with octree_free_cuda, after an error too
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status octree_build_cuda(kith_context *context, const struct sort_points *points,
                              const void *weight, int32_t leaf, struct octree_cuda *tree);

/* octree_build_cuda in two parts: the first starts what makes the cells, the second waits for it.
 *
 *   also, more  what the host needs of the device besides, read in the same wait: at most four */
kith_status octree_begin_cuda(kith_context *context, const struct sort_points *points,
                              const void *weight, int32_t leaf, struct octree_cuda *tree);
kith_status octree_finish_cuda(kith_context *context, const struct cuda_reading *also, int more,
                               struct octree_cuda *tree);

/* octree_build_cuda in three parts: the points in the order of the tree; the cells, for which it
 * waits; and what is measured of them. */
kith_status octree_sort_cuda(kith_context *context, const struct sort_points *points,
                             const void *weight, int32_t leaf, struct octree_cuda *tree);
kith_status octree_make_cells_cuda(kith_context *context, struct octree_cuda *tree);

/* The first alone, as octree_sort_cpu: in a grid around these points and maybe others, in the
 * host's memory. Nothing waits. */
kith_status octree_sort_in_grid_cuda(kith_context *context, const struct sort_points *points,
                                     const void *weight, const struct morton_grid *grid,
                                     struct octree_cuda *tree);

/* What the first two have made of a tree of the leader's device, to one of the part's, on its
 * stream: no order, and no keys. */
kith_status octree_copy_points_cuda(const struct cuda_part *part, const struct octree_cuda *from,
                                    struct octree_cuda *tree);
kith_status octree_copy_cells_cuda(const struct cuda_part *part, const struct octree_cuda *from,
                                   struct octree_cuda *tree);

/* What octree_measure_cell does, of all cells: the third. */
kith_status octree_measure_cuda(kith_context *context, const struct octree_cuda *tree);
void octree_free_cuda(kith_context *context, struct octree_cuda *tree);

#ifdef __cplusplus
}
#endif

#endif
