#ifndef TREE_PARTS_CUDA_H
#define TREE_PARTS_CUDA_H

/* Lists of target cells in parts, so that a cell in a sparse halo, which is near to nearly
 * everything, is the work of many warps. The sums of a cell with several parts are stored
 * separately and added in their order. */

#include "tree/walk_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tree_list { tree_list_far, tree_list_near };

/* The sums of a cell with several parts. */
struct tree_part_sums {
    int64_t first; /* slot */
    int32_t parts; /* 0: it has one part, or none */
};

/* The parts of the lists of the cells first … end − 1. A slot is for one cell's sums or, of near
 * lists, for one target's. */
struct tree_parts {
    int32_t first, end;
    int64_t most;                         /* at most as many */
    const unsigned long long *count;      /* how many, in the device's memory */
    const struct tree_part *part;         /* in no order */
    const struct tree_part_sums *of_cell; /* of cell first + k */
    void *sums;
};

struct tree_parts_memory {
    struct tree_memory counts, of_cells, parts, sums;
};

/* Divides the lists; sums has a room of this many bytes for each slot. */
kith_status tree_divide_cuda(kith_context *context, enum tree_list list, int32_t elements_of_part,
                             int64_t bytes_of_slot, const struct octree_cell *cells,
                             const struct tree_batch *batch, struct tree_parts_memory *memory,
                             struct tree_parts *parts);
void tree_parts_free_cuda(kith_context *context, struct tree_parts_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
