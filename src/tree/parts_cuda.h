#ifndef TREE_PARTS_CUDA_H
#define TREE_PARTS_CUDA_H

/* Lists of target cells in parts, so that a cell in a sparse halo, which is near to nearly
 * everything, is the work of many warps. The sums of a cell with several parts are stored
 * separately and added in their order. */

#include "tree/lists_cuda.h"
#include "tree/memory_cuda.h"
#include "tree/octree_cell.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tree_list { tree_list_far, tree_list_near, tree_list_count };

/* Elements of a part: sources that a warp takes for its targets. */
enum { tree_far_of_part = 512, tree_near_of_part = 32 };

/* The sums of a cell with several parts. */
struct tree_part_sums {
    int64_t first; /* slot */
    int32_t parts; /* 0: it has one part, or none */
};

/* The parts of the lists of the cells first … end − 1. A slot is for one cell's sums or, of near
 * lists, for one target's. */
struct tree_parts {
    int32_t first, end;
    int64_t most, slots;                  /* at most as many */
    const unsigned long long *count;      /* how many, in the device's memory */
    const struct tree_part *part;         /* in no order */
    const struct tree_part_sums *of_cell; /* of cell first + k */
    void *sums;                           /* tree_reserve_sums_cuda */
};

struct tree_parts_memory {
    struct tree_memory of_cells, parts, sums;
};

/* How many parts and slots there are. */
struct tree_part_count {
    unsigned long long parts, slots;
};

/* The far and the near lists of the cells first … end − 1 of `cells`. */
struct tree_list_division {
    int32_t first, end;
    const struct octree_cell *cells;
    const struct tree_lists *lists;
    bool has[tree_list_count];         /* which are divided */
    int64_t elements[tree_list_count]; /* at most as many; of longer lists parts are left out */
    struct tree_part_count *counts;    /* [out] in the device's memory, 0 before */
};

/* Starts the division, whose counts are `most` and `slots` of the parts to their user.
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status tree_divide_cuda(kith_context *context, const struct tree_list_division *division,
                             struct tree_parts_memory memory[tree_list_count],
                             struct tree_parts parts[tree_list_count]);

/* Room of this many bytes for each slot. */
kith_status tree_reserve_sums_cuda(kith_context *context, int64_t bytes_of_slot,
                                   struct tree_parts_memory *memory, struct tree_parts *parts);
void tree_parts_free_cuda(kith_context *context, struct tree_parts_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
