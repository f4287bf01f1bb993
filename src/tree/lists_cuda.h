#ifndef TREE_LISTS_CUDA_H
#define TREE_LISTS_CUDA_H

/* The lists of target cells on a GPU. What is compiled at run time reads this. */

#include <stdint.h>

/* The lists of a target cell begin at this many elements. */
struct tree_lists {
    int64_t far, near, waiting;
    int32_t far_count, near_count, waiting_count;
};

/* A part of one of them (tree/parts_cuda.h). */
struct tree_part {
    int32_t cell, first, count; /* elements of the cell's list */
    int64_t slot;               /* where its sums go; −1: the only part, it adds to the results */
};

#endif
