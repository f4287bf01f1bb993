#ifndef TREE_NEAR_LAW_CUDA_PROBLEM_H
#define TREE_NEAR_LAW_CUDA_PROBLEM_H

/* Near points by any law as the kernels of a GPU see them; nvcc and NVRTC read this. */

#include "law/law_numbers.h"
#include "tree/lists_cuda.h"
#include "tree/octree_cell.h"

/* The sums of tree/near_law_problem.h at the targets of leaves, by the parts of their near lists
 * (tree/parts_cuda.h). Points and results are four numbers each. */
struct tree_near_law_cuda {
    struct law_numbers numbers;
    double softening2;
    int self;
    const unsigned long long *part_count;
    const struct tree_part *part;
    const struct tree_lists *lists;
    const int32_t *near;
    const struct octree_cell *targets, *sources;
    const void *target, *source;
    void *results, *sums;
};

/* ∇φ and Σ_j |∇φ_ij| at tree_samples targets, by all sources, for tree/estimate.h: a part of the
 * sources and four targets a block. */
struct tree_samples_law_cuda {
    struct law_numbers numbers;
    double softening2;
    int64_t sources, samples;
    const void *target, *source;
    const int32_t *place; /* the target of a sample */
    double *sums;         /* of a part all samples, four numbers each */
};

enum { tree_samples_of_block = 4 };

#endif
