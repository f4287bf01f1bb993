#ifndef TREE_OCTREE_H
#define TREE_OCTREE_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/context.h"
#include "sort/sort.h"
#include "tree/octree_cell.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An octree (a quadtree in 2D) over points in Morton order.
 *
 * A cell is a range of points. One with more than `leaf` points, or with few points next to many,
 * is split at the first level where its points are not all in one child, so that every cell with
 * children has at least two; all points that share a cell of the finest level share a leaf. Cells
 * are stored generation by generation: the root first, a cell's children next to each other and in
 * Morton order, and every parent before its children.
 *
 * The tree has the same bits on every device. */

enum { octree_most_generations = 33 };

/* Of a cell that has children on another rank: the first. */
enum { octree_absent = -1 };

/* In place of the surroundings of a cell of a lower rank, in a tree to which it was added. */
enum { octree_of_lower_rank = -1 };

/* About the center of mass (of |weights|; of places where they are all 0), rounded to the
 * precision of the points; every point of the cell is within the radius, but for rounding. */
struct octree_sphere {
    double center[3], radius;
};

struct octree {
    kith_dtype dtype;
    int32_t dimensions;
    int64_t count;
    uint32_t *order;   /* point k of the tree is row order[k] */
    void *position[3]; /* columns in the order of the tree, of kith_padded(count); zeros in 2D */
    void *weight;      /* likewise */

    int32_t cell_count; /* 0 without points */
    int32_t generations;
    int32_t generation[octree_most_generations + 1]; /* first cell of each, and the end */
    struct octree_cell *cell;
    struct octree_sphere *sphere;
    double *weight_sum; /* Σ |weight| of each cell */
    double *net_weight; /* Σ weight */

    /* Memory kept from build to build. */
    uint64_t *keys;
    void *scratch, *columns;
    int64_t room, column_bytes, cell_room; /* points, bytes of a column, and cells */
};

/* Builds the tree of points.
 *
 *   points  count < 2^31; a third column is not read in 2D
 *   weight  a column of points->dtype; NULL: every weight is 1
 *   leaf    points that a leaf may have, ≥ 1
 *   tree    zeroed before the first call, or a tree whose memory is used again; free with
 *           octree_free, after an error too
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   the sort of the keys, and a pass over the points a generation. */
kith_status octree_build_cpu(kith_context *context, const struct sort_points *points,
                             const void *weight, int32_t leaf, struct octree *tree);
void octree_free(struct octree *tree);

/* Frees the keys of points, and the points too, where only the rest is still needed. */
void octree_free_keys(struct octree *tree);
void octree_free_points(struct octree *tree);

/* The stages of octree_build_cpu, for a tree of which a part is known (tree/division_ranks.h).
 *
 * octree_sort_cpu     the points along the curve, in a grid around them and others; no cells
 * octree_reserve_cpu  room for this many cells
 * octree_split_cpu    below the given cells, which have been made, their descendants: added after
 *                     cell_count, each generation of them one more of the tree
 * octree_measure_cpu  octree_measure_cell of all generations but those before `first` */
kith_status octree_sort_cpu(kith_context *context, const struct sort_points *points,
                            const void *weight, const struct morton_grid *grid,
                            struct octree *tree);
kith_status octree_reserve_cpu(struct octree *tree, int64_t cells);
kith_status octree_split_cpu(kith_context *context, int32_t leaf, const int32_t *cells,
                             int32_t count, struct octree *tree);
kith_status octree_measure_cpu(kith_context *context, int32_t first, struct octree *tree);

/* What octree_measure_cell takes from the children of a cell: all but the radius, which is returned
 * in *radius where it is that of the children's spheres; else false, and it is that of the points.
 */
bool octree_measure_from_children(struct octree *tree, int32_t cell, double *radius);
/* Of the largest distance of points first … end − 1 from a center the square. */
double octree_radius2_of(const struct octree *tree, int64_t first, int64_t end,
                         const double center[3]);

/* A cell's center, radius and sum of weights, from its points or, where they are many, from its
 * children. */
void octree_measure_cell(struct octree *tree, int32_t cell);

#ifdef __cplusplus
}
#endif

#endif
