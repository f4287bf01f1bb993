#ifndef TREE_WALK_PASS_CUDA_CUH
#define TREE_WALK_PASS_CUDA_CUH

/* What the kernels of the walk on a GPU are given (walk_cuda.cuh). */

#include "tree/walk_batches_cuda.cuh"
#include "tree/walk_cuda.h"
#include "tree/walk_spans_cuda.cuh"

/* Over all targets of a pass. */
struct walk_totals {
    unsigned long long far, near, waiting; /* elements of the lists */
    unsigned long long expansions, pairs;  /* work */
    struct tree_part_count parts[tree_list_count];
    int32_t next;                         /* target that no block has taken */
    int32_t waiting_failed, stack_failed; /* no room */
};

struct walk_cells {
    const struct octree_cell *cell;
    const struct tree_side *side;
    const double *power, *net_weight;
};

struct walk_pass {
    struct tree_rule rule;
    double softening2;
    enum expansion_law law;
    struct tree_law_bins bins; /* of expansion_series: in the device's memory */
    bool self;
    int32_t first_root, roots; /* of the sources, besides cell 0 */
    struct octree_range range; /* of targets */
    struct walk_cells targets, sources;
    int32_t first, end;             /* target cells */
    const struct walk_spans *spans; /* those of them that are walked; NULL: all */
    struct walk_totals *totals;
    const struct walk_totals *field; /* of the pass for the field; NULL: the scales are known */
    struct tree_lists *lists;
    unsigned long long *ready; /* of each target: where its waiting sources are; 0: not yet found */
    int32_t *waiting, *far, *near;
    int64_t waiting_room, list_room;
    const struct list_counts *before; /* to fill: sums of the counts of the cells before */
    struct tree_pull *pulls;
    int32_t *stack; /* of each block */
    int32_t stack_room;
};

#endif
